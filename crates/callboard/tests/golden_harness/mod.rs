//! The harness for golden pages: a scripted model server, the real program, and a client that checks every byte.

mod compact_json;
mod compare;
mod conversation;
mod events;
mod form;
mod harness;
mod ids;
mod play;
mod render;
pub(crate) mod responses;
mod scripts;
mod strict_json;
mod tables;
mod threads;

pub(crate) use compare::check_page;
pub(crate) use harness::Harness;
pub(crate) use threads::on_threads;
