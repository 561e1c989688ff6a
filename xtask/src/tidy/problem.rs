//! What a check reports: where, what is wrong, and what to do about it.

use std::fmt;

/// One finding, printed as `path:line: what is wrong: what to do`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) line: usize,
    wrong: String,
    remedy: String,
}

impl Problem {
    pub(super) fn new(path: &str, line: usize, wrong: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), remedy: remedy.into() }
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
