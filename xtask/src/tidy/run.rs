//! Runs every check over the tree and prints what they found, in the order of paths and lines.
//!
//! A new check is a file beside this one and a line in one of the two tables below: one for what can be judged by a
//! single source, one for what needs the whole tree.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

use super::problem::Problem;
use super::rust_file::RustFile;
use super::tree::Tree;
use super::{
    attributes, budgets, decisions, exceptions, golden, headers, imports, leftovers, links, machine_paths, manifests,
    mod_files, names, sleeps, spawns,
};

const RUST_CHECKS: &[fn(&RustFile<'_>) -> Vec<Problem>] = &[
    attributes::check,
    budgets::check,
    headers::check,
    imports::check,
    leftovers::check,
    mod_files::check,
    names::check_modules,
    sleeps::check,
    spawns::check,
];

const TREE_CHECKS: &[fn(&Tree) -> Vec<Problem>] =
    &[decisions::check, golden::check, links::check, machine_paths::check, manifests::check, names::check_files];

/// Checks the repository we stand in, reports on `output`, and fails if there is anything to report.
pub(crate) fn run(output: &mut impl Write) -> Result<ExitCode> {
    let tree = Tree::read()?;
    let problems = find_problems(&tree);
    for problem in &problems {
        writeln!(output, "{problem}")?;
    }
    writeln!(output, "tidy: {} files, {} problems", tree.files().len(), problems.len())?;
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn find_problems(tree: &Tree) -> Vec<Problem> {
    let mut problems: Vec<Problem> = TREE_CHECKS.iter().flat_map(|check| check(tree)).collect();
    for (path, text) in tree.rust_texts() {
        let file = RustFile::read(path, text);
        problems.extend(RUST_CHECKS.iter().flat_map(|check| check(&file)));
    }
    let mut problems = exceptions::apply(tree.text(exceptions::PATH).unwrap_or(""), problems);
    problems.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_function(lines: usize) -> String {
        format!("//! Header.\nfn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
    }

    #[test]
    fn a_clean_tree_has_no_problems() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "//! Header.\n"), ("README.md", "[a](crates/a)")]);
        assert!(find_problems(&tree).is_empty());
    }

    #[test]
    fn problems_come_in_the_order_of_the_tree() {
        let tree = Tree::of(&[
            ("crates/b/src/lib.rs", "//! Header.\n\n// FIXME\nfn f() { todo!() }"),
            ("crates/a/src/lib.rs", ""),
            ("README.md", "[a](gone.md)"),
        ]);
        let places: Vec<String> =
            find_problems(&tree).iter().map(|problem| format!("{}:{}", problem.path, problem.line)).collect();
        let expected = ["README.md:1", "crates/a/src/lib.rs:1", "crates/b/src/lib.rs:3", "crates/b/src/lib.rs:4"];
        assert_eq!(places, expected);
    }

    #[test]
    fn an_exception_excuses_a_questioned_function_and_no_more() {
        let exception = "crates/a/src/lib.rs long: one table\n";
        for (lines, list, expected) in [(80, exception, 0), (80, "", 1), (101, exception, 2), (20, exception, 1)] {
            let source = long_function(lines);
            let tree = Tree::of(&[("crates/a/src/lib.rs", &source), (exceptions::PATH, list)]);
            assert_eq!(find_problems(&tree).len(), expected, "{lines} lines");
        }
    }
}
