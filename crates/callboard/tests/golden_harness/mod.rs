//! The harness for golden pages: a scripted model server, the real program, and a client that checks every byte.

mod compact_json;
mod compare;
mod conversation;
mod exported;
mod harness;
mod ids;
mod play;
mod render;
mod reply_events;
mod reply_rules;
mod request_tables;
pub(crate) mod responses;
mod scripts;
mod strict_json;
mod threads;

pub(crate) use compare::check_page;
pub(crate) use exported::check_exported;
pub(crate) use harness::Harness;
pub(crate) use threads::on_threads;
