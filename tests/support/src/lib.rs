//! Shared by the tests of several crates: golden pages as data, the program as a child process, scripted model servers, a plain
//! HTTP client, and characters to load.
//!
//! Nothing here depends on the library: tests that use it go through the program, its sockets and its terminal.

mod characters;
mod client;
pub mod golden_page;
mod killable_model_server;
mod model_server;
mod program;
mod script;
mod startable_model;

pub use characters::{COUNTER, CharacterFolder};
pub use client::{Answer, Connection, ask, new_conversation, post, try_ask};
pub use killable_model_server::KillableModelServer;
pub use model_server::{Exchange, ModelServer, endless_stream, greeting_server, paused_stream};
pub use program::{Program, binary, refused_start};
pub use script::{Script, calls, reply, text};
pub use startable_model::startable_model;
