//! What a refusal says about the server that sent it.
//!
//! A refused request is sent again without one of the optional things that it holds. The words of the refusal decide only
//! whether that is worth a try and in which order: a thing is tried if the request holds it and the words name it, and it
//! is remembered only if the server then takes the request. So a misread refusal costs a request, and teaches nothing.

#[cfg(test)]
mod cases;
mod client_errors;
mod complaint;
mod fields;
mod refusal_retries;
mod sent;
mod signs;

pub use complaint::{Refusal, is_validation_error};
pub use refusal_retries::Lessons;
