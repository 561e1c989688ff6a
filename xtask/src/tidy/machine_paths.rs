//! Nothing in the tree depends on one machine: no absolute paths of a user, no folder beside the repository.
//!
//! The names are kept in pieces here, so that this file passes its own check.

use super::problem::Problem;
use super::tree::Tree;

/// First folders of absolute paths that exist on one machine and not on the next.
const ROOTS: &[&str] = &["work", "root", "home"];
const NEIGHBOUR: [&str; 2] = ["..", "shared"];

/// Every line that names such a path.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let roots: Vec<String> = ROOTS.iter().map(|root| format!("/{root}/")).collect();
    let neighbour = NEIGHBOUR.join("/");
    let mut problems = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            if let Some(root) = roots.iter().find(|root| names_absolute(line, root)) {
                let wrong = format!("an absolute path under `{root}`");
                problems.push(Problem::new(path, index + 1, wrong, "write it from the root of the repository"));
            }
            if line.contains(&neighbour) {
                let wrong = format!("a mention of `{neighbour}`");
                problems.push(Problem::new(path, index + 1, wrong, "say it here, or leave it out"));
            }
        }
    }
    problems
}

/// Whether a path starts with `root` here, rather than runs through a folder of that name.
fn names_absolute(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(start, _)| {
        let before = line.get(..start).and_then(|before| before.chars().next_back());
        !before.is_some_and(|character| character.is_alphanumeric() || "._-~$*%})]>".contains(character))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_belong_to_no_machine() {
        let cases = [
            ("cd /{}/project", 1),
            ("\"/{}/x\" and file:///{}/y", 1),
            ("https://example.org/{}/x", 0),
            ("./{}/x, crates/{}/x, ~/{}/x, $PREFIX/{}/x", 0),
            ("/{}", 0),
            ("nothing", 0),
        ];
        for (line, expected) in cases {
            for root in ROOTS {
                let text = line.replace("{}", root);
                assert_eq!(check(&Tree::of(&[("docs/a.md", &text)])).len(), expected, "{text}");
            }
        }
    }

    #[test]
    fn the_folder_beside_is_not_mentioned() {
        let text = format!("see {}/notes\n", NEIGHBOUR.join("/"));
        assert_eq!(check(&Tree::of(&[("Makefile", &text)])).len(), 1);
        assert!(check(&Tree::of(&[("Makefile", "see shared/notes\n")])).is_empty());
    }
}
