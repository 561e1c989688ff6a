//! Callboard over HTTP: routes, keys, and the conversion of requests and replies. No decision about calls is made here.

mod body;
mod characters;
mod chat;
mod conversations;
mod frames;
mod journal;
mod keys;
mod limit;
mod models;
mod operation;
mod outlet;
mod query;
mod reply;
mod request_id;
mod respond;
mod response_outlet;
mod responses;
mod router;
mod running;
mod socket;
mod traces;
mod undo_wish;
mod upstreams;

pub use keys::Keys;
pub use router::{ThreadServices, router};
