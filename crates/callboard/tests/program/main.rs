//! The program as its users meet it: real processes, real sockets, a model server that does what a test tells it.

#[cfg(test)]
mod absence;
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
mod keeping;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod operation;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod silence;
#[cfg(test)]
mod sockets;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod stalling;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod support;
#[cfg(test)]
mod trace_context;
#[cfg(test)]
mod traces;
#[cfg(test)]
mod upstreams;
#[cfg(test)]
mod upstreams_faults;
#[cfg(test)]
mod upstreams_forms;
#[cfg(test)]
mod upstreams_kept;
