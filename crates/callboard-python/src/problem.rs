//! Why a file is no character: problems in the file itself, each with its place and remedy.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use thiserror::Error;

use crate::fault::StageFailure;

/// Why a file was not loaded.
#[derive(Debug, Clone, Error)]
pub enum LoadFailure {
    /// The file is wrong. There is at least one problem.
    #[error("{}", Listed(.0))]
    Refused(Vec<Problem>),
    /// The file could not be tried.
    #[error("the file could not be tried: {0}")]
    Stage(#[from] StageFailure),
}

impl LoadFailure {
    /// What is wrong with the file; nothing where it could not be tried.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Refused(problems) => problems,
            Self::Stage(_) => &[],
        }
    }
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, where one can be told.
    pub line: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
    /// Which kind of problem it is.
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

/// The kinds of problems. This set is closed, so that it can be a label of a metric.
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
    /// The kind as a metric's label.
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

struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
