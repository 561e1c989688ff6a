//! The contract's page and the golden pages name each other: no promise without a page, no page without a promise.
//!
//! `docs/contract.md` names a page by its path with `golden/` in it, as text or as a link.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::Tree;

const CONTRACT: &str = "docs/contract.md";
const PAGES: &str = "tests/golden/";

/// Named pages that do not exist, and pages that are not named.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let Some(contract) = tree.text(CONTRACT) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let mut named = BTreeSet::new();
    for (index, line) in contract.lines().enumerate() {
        for page in pages_named(line) {
            if !tree.has_file(&format!("{PAGES}{page}")) {
                let wrong = format!("golden page `{page}` does not exist");
                let remedy = format!("correct its name, or write it under {PAGES}");
                problems.push(Problem::new(CONTRACT, index + 1, wrong, remedy));
            }
            named.insert(page);
        }
    }
    problems.extend(golden_pages(tree).filter(|page| !named.contains(page)).map(|page| {
        let path = format!("{PAGES}{page}");
        let wrong = format!("this golden page is not named in {CONTRACT}");
        let remedy = format!("name it as `{path}` beside the promise it shows");
        Problem::new(&path, 1, wrong, remedy)
    }));
    problems
}

fn golden_pages(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.files()
        .iter()
        .filter_map(|file| file.path.strip_prefix(PAGES))
        .filter(|page| page.ends_with(".md") && !page.ends_with("README.md"))
}

fn pages_named(line: &str) -> impl Iterator<Item = &str> {
    line.split(|character: char| !character.is_alphanumeric() && !matches!(character, '/' | '.' | '-' | '_'))
        .filter_map(|word| word.split_once("golden/"))
        .map(|(_, page)| page.trim_end_matches('.'))
        .filter(|page| page.ends_with(".md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_and_pages_match() {
        let cases = [
            ("| G1 | `tests/golden/chat/unknown-name.md` |", vec![]),
            ("See [the page](../tests/golden/chat/unknown-name.md).", vec![]),
            ("Shown in golden/chat/unknown-name.md.", vec![]),
            ("Nothing is named.", vec!["tests/golden/chat/unknown-name.md"]),
            ("`tests/golden/chat/unknown-name.md`, `tests/golden/gone.md`", vec![CONTRACT]),
        ];
        for (contract, expected) in cases {
            let tree = Tree::of(&[
                (CONTRACT, contract),
                ("tests/golden/README.md", ""),
                ("tests/golden/chat/unknown-name.md", ""),
            ]);
            let paths: Vec<String> = check(&tree).into_iter().map(|problem| problem.path).collect();
            assert_eq!(paths, expected, "{contract}");
        }
    }

    #[test]
    fn without_the_contract_nothing_is_asked() {
        assert!(check(&Tree::of(&[("tests/golden/a.md", "")])).is_empty());
    }
}
