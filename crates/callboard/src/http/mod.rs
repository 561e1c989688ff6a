//! Callboard over HTTP: routes, keys, and the conversion of requests and replies. No decision about calls is made here.

mod allowed_hosts;
mod body;
mod character_tools;
mod characters;
mod chat;
mod chat_session;
mod client_connection;
mod compact;
mod conversation_list;
mod conversations;
mod cors;
mod delivery;
mod form_data;
mod health_and_metrics;
mod in_flight_limit;
mod keys;
mod model_field;
mod models;
mod passthrough;
mod passthrough_paths;
mod query;
mod reply;
mod request_id;
mod request_log;
mod requester;
mod responses;
mod router;
mod socket;
mod socket_input;
mod socket_messages;
mod state_journal_undo;
mod traces;
mod undo_body;
mod upstreams;

pub use client_connection::{ClientConnection, ClientStream, OpenConnections};
pub use router::{ThreadServices, router};
