//! What a crate may not import from the standard library or from other crates. The order of our own modules is in `layers`.

use super::problem::Problem;
use super::rust_file::RustFile;
use super::rust_paths::named_paths;

/// Core takes clocks, files and processes from its caller. Cargo refuses the crates that it does not depend on.
const CORE: &str = "crates/callboard-core/src/";
const IMPURE: &[&str] =
    &["std::fs", "std::env", "std::net", "std::process", "std::thread", "std::time::SystemTime", "std::time::Instant"];

/// Forbidden imports, once per line.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for named in named_paths(file) {
        let in_core = file.path.starts_with(CORE) && !file.is_test(named.line);
        if in_core && IMPURE.iter().any(|target| named.reaches(target)) {
            let wrong = format!("`{}` in callboard-core", named.path);
            problems.push(Problem::new(file.path, named.line, wrong, "core is pure: take the value from the caller"));
        }
        // A module that another crate has to export for its macros and gives no promise about.
        if !named.is_within("crate")
            && named.path.split("::").skip(1).any(|part| ["private", "__private"].contains(&part))
        {
            let wrong = format!("`{}` is private to its crate", named.path);
            problems.push(Problem::new(file.path, named.line, wrong, "use what the crate documents"));
        }
    }
    problems.dedup();
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn crates_stay_within_their_borders() {
        let cases: [(&str, &str, &[usize]); 11] = [
            ("callboard-core/src/lib.rs", "use std::fmt;\nuse std::time::Duration;", &[]),
            ("callboard-core/src/lib.rs", "use std::{fmt,\n fs::File};", &[2]),
            ("callboard-core/src/names.rs", "use std::time;\nfn f(){ time::Instant::now() }", &[2]),
            ("callboard-core/src/names.rs", "use std::time::*;", &[1]),
            ("callboard-core/src/names.rs", "// tokio::spawn\nconst A: &str = \"std::fs::read\";", &[]),
            ("callboard-core/tests/golden.rs", "use std::fs;", &[]),
            ("callboard-core/src/turn/tests/cases.rs", "use std::fs;", &[]),
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
