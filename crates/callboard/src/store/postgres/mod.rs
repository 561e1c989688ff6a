//! PostgreSQL: pools of connections, one shared and one on each serving thread. A change is one statement, or a transaction whose
//! statements are pipelined.

mod combined_statement;
mod commit_outcome;
mod connect_options;
mod connection;
mod pipeline;
mod pool;
mod shared_server_state;
mod worker;

pub(super) use pool::{ThreadPool, serve_thread};
pub(super) use shared_server_state::Server;
pub(super) use worker::{check, serve};
