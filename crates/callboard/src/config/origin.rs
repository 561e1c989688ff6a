//! Where a value came from, in the words that messages and `callboard config` use.

use std::fmt;

/// The place where a value was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything: the default holds.
    Default,
    /// A line of the settings file.
    File {
        /// The file as it was named, `callboard.toml` when nobody named one.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// The variable's name.
        variable: String,
    },
    /// A flag of the command line.
    CommandLine {
        /// The flag without its dashes.
        flag: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Default => formatter.write_str("default"),
            Origin::File { file, line } => write!(formatter, "{file} line {line}"),
            Origin::Environment { variable } => write!(formatter, "environment {variable}"),
            Origin::CommandLine { flag } => write!(formatter, "command line --{flag}"),
        }
    }
}
