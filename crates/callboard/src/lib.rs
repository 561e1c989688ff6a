//! Callboard, the program: an OpenAI-compatible gateway in front of model servers, whose tool calls keep a contract.
//!
//! Order of dependence: `app -> {server, http, author, cli} -> session -> conversation -> characters -> {upstream, store, telemetry} ->
//! callboard_core`. The composition root is `app`; threads and tasks are started in `server` only.

pub mod app;
pub mod author;
pub mod characters;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conversation;
pub mod http;
pub mod percent;
pub mod random;
pub mod server;
pub mod session;
pub mod stopping;
pub mod store;
pub mod telemetry;
pub mod trace;
pub mod upstream;
