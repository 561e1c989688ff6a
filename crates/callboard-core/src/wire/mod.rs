//! The wires: each format is read into the shared vocabulary and written from it, and known nowhere else.

pub mod chat;
// The Responses wire is complete and tested; the endpoints that speak it are not built yet.
mod error;
pub mod responses;
pub mod sse;

pub use error::{ApiError, ErrorType};
