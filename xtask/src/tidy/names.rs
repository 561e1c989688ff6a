//! Files, folders and modules are named after things of the domain, not after the act of putting things aside.
//!
//! Only whole names count: `pool_manager` may be a poor name, but it is not an empty one. Names of functions and
//! types are for review.

use super::problem::Problem;
use super::rust_file::RustFile;
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

/// Inline modules with an empty name; the others are files.
pub(super) fn check_modules(file: &RustFile<'_>) -> Vec<Problem> {
    file.modules
        .iter()
        .filter(|module| EMPTY_NAMES.contains(&module.name))
        .map(|module| {
            let wrong = format!("module `{}` says nothing about what is inside", module.name);
            Problem::new(file.path, module.line, wrong, REMEDY)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
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

    #[test]
    fn modules_have_names_that_say_something() {
        let source = "mod names {}\nmod utils { }\n// mod misc {}\nfn common() {}";
        assert_eq!(lines(&check_modules(&RustFile::read("crates/a/src/b.rs", source))), [2]);
    }
}
