//! End-to-end tests of the program: real processes, real sockets, and a model server that each test scripts.

#[cfg(test)]
mod characters;
#[cfg(test)]
#[path = "../cluster/server.rs"]
mod cluster;
#[cfg(test)]
mod conversations;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod eval;
#[cfg(test)]
mod keep_alive;
#[cfg(test)]
mod operation;
#[cfg(test)]
mod persistence;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod shutdown;
#[cfg(test)]
mod slow_clients;
#[cfg(test)]
mod trace_context;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod upstream_connection_reuse;
#[cfg(test)]
mod upstream_failures;
#[cfg(test)]
mod upstream_reply_formats;
#[cfg(test)]
mod upstreams;
#[cfg(test)]
mod websocket;
