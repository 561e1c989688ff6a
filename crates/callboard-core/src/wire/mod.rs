//! The wires: each format is read into the shared vocabulary and written from it, and known nowhere else.

pub mod chat;
mod error;
mod reply_writer;
pub mod responses;
pub mod sse;

pub use error::{ApiError, ErrorType};
pub use reply_writer::{ReplyEnd, ReplyWriter};
