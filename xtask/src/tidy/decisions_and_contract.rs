//! Pages that belong together: numbered decisions, and the contract with its golden pages.
//!
//! `docs/decisions/NNN-title.md` are numbered from 001 without gaps. `docs/contract.md` names every golden page by its path
//! with `golden/` in it, and no page that does not exist. What a page says is for review.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::tree::Tree;

const DECISIONS: &str = "docs/decisions/";

/// Pages out of number or with a name of another form.
pub(super) fn check_decisions(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut next = 1;
    for file in tree.files() {
        let Some(name) = file.path.strip_prefix(DECISIONS).filter(|name| *name != "README.md") else {
            continue;
        };
        let Some(number) = number_of(name) else {
            let wrong = "the name of a decision has another form";
            problems.push(Problem::new(&file.path, 1, wrong, "name it `NNN-title.md`, in small letters"));
            continue;
        };
        if number != next {
            let wrong = format!("decision {number:03} where {next:03} is due");
            problems.push(Problem::new(&file.path, 1, wrong, "number decisions without gaps or repeats"));
        }
        next = number + 1;
    }
    problems
}

fn number_of(name: &str) -> Option<u32> {
    let (digits, title) = name.strip_suffix(".md")?.split_once('-')?;
    let title_fits =
        title.chars().all(|character| character == '-' || character.is_ascii_lowercase() || character.is_ascii_digit());
    let fits = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| fits && title_fits && !title.is_empty())
}

const CONTRACT: &str = "docs/contract.md";
const PAGES: &str = "tests/golden/";

/// Named pages that do not exist, and pages that are not named.
pub(super) fn check_golden(tree: &Tree) -> Vec<Problem> {
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
    fn decisions_are_numbered() {
        let cases: [(&[&str], usize); 7] = [
            (&["001-a.md", "002-b-2.md", "README.md"], 0),
            (&[], 0),
            (&["002-a.md"], 1),
            (&["001-a.md", "003-b.md", "004-c.md"], 1),
            (&["001-a.md", "001-b.md"], 1),
            (&["1-a.md"], 1),
            (&["001_Title.md"], 1),
        ];
        for (names, expected) in cases {
            let paths: Vec<String> = names.iter().map(|name| format!("{DECISIONS}{name}")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            assert_eq!(check_decisions(&Tree::of(&files)).len(), expected, "{names:?}");
        }
    }

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
            let paths: Vec<String> = check_golden(&tree).into_iter().map(|problem| problem.path).collect();
            assert_eq!(paths, expected, "{contract}");
        }
    }

    #[test]
    fn without_the_contract_nothing_is_asked() {
        assert!(check_golden(&Tree::of(&[("tests/golden/a.md", "")])).is_empty());
    }
}
