//! Model servers: connections to them, their failures and health, and which of them serves a model.
//!
//! This module moves bytes. What the bytes mean is decided in `callboard_core`.

mod client;
mod connection_pool;
mod error_reply;
mod failure;
mod health;
mod in_process_model;
mod local_servers;
mod model_list_cache;
mod quirk_cache;
mod reply_body;
mod retry_after;
mod route;
mod upstreams;

pub use client::{Client, Reply, Tls};
pub use error_reply::ErrorReply;
pub use failure::Failure;
pub use health::InFlight;
pub use in_process_model::LocalModel;
pub use local_servers::{is_own_address, local_servers};
pub use quirk_cache::QuirkCache;
pub use reply_body::ReplyBody;
pub use route::{Alias, Route};
pub use upstreams::{Upstream, Upstreams};
