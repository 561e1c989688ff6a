//! What authors of characters do at the terminal: check files, write a new one, try a tool or a name, run scenarios, talk,
//! measure models.

mod chat;
mod check;
mod dispatch;
mod eval;
mod new;
mod resolve_names;
mod running_callboard;
mod scenario;
mod scripted_model;
mod server_table;
mod shown_trace;
mod stats;
mod test;
mod traces;
mod try_tool;
mod turn_runner;
mod upstream_status;

pub use dispatch::run;
