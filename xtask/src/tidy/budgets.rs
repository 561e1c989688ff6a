//! How long a file and a function may be. Tests are not counted, except that a file of tests is a file.
//!
//! A function between the two limits may be excused by its name in the exceptions file.

use super::problem::Problem;
use super::rust_file::{Function, RustFile};

const FILE_LINES: usize = 400;
const MAIN_FILE_LINES: usize = 80;
const FUNCTION_LINES_QUESTIONED: usize = 60;
const FUNCTION_LINES_AT_MOST: usize = 100;

/// Files and functions over their budget.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = check_file(file).into_iter().collect();
    problems.extend(
        file.functions()
            .iter()
            .filter(|function| !function.in_test)
            .filter_map(|function| check_function(file.path, function)),
    );
    problems
}

fn check_file(file: &RustFile<'_>) -> Option<Problem> {
    let length = match file.trailing_test_module() {
        Some(line) => line.saturating_sub(1),
        None => file.text.trim_end().lines().count(),
    };
    let (budget, remedy) = if file.path.ends_with("src/main.rs") {
        (MAIN_FILE_LINES, "keep settings, build, serve and drain; move the rest to modules")
    } else {
        (FILE_LINES, "split it by concept")
    };
    let wrong = format!("{length} lines without tests, over the budget of {budget}");
    (length > budget).then(|| Problem::new(file.path, budget + 1, wrong, remedy))
}

fn check_function(path: &str, function: &Function<'_>) -> Option<Problem> {
    let Function { name, line, length, .. } = function;
    if *length > FUNCTION_LINES_AT_MOST {
        let wrong = format!("function `{name}` has {length} lines, over {FUNCTION_LINES_AT_MOST}");
        return Some(Problem::new(path, *line, wrong, "split it by stage"));
    }
    let wrong = format!("function `{name}` has {length} lines, over {FUNCTION_LINES_QUESTIONED}");
    let remedy = "split it by stage, or list it with its reason in xtask/tidy-exceptions.txt";
    (*length > FUNCTION_LINES_QUESTIONED).then(|| Problem::new(path, *line, wrong, remedy).excusable_as(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function_of(length: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    work();\n".repeat(length - 2))
    }

    fn subjects(path: &str, source: &str) -> Vec<Option<String>> {
        check(&RustFile::read(path, source)).into_iter().map(|problem| problem.subject).collect()
    }

    #[test]
    fn functions_keep_their_budget() {
        let excusable = Some("long".to_owned());
        let cases = [
            (function_of(60), vec![]),
            (function_of(61), vec![excusable.clone()]),
            (function_of(100), vec![excusable]),
            (function_of(101), vec![None]),
            (format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function_of(101)), vec![]),
        ];
        for (source, expected) in cases {
            assert_eq!(subjects("crates/a/src/b.rs", &source), expected, "{} lines", source.lines().count());
        }
        assert!(subjects("crates/a/tests/b.rs", &function_of(101)).is_empty());
    }

    #[test]
    fn files_keep_their_budget_without_their_tests() {
        let full = "use a;\n".repeat(400);
        let cases = [
            ("crates/a/src/b.rs", full.clone(), 0),
            ("crates/a/src/b.rs", format!("{full}use a;\n"), 1),
            ("crates/a/src/b.rs", format!("{full}#[cfg(test)]\nmod tests {{\n\n}}\n"), 0),
            ("crates/a/src/b.rs", format!("#[cfg(test)]\nmod tests {{\n}}\n{full}"), 1),
            ("crates/a/tests/b.rs", format!("{full}use a;\n"), 1),
            ("crates/a/src/main.rs", "use a;\n".repeat(81), 1),
            ("crates/a/src/main.rs", "use a;\n".repeat(80), 0),
        ];
        for (path, source, expected) in cases {
            assert_eq!(subjects(path, &source).len(), expected, "{path}: {} lines", source.lines().count());
        }
    }
}
