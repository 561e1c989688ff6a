//! Tests wait for what they wait for, never for time to pass.
//!
//! Code outside tests may sleep, and so may what a test feeds to a child process: that is text, not code of ours.

use super::problem::Problem;
use super::rust_file::RustFile;

const SLEEPS: &[&str] = &["sleep", "sleep_until"];

/// Calls of a sleep in tests.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    (0..file.code.len())
        .filter(|index| SLEEPS.contains(&file.word(*index)) && file.word(index + 1) == "(")
        .filter(|index| file.is_test(*index))
        .map(|index| {
            Problem::new(
                file.path,
                file.line(index),
                "a test that sleeps",
                "wait for the event itself, or use a paused clock",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn only_code_outside_tests_sleeps() {
        let cases: [(&str, &str, &[usize]); 6] = [
            ("crates/a/src/b.rs", "fn f() { tokio::time::sleep(x); }", &[]),
            ("crates/a/src/b.rs", "#[cfg(test)] mod tests {\n fn f() { sleep(x); } }", &[2]),
            ("crates/a/src/b.rs", "#[tokio::test] async fn f() { time::sleep_until(x).await }", &[1]),
            ("crates/a/tests/b.rs", "fn f() { std::thread::sleep(x); }", &[1]),
            ("crates/a/tests/b.rs", "const HANGS: &str = \"time.sleep(9)\"; // sleep(9)", &[]),
            ("crates/a/tests/b.rs", "fn f() { sleeper(x); }", &[]),
        ];
        for (path, source, expected) in cases {
            assert_eq!(lines(&check(&RustFile::read(path, source))), expected, "{path}: {source}");
        }
    }
}
