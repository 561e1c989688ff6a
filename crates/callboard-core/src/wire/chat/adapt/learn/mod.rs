//! What a refusal says about the server that sent it.
//!
//! Every server has its own words for the same thing. They are taken apart into complaints (which place, which words), and
//! each complaint is held against the request that was sent: something is learned only where the request really held what
//! is complained of, and never from a mistake of the client, which no adaptation would cure.

#[cfg(test)]
mod cases;
mod complaint;
mod echo;
mod fields;
mod learning;
mod listing;
mod mistakes;
mod python;
mod roles;
mod rules;
mod sent;
mod union;

pub use learning::{Refusal, is_validation_error, learn, learn_all};
