//! Every package takes the workspace's lints, so that none is compiled at less than full strength.
//!
//! This reads the one table it needs, line by line; whether a manifest is valid is Cargo's to say.

use super::problem::Problem;
use super::tree::Tree;

/// Packages that do not inherit the lints.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.texts()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"))
        .filter(|(path, _)| path.starts_with("crates/") || path.starts_with("xtask/"))
        .filter(|(_, text)| !inherits_lints(text))
        .map(|(path, _)| {
            let wrong = "the workspace's lints are not inherited";
            Problem::new(path, 1, wrong, "add `workspace = true` under `[lints]`")
        })
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.replace(' ', "") == "workspace=true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_are_inherited() {
        let cases = [
            ("crates/a/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n", 0),
            ("crates/a/Cargo.toml", "[package]\nworkspace = true\n", 1),
            ("crates/a/Cargo.toml", "[lints]\n[dependencies]\nworkspace = true\n", 1),
            ("Cargo.toml", "[workspace]\n", 0),
        ];
        for (path, manifest, expected) in cases {
            assert_eq!(check(&Tree::of(&[(path, manifest)])).len(), expected, "{manifest}");
        }
    }
}
