//! Callboard, the program: an OpenAI-compatible gateway in front of model servers, whose tool calls keep a contract.
//!
//! Each module uses only those after it: `author`, `cli`, `server`, `background`, `app`, `http`, `services`, `session`, `conversation`,
//! `characters`, `trace`, `store`, `upstream`, `telemetry`, `config`, and small ones that use none. The composition root is `app`; threads
//! and tasks are started in `server` only.

pub mod app;
pub mod author;
pub mod characters;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conversation;
pub mod greeting;
pub mod hex;
pub mod http;
pub mod memory_budget;
mod open_files;
pub mod percent;
pub mod periodic_tasks;
pub mod random;
pub mod server;
pub mod server_findings;
pub mod services;
pub mod session;
pub mod shutdown_requested;
mod socket_options;
pub mod store;
pub mod telemetry;
pub mod timer_floor;
pub mod trace;
pub mod upstream;
