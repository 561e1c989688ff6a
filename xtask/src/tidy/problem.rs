//! What a check has to say: where, what is wrong, and what to do about it.
//!
//! Whether a problem may be excused is decided by the check that raises it; whether it is excused is decided in
//! `exceptions`.

use std::fmt;

/// One finding, printed as `path:line: what is wrong: what to do`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) line: usize,
    wrong: String,
    remedy: String,
    /// The name by which the exceptions file may excuse this problem; most problems have none.
    pub(super) subject: Option<String>,
}

impl Problem {
    pub(super) fn new(path: &str, line: usize, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), remedy: remedy.into(), subject: None }
    }

    /// The same problem, open to be excused under this name.
    pub(super) fn excusable_as(mut self, subject: &str) -> Self {
        self.subject = Some(subject.to_owned());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}: {}", self.path, self.line, self.wrong, self.remedy)
    }
}

/// The lines of the problems found: what most tests of a check compare.
#[cfg(test)]
pub(super) fn lines(problems: &[Problem]) -> Vec<usize> {
    problems.iter().map(|problem| problem.line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_place_fault_and_remedy() {
        let problem = Problem::new("crates/a/src/b.rs", 7, "it is wrong", "put it right");
        assert_eq!(problem.to_string(), "crates/a/src/b.rs:7: it is wrong: put it right");
    }
}
