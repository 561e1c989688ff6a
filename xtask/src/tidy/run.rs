//! Runs every check over the tree and prints the problems in the order of paths and lines.
//!
//! A new check is a function and a line in one of the tables below.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

use super::problem::Problem;
use super::rust_file::RustFile;
use super::tree::Tree;
use super::{
    banned_code, decisions_and_contract, file_layout, forbidden_imports, layers, links, machine_paths, names, words,
};

const RUST_CHECKS: &[fn(&RustFile<'_>) -> Vec<Problem>] = &[
    banned_code::check_attributes,
    banned_code::check_notes,
    banned_code::check_sleeps,
    banned_code::check_spawns,
    file_layout::check_header,
    file_layout::check_length,
    file_layout::check_mod_file,
    forbidden_imports::check,
    layers::check_imports,
];

const TREE_CHECKS: &[fn(&Tree) -> Vec<Problem>] = &[
    banned_code::check_manifests,
    decisions_and_contract::check_decisions,
    decisions_and_contract::check_golden,
    links::check,
    machine_paths::check,
    names::check_files,
    words::check,
];

/// Checks that compare a list in xtask's code with this repository, which the small trees of tests are not.
const LIST_CHECKS: &[fn(&Tree) -> Vec<Problem>] = &[banned_code::check_owners, layers::check_list];

/// Checks the repository that the current folder is in and reports on `output`; fails if there is anything to report.
/// With `UPDATE=1` it lowers the counts of words first.
pub(crate) fn run(output: &mut impl Write) -> Result<ExitCode> {
    let mut tree = Tree::read()?;
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        tree.write(words::PATH, &words::lowered(&tree))?;
        tree = Tree::read()?;
    }
    let mut problems: Vec<Problem> = LIST_CHECKS.iter().flat_map(|check| check(&tree)).collect();
    problems.extend(find_problems(&tree));
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
    problems.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_tree_has_no_problems() {
        let tree = Tree::of(&[("crates/a/src/lib.rs", "//! Header.\n"), ("README.md", "[a](crates/a)")]);
        assert!(find_problems(&tree).is_empty());
    }

    #[test]
    fn problems_come_in_the_order_of_the_tree() {
        let tree = Tree::of(&[
            ("crates/b/src/lib.rs", "//! Header.\n\n// FIXME\n// TODO"),
            ("crates/a/src/lib.rs", ""),
            ("README.md", "[a](gone.md)"),
        ]);
        let places: Vec<String> =
            find_problems(&tree).iter().map(|problem| format!("{}:{}", problem.path, problem.line)).collect();
        let expected = ["README.md:1", "crates/a/src/lib.rs:1", "crates/b/src/lib.rs:3", "crates/b/src/lib.rs:4"];
        assert_eq!(places, expected);
    }
}
