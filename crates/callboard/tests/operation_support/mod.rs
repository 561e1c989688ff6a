//! What the operation tests need: the real program, a model server that does what a test tells it, and a plain client.

mod client;
mod program;
mod server;

pub(crate) use client::{Connection, ask, post};
pub(crate) use program::{Program, refused_start};
pub(crate) use server::{ModelServer, halting, polite};
