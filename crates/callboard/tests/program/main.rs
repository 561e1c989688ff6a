//! The program as its users meet it: real processes, real sockets, a model server that does what a test says.

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
