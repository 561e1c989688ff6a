//! What the tests need: the real program, a model server that does what a test tells it, and a plain client.

pub(crate) mod characters;
mod client;
mod mortal;
mod program;
mod script;
mod server;

pub(crate) use client::{Answer, Connection, ask, ask_mortal, post};
pub(crate) use mortal::Mortal;
pub(crate) use program::{Program, refused_start};
pub(crate) use script::{Script, calls, reply, text};
pub(crate) use server::{ModelServer, Visit, halting, polite, pouring};
