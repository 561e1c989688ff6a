//! PostgreSQL: a few connections on a thread of their own and on those that serve, each change a transaction of its own whose statements go out together.

mod access;
mod again;
mod doubt;
mod joined;
mod line;
mod news;
mod pipeline;
mod pool;
mod worker;

pub(super) use access::Access;
pub(super) use pool::serve_all;
pub(super) use worker::{check, serve};
