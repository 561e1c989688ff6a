//! The stage on which golden pages are played: a scripted model server, the real program, and a client that looks closely.

mod client;
mod compact_json;
mod compare;
mod events;
mod form;
mod http;
mod ids;
mod play;
mod program;
mod render;
pub(crate) mod responses;
mod server;
mod stage;
mod strict_json;
mod tables;
mod threads;

pub(crate) use compare::judge;
pub(crate) use stage::Stage;
pub(crate) use threads::on_threads;
