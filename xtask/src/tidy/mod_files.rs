//! `mod.rs` is a table of contents: modules, imports and names for types, never logic.
//!
//! Tests have nothing to test there either. Crate roots (`lib.rs`, `main.rs`) are not meant.

use super::problem::Problem;
use super::rust_file::RustFile;

/// Every item of a `mod.rs` that does not belong into a table of contents.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    if !file.path.ends_with("/mod.rs") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut start = 0;
    while start < file.code.len() {
        let keyword = file.keyword(start);
        let end = file.item_end(keyword);
        let is_entry = match file.word(keyword) {
            "mod" => file.word(end) == ";",
            "use" | "type" | "extern" => true,
            word => word.is_empty(),
        };
        if !is_entry {
            let wrong = format!("`{}` with a body or value in a mod.rs", file.word(keyword));
            let remedy = "move it to a file named after its concept and re-export it";
            problems.push(Problem::new(file.path, file.line(keyword), wrong, remedy));
        }
        start = end.max(keyword) + 1;
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn only_contents_are_listed() {
        let cases: [(&str, &[usize]); 8] = [
            (
                "//! Header.\n#![warn(x)]\n#[cfg(unix)]\npub(crate) mod a;\nmod b;\npub use a::{B, c::D};\npub type E = B;",
                &[],
            ),
            ("mod a;\nfn f() {}", &[2]),
            ("mod a;\n\nimpl A {\n fn f() {}\n}\nmod b;", &[3]),
            ("/// Says.\n#[derive(Debug)]\npub struct A { a: u8 }", &[3]),
            ("const A: [u8; 2] = [1, 2];", &[1]),
            ("mod a { }", &[1]),
            ("macro_rules! m { () => {} }\nmod b;", &[1]),
            ("mod a;\n#[cfg(test)]\nmod tests {\n fn f() {}\n}", &[3]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(&check(&RustFile::read("crates/a/src/b/mod.rs", source))), expected, "{source}");
        }
    }

    #[test]
    fn other_files_hold_what_they_like() {
        assert!(check(&RustFile::read("crates/a/src/b.rs", "fn f() {}")).is_empty());
    }
}
