//! PostgreSQL: pools of connections, one shared and one on each serving thread. A change is one statement, or a transaction whose
//! statements are pipelined.

mod commit_outcome;
mod connect_options;
mod connection;
mod pipeline;
mod pool;
mod server;
mod single_statement;
mod worker;

pub(super) use pool::{ThreadPool, serve_thread};
pub(super) use server::Server;
pub(super) use worker::{check, serve};
