//! Files and folders are named after things of the domain, not `utils` or `helpers`.
//!
//! Only whole names count: `pool_manager` may be a poor name, but it is not an empty one.

use super::problem::Problem;
use super::tree::Tree;

const EMPTY_NAMES: &[&str] = &["common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"];

/// What counts as source; data and recorded pages are named by where they come from.
const SOURCE_ENDINGS: &[&str] = &["css", "html", "js", "mjs", "py", "rs", "sh", "sql", "ts"];

const REMEDY: &str = "name it after what it is about, or move its parts to where they belong";

/// Sources with an empty name anywhere in their path.
pub(super) fn check_files(tree: &Tree) -> Vec<Problem> {
    tree.files()
        .iter()
        .filter_map(|file| {
            let (stem, ending) = file.path.rsplit_once('.')?;
            let name = stem.split('/').find(|part| EMPTY_NAMES.contains(part))?;
            let wrong = format!("`{name}` says nothing about what is inside");
            SOURCE_ENDINGS.contains(&ending).then(|| Problem::new(&file.path, 1, wrong, REMEDY))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_names_that_say_something() {
        let cases = [
            ("crates/a/src/utils.rs", 1),
            ("crates/a/tests/common/server.rs", 1),
            ("scripts/helpers.py", 1),
            ("crates/a/src/pool_manager.rs", 0),
            ("crates/a/src/names.rs", 0),
            ("tests/suite/common.json", 0),
        ];
        for (path, expected) in cases {
            assert_eq!(check_files(&Tree::of(&[(path, "")])).len(), expected, "{path}");
        }
    }
}
