//! Model servers: connections to them, their failures and health, and which of them serves a model.
//!
//! This module moves bytes. What the bytes mean is decided in `callboard_core`.

mod client;
mod connection_pool;
mod error_reply;
mod failure;
mod health;
mod identity;
mod in_process_model;
mod known_models;
mod local_servers;
mod model_list_cache;
mod model_profile;
mod passthrough;
mod prober;
mod probing;
mod reply_body;
mod reply_in_transit;
mod retry_after;
mod route;
mod route_search;
mod server_software;
mod server_state;
mod supervised;
mod upstreams;
mod whole_reply;

pub use client::{Client, Reply, Tls};
pub use error_reply::ErrorReply;
pub use failure::Failure;
pub use health::InFlight;
pub use in_process_model::LocalModel;
pub use local_servers::{is_own_address, local_servers};
pub use model_profile::{DatedFinding, ModelProfile, ModelProfiles, ProfileChange};
pub use passthrough::{RawHead, RawReply, RawRequest};
pub use probing::ProbePolicy;
pub use reply_body::ReplyBody;
pub use reply_in_transit::{ReplyInTransit, ReplySource};
pub use route::{Alias, NoRoute, Route};
pub use server_state::ServerState;
pub use supervised::{GUARDIAN, Launch, LaunchRules, ServerStatus, SupervisedServer, guard};
pub use upstreams::{REHEARSAL, Upstream, Upstreams};
pub use whole_reply::WholeReply;
