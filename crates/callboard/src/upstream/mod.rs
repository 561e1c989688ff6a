//! Model servers: where they are, how they are asked, which of them serves a model.
//!
//! This module moves bytes. What the bytes mean is decided in `callboard_core`.

mod client;
mod failure;
mod models;
mod upstreams;

pub use client::{Client, Reply, Tls};
pub use failure::Failure;
pub use models::ModelList;
pub use upstreams::{Upstream, Upstreams};
