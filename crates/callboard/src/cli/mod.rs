//! The command line: its commands, and the one that needs nothing but settings.
//!
//! Flags that are settings come from the table in `config`.

mod command;
mod show;

pub use command::{Command, parse, parse_from};
pub use show::write_config;
