//! Model servers: where they are, how they are asked, which of them serves a model.
//!
//! This module moves bytes. What the bytes mean is decided in `callboard_core`.

mod body;
mod client;
mod failure;
mod local;
mod models;
mod upstreams;

pub use body::ReplyBody;
pub use client::{Client, Reply, Tls};
pub use failure::Failure;
pub use local::LocalModel;
pub use models::ModelList;
pub use upstreams::{Upstream, Upstreams};
