//! Model servers: where they are, how they are asked, which of them serves a model.
//!
//! This module moves bytes. What the bytes mean is decided in `callboard_core`.

mod body;
mod client;
mod connections;
mod detect;
mod error_reply;
mod failure;
mod health;
mod learned;
mod local;
mod models;
mod rehearsal;
mod retry_after;
mod routing;
mod upstreams;

pub use body::ReplyBody;
pub use client::{Client, Reply, Tls};
pub use detect::{is_own_address, local_servers};
pub use error_reply::ErrorReply;
pub use failure::Failure;
pub use health::Busy;
pub use learned::Learned;
pub use local::LocalModel;
pub use models::ModelList;
pub use rehearsal::Rehearsal;
pub use routing::{Alias, Route};
pub use upstreams::{Upstream, Upstreams};
