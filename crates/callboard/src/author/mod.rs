//! What authors of characters do at the terminal: check files, write a new one, try a tool or a name, run scenarios, talk,
//! measure models.

mod chat;
mod check;
mod eval;
mod names;
mod new;
mod prompt;
mod recorded_turn;
mod run;
mod scenario;
mod scripted_model;
mod stats;
mod test;
mod try_tool;
mod upstreams;

pub use run::run;
