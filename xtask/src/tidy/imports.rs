//! What a crate may not import from other crates. The order of our own modules is in `layers`.

use super::paths::{NamedPath, named_paths};
use super::problem::Problem;
use super::rust_file::RustFile;

/// The code of `crate_name` outside tests never names anything in `never`.
struct Rule {
    crate_name: &'static str,
    never: &'static [&'static str],
    because: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        crate_name: "callboard-core",
        never: &[
            "tokio",
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
            "std::thread",
            "std::time::SystemTime",
            "std::time::Instant",
            "getrandom",
            "rand",
        ],
        because: "core is pure, so take the value from the caller",
    },
    Rule {
        crate_name: "callboard-python",
        never: &[
            "axum",
            "http",
            "http_body_util",
            "hyper",
            "hyper_util",
            "rusqlite",
            "tokio_postgres",
            "callboard_core::wire",
        ],
        because: "workers know nothing of HTTP, SQL or wire formats, so do it in the program",
    },
];

/// Imports that the rules forbid, once per line.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    let rule = RULES.iter().find(|rule| file.path.starts_with(&format!("crates/{}/src/", rule.crate_name)));
    let mut problems = Vec::new();
    for path in named_paths(file) {
        let forbidden =
            rule.filter(|rule| !file.is_test(path.index) && rule.never.iter().any(|target| path.reaches(target)));
        let problem = |wrong, remedy| Problem::new(file.path, file.line(path.index), wrong, remedy);
        let name = path.segments.join("::");
        if let Some(rule) = forbidden {
            problems.push(problem(format!("`{name}` in {}", rule.crate_name), rule.because));
        }
        if is_private(&path) {
            let wrong = format!("`{name}` is private to its crate");
            problems.push(problem(wrong, "use what the crate documents").excusable_as("private"));
        }
    }
    problems.dedup();
    problems
}

/// A module that another crate has to export for its macros and gives no promise about.
fn is_private(path: &NamedPath) -> bool {
    let ours = path.segments.first().is_some_and(|first| first == "crate");
    !ours && path.segments.iter().skip(1).any(|segment| matches!(segment.as_str(), "private" | "__private"))
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn crates_stay_within_their_borders() {
        let cases: [(&str, &str, &[usize]); 14] = [
            ("callboard-core/src/lib.rs", "use std::fmt;\nuse std::time::Duration;", &[]),
            ("callboard-core/src/lib.rs", "use std::{fmt,\n fs::File};", &[2]),
            ("callboard-core/src/names.rs", "use std::time;\nfn f(){ time::Instant::now() }", &[2]),
            ("callboard-core/src/names.rs", "use std::time::*;", &[1]),
            ("callboard-core/src/names.rs", "// tokio::spawn\nconst A: &str = \"std::fs::read\";", &[]),
            ("callboard-core/src/names.rs", "fn f() { tokio::select!{} }", &[1]),
            ("callboard-core/tests/golden.rs", "use std::fs;", &[]),
            ("callboard-core/src/turn/tests/cases.rs", "use std::fs;", &[]),
            ("callboard-python/src/pool.rs", "use callboard_core::wire::sse;", &[1]),
            ("callboard-python/src/pool.rs", "use callboard_core::model;", &[]),
            ("callboard/src/store.rs", "use tokio_postgres::types::private::BytesMut;", &[1]),
            ("callboard/src/store.rs", "fn f() { serde::__private::from_utf8_lossy() }", &[1]),
            ("callboard/tests/store.rs", "use tokio_postgres::types::private::BytesMut;", &[1]),
            ("callboard/src/store.rs", "use crate::store::private::Page; fn f() { private::g() }", &[]),
        ];
        for (path, source, expected) in cases {
            let path = format!("crates/{path}");
            assert_eq!(lines(&check(&RustFile::read(&path, source))), expected, "{path}: {source}");
        }
    }
}
