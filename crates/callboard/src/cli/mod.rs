//! The command line: its commands, and the one that needs nothing but settings.
//!
//! Flags that are settings come from the table in `config`.

mod command;
mod print_config;

pub use command::{Command, EvalArgs, NamesArgs, TracesArgs, UpstreamsArgs, parse, parse_from};
pub use print_config::write_config;
