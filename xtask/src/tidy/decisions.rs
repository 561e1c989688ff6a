//! `docs/decisions/NNN-title.md`: one page per choice, numbered from 001 without gaps.
//!
//! A README may stand beside them. What a page says is for review.

use super::problem::Problem;
use super::tree::Tree;

const FOLDER: &str = "docs/decisions/";

/// Pages out of number or with a name of another form.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut next = 1;
    for file in tree.files() {
        let Some(name) = file.path.strip_prefix(FOLDER).filter(|name| *name != "README.md") else {
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
            let paths: Vec<String> = names.iter().map(|name| format!("{FOLDER}{name}")).collect();
            let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
            assert_eq!(check(&Tree::of(&files)).len(), expected, "{names:?}");
        }
    }
}
