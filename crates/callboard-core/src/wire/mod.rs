//! The wires: each format is read into the shared vocabulary and written from it, and known nowhere else.

pub mod chat;
mod error;
pub mod sse;

pub use error::{ApiError, ErrorType};
