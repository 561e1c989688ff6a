//! The form of a source file: a header that says what it is for, a length that can be read, and `mod.rs` as a table of
//! contents.
//!
//! Tests are not counted, except that a file of tests is a file.

use super::problem::Problem;
use super::rust_file::RustFile;
use super::source_parts::word_length;

const HEADER_LINES: usize = 20;
const FILE_LINES: usize = 400;
const MAIN_FILE_LINES: usize = 80;
const FUNCTION_LINES: usize = 60;

/// A missing, empty or overlong header.
pub(super) fn check_header(file: &RustFile<'_>) -> Vec<Problem> {
    let header: Vec<&str> = file.text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let (wrong, remedy) = if header.iter().all(|line| line.trim().is_empty()) {
        let remedy = "start the file with 1 to 6 lines of `//!`: what it is for, where its border is";
        ("no module header".to_owned(), remedy)
    } else if header.len() > HEADER_LINES {
        let remedy = "keep 1 to 6 lines and move the rest to docs/ or to the items it is about";
        (format!("a module header of {} lines", header.len()), remedy)
    } else {
        return Vec::new();
    };
    vec![Problem::new(file.path, 1, wrong, remedy)]
}

/// Files and functions over their budget.
pub(super) fn check_length(file: &RustFile<'_>) -> Vec<Problem> {
    let functions = file.functions();
    let long = functions.iter().filter(|function| function.length > FUNCTION_LINES && !file.is_test(function.line));
    let long = long.map(|function| {
        let wrong = format!("function `{}` has {} lines, over {FUNCTION_LINES}", function.name, function.length);
        Problem::new(file.path, function.line, wrong, "split it by stage")
    });
    check_file(file).into_iter().chain(long).collect()
}

fn check_file(file: &RustFile<'_>) -> Option<Problem> {
    let length = match file.trailing_test_module() {
        Some(line) => line.saturating_sub(1),
        None => file.text.trim_end().lines().count(),
    };
    let (budget, remedy) = if file.path.ends_with("src/main.rs") {
        (MAIN_FILE_LINES, "keep settings, build, serve and drain; move the rest to modules")
    } else {
        (FILE_LINES, "split it by concept")
    };
    let wrong = format!("{length} lines without tests, over the budget of {budget}");
    (length > budget).then(|| Problem::new(file.path, budget + 1, wrong, remedy))
}

/// Every item of a `mod.rs` that does not belong into a table of contents.
pub(super) fn check_mod_file(file: &RustFile<'_>) -> Vec<Problem> {
    if !file.path.ends_with("/mod.rs") {
        return Vec::new();
    }
    let items =
        (1..).zip(file.parts.code.lines()).filter(|(_, code)| code.starts_with(|first: char| first.is_alphabetic()));
    items
        .filter_map(|(line, code)| {
            let public = code.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
            let item = public.map_or(code, |(_, item)| item).trim_start_matches("pub ");
            let keyword = item.get(..word_length(item))?;
            let is_entry = matches!(keyword, "use" | "type" | "extern") || keyword == "mod" && item.ends_with(';');
            let wrong = format!("`{keyword}` with a body or value in a mod.rs");
            let remedy = "move it to a file named after its concept and re-export it";
            (!is_entry).then(|| Problem::new(file.path, line, wrong, remedy))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn a_header_is_there_and_short() {
        let longest = "//! words\n".repeat(HEADER_LINES);
        let too_long = format!("{longest}//! words\n");
        let cases = [
            ("//! What it is for.\nfn f() {}", 0),
            (longest.as_str(), 0),
            (too_long.as_str(), 1),
            ("", 1),
            ("//!\n//!  \nfn f() {}", 1),
            ("\n//! Not at the top.", 1),
            ("// Not a header.", 1),
            ("use std::fmt;\n//! Too late.", 1),
        ];
        for (source, expected) in cases {
            assert_eq!(check_header(&RustFile::read("crates/a/src/lib.rs", source)).len(), expected, "{source}");
        }
    }

    fn function_of(length: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    work();\n".repeat(length - 2))
    }

    fn long_parts(path: &str, source: &str) -> usize {
        check_length(&RustFile::read(path, source)).len()
    }

    #[test]
    fn functions_keep_their_budget() {
        let cases = [
            (function_of(60), 0),
            (function_of(61), 1),
            (format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function_of(61)), 0),
        ];
        for (source, expected) in cases {
            assert_eq!(long_parts("crates/a/src/b.rs", &source), expected, "{} lines", source.lines().count());
        }
        assert_eq!(long_parts("crates/a/tests/b.rs", &function_of(61)), 0);
    }

    #[test]
    fn files_keep_their_budget_without_their_tests() {
        let full = "use a;\n".repeat(400);
        let cases = [
            ("crates/a/src/b.rs", full.clone(), 0),
            ("crates/a/src/b.rs", format!("{full}use a;\n"), 1),
            ("crates/a/src/b.rs", format!("{full}#[cfg(test)]\nmod tests {{\n\n}}\n"), 0),
            ("crates/a/src/b.rs", format!("#[cfg(test)]\nmod tests {{\n}}\n{full}"), 1),
            ("crates/a/tests/b.rs", format!("{full}use a;\n"), 1),
            ("crates/a/src/main.rs", "use a;\n".repeat(81), 1),
            ("crates/a/src/main.rs", "use a;\n".repeat(80), 0),
        ];
        for (path, source, expected) in cases {
            assert_eq!(long_parts(path, &source), expected, "{path}: {} lines", source.lines().count());
        }
    }

    #[test]
    fn only_contents_are_listed() {
        let cases: [(&str, &[usize]); 8] = [
            (
                "//! Header.\n#![warn(x)]\n#[cfg(unix)]\npub(in crate::b) mod a;\nmod b;\npub use a::{B, c::D};\npub type E = B;",
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
            assert_eq!(lines(&check_mod_file(&RustFile::read("crates/a/src/b/mod.rs", source))), expected, "{source}");
        }
    }

    #[test]
    fn other_files_hold_what_they_like() {
        assert!(check_mod_file(&RustFile::read("crates/a/src/b.rs", "fn f() {}")).is_empty());
    }
}
