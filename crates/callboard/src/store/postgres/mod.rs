//! PostgreSQL: a few connections on one thread, each change a transaction of its own whose statements go out together.

mod access;
mod again;
mod doubt;
mod joined;
mod line;
mod pipeline;
mod pool;
mod worker;

pub(super) use worker::{check, serve};
