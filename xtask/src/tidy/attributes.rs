//! Attributes that switch a lint or a test off.
//!
//! A lint is obeyed, or expected with a reason; a test runs, or goes. Which lints are on is the workspace's
//! `Cargo.toml` to say.

use super::problem::Problem;
use super::rust_file::{Attribute, RustFile};

/// Attributes that silence lints without a word, or tests altogether.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    file.attributes
        .iter()
        .filter_map(|attribute| {
            let (wrong, remedy) = judge(file, attribute)?;
            Some(Problem::new(file.path, attribute.line, wrong, remedy))
        })
        .collect()
}

fn judge(file: &RustFile<'_>, attribute: &Attribute<'_>) -> Option<(&'static str, &'static str)> {
    let span = attribute.span.clone();
    // Only `cfg_attr` carries other attributes; elsewhere the same words may mean anything.
    let has = |word: &str| match attribute.name {
        "cfg_attr" => span.clone().any(|index| file.word(index) == word),
        name => name == word,
    };
    if has("allow") {
        let remedy = "follow the lint, or write `#[expect(.., reason = \"..\")]`";
        return Some(("`allow` switches a lint off", remedy));
    }
    if has("expect") && !span.clone().any(|index| file.word(index) == "reason") {
        return Some(("`expect` gives no reason", "add `reason = \"..\"`"));
    }
    has("ignore").then_some(("an ignored test", "make it run everywhere, or remove it"))
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn lints_and_tests_stay_on() {
        let cases: [(&str, &[usize]); 10] = [
            ("\n#[allow(dead_code)]\nfn f() {}", &[2]),
            ("#![allow(clippy::all)]", &[1]),
            ("#[cfg_attr(test, allow(dead_code))] fn f() {}", &[1]),
            ("#[expect(dead_code)] fn f() {}", &[1]),
            ("#[expect(dead_code, reason = \"read by the linker\")] fn f() {}", &[]),
            ("#[test]\n#[ignore]\nfn f() {}", &[2]),
            ("#[test]\n#[ignore = \"slow\"]\nfn f() {}", &[2]),
            ("#[serde(ignore, allow)] struct S;", &[]),
            ("// #[allow(dead_code)]\nconst A: &str = \"#[ignore]\";", &[]),
            ("#[derive(Debug)] struct S;", &[]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(&check(&RustFile::read("crates/a/src/b.rs", source))), expected, "{source}");
        }
    }
}
