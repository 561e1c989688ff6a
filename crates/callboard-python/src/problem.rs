//! Why a file was not loaded: the problems in it, each with its line and remedy.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

use crate::error::HostError;

/// Why a file was not loaded.
#[derive(Debug, Clone, Error)]
pub enum LoadError {
    /// The file is invalid. There is at least one problem.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<Problem>),
    /// The file could not be tried.
    #[error("the file could not be tried: {0}")]
    Host(#[from] HostError),
}

impl LoadError {
    /// What is wrong with the file; empty where it could not be tried.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Invalid(problems) => problems,
            Self::Host(_) => &[],
        }
    }
}

impl From<Problem> for LoadError {
    fn from(problem: Problem) -> Self {
        Self::Invalid(vec![problem])
    }
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Problem {
    /// The file.
    #[serde(skip)]
    pub file: PathBuf,
    /// The line, where it is known.
    pub line: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
    /// The kind of problem.
    pub kind: ProblemKind,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; {}", self.what, self.remedy)
    }
}

/// The kinds of problems: a closed set, since it labels a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A tool that nothing implements.
    MissingHandler,
    /// A tool's definition breaks a rule.
    InvalidSchema,
    /// A name that is used twice.
    DuplicateName,
    /// The file cannot be read or run.
    ImportError,
    /// Something required is missing.
    MissingAttribute,
    /// A variable or function has or gives a wrong value.
    InvalidValue,
    /// Importing took too long.
    Timeout,
    /// The interpreter ended while it imported the file.
    Crash,
}

impl ProblemKind {
    /// The label of the metric.
    pub fn label(self) -> &'static str {
        match self {
            Self::MissingHandler => "missing_handler",
            Self::InvalidSchema => "invalid_schema",
            Self::DuplicateName => "duplicate_name",
            Self::ImportError => "import_error",
            Self::MissingAttribute => "missing_attribute",
            Self::InvalidValue => "invalid_value",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
        }
    }
}
