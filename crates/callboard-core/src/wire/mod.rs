//! The wire formats: Chat Completions and Responses, server-sent events, and errors. No other module knows them.

mod body_object;
pub mod chat;
mod error;
mod json_extent;
mod json_memory;
mod near_names;
mod reply_writer;
pub mod responses;
pub mod sse;

pub use error::{ApiError, ErrorType};
pub use json_memory::{parsed_bytes, parsed_bytes_exactly};
pub use reply_writer::{ReplyEnd, ReplyWriter};
