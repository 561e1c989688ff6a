//! The command line: what it takes, and the commands that need nothing but settings.
//!
//! Flags that are settings come from the table in `config`; here is only how they are offered and
//! read.

mod command;
mod flags;
mod show;

pub use command::{Command, parse, parse_from};
pub use show::write_config;
