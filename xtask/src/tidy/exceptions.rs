//! `tidy-exceptions.txt`: the problems that were looked at and accepted, each with its reason.
//!
//! A line reads `path subject: reason`; `#` starts a comment. Only problems that a check marks as excusable can be
//! listed, and a line that excuses nothing is itself a problem, so the list can only shrink with the tree.

use super::problem::Problem;

/// Where the list lives, from the root of the repository.
pub(super) const PATH: &str = "xtask/tidy-exceptions.txt";

struct Exception<'a> {
    line: usize,
    path: &'a str,
    subject: &'a str,
}

/// Takes the excused problems out, and adds what is wrong with the list itself.
pub(super) fn apply(list: &str, problems: Vec<Problem>) -> Vec<Problem> {
    let (exceptions, mut remaining) = read(list);
    let unneeded = exceptions.iter().filter(|exception| !problems.iter().any(|problem| exception.excuses(problem)));
    remaining.extend(unneeded.map(|exception| {
        let wrong = format!("`{} {}` is no longer needed", exception.path, exception.subject);
        Problem::new(PATH, exception.line, wrong, "remove the line")
    }));
    remaining
        .extend(problems.into_iter().filter(|problem| !exceptions.iter().any(|exception| exception.excuses(problem))));
    remaining
}

impl Exception<'_> {
    fn excuses(&self, problem: &Problem) -> bool {
        problem.path == self.path && problem.subject.as_deref() == Some(self.subject)
    }
}

fn read(list: &str) -> (Vec<Exception<'_>>, Vec<Problem>) {
    let mut exceptions = Vec::new();
    let mut problems = Vec::new();
    for (index, text) in list.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        match read_line(index + 1, text) {
            Some(exception) => exceptions.push(exception),
            None => {
                let wrong = "an exception that cannot be read";
                problems.push(Problem::new(PATH, index + 1, wrong, "write `path subject: reason`"));
            }
        }
    }
    (exceptions, problems)
}

fn read_line(line: usize, text: &str) -> Option<Exception<'_>> {
    let (place, reason) = text.split_once(':')?;
    let (path, subject) = place.split_once(' ')?;
    let exception = Exception { line, path, subject: subject.trim() };
    (!reason.trim().is_empty() && !exception.subject.is_empty()).then_some(exception)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_function() -> Problem {
        Problem::new("crates/a/src/b.rs", 3, "long", "split").excusable_as("decode")
    }

    fn places(list: &str, problems: Vec<Problem>) -> Vec<String> {
        apply(list, problems).iter().map(|problem| format!("{}:{}", problem.path, problem.line)).collect()
    }

    #[test]
    fn a_listed_problem_is_excused() {
        let list = "# accepted\n\ncrates/a/src/b.rs decode: one match over the whole grammar\n";
        assert!(places(list, vec![long_function()]).is_empty());
    }

    #[test]
    fn every_other_line_is_a_problem() {
        let cases = [
            ("no longer needed", "crates/a/src/b.rs decode: a table", vec![]),
            ("no reason", "crates/a/src/b.rs decode:", vec![]),
            ("no subject", "crates/a/src/b.rs: a table", vec![]),
            (
                "not excusable",
                "crates/a/src/b.rs decode: a table",
                vec![Problem::new("xtask/x.rs", 1, "wrong", "right")],
            ),
        ];
        for (name, list, problems) in cases {
            assert_eq!(places(list, problems.clone()).len(), problems.len() + 1, "{name}");
        }
    }

    #[test]
    fn a_problem_that_is_not_listed_stays() {
        assert_eq!(places("", vec![long_function()]), ["crates/a/src/b.rs:3"]);
    }
}
