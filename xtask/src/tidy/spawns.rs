//! No orphan tasks: spawning belongs to the few files that own and join what they start.
//!
//! Child processes are not meant here, nor are tests, which end with all they started.

use super::paths::named_paths;
use super::problem::Problem;
use super::rust_file::RustFile;

/// The files that own and join tasks or threads.
const OWNERS: &[&str] = &[
    "crates/callboard-python/src/supervisor/thread.rs",
    "crates/callboard/src/author/prompt.rs",
    "crates/callboard/src/server.rs",
    "crates/callboard/src/store/handle.rs",
];

const SPAWNERS: &[&str] = &[
    "tokio::spawn",
    "tokio::runtime::Handle",
    "tokio::task::JoinSet",
    "tokio::task::LocalSet",
    "tokio::task::spawn",
    "tokio::task::spawn_blocking",
    "tokio::task::spawn_local",
    "tokio_util::task",
    "std::thread::Builder",
    "std::thread::spawn",
];

/// Every place that starts or imports the means to start a task or thread, outside its owners.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    if OWNERS.contains(&file.path) {
        return Vec::new();
    }
    named_paths(file)
        .iter()
        .filter(|path| !file.is_test(path.index))
        .filter(|path| SPAWNERS.iter().any(|spawner| path.reaches(spawner)))
        .map(|path| {
            Problem::new(
                file.path,
                file.line(path.index),
                format!("`{}` outside the files that own tasks", path.segments.join("::")),
                format!("spawn in {}, which joins what it starts", OWNERS.join(" or ")),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn only_owners_and_tests_spawn() {
        let elsewhere = "crates/callboard/src/session.rs";
        let cases: [(&str, &str, &[usize]); 11] = [
            (elsewhere, "fn f() { tokio::spawn(g()); }", &[1]),
            (elsewhere, "use tokio::task;\nfn f() { task::spawn_blocking(g); }", &[2]),
            (elsewhere, "use tokio::task::JoinSet;", &[1]),
            (elsewhere, "use tokio::task::*;", &[1]),
            (elsewhere, "use std::thread;\nfn f() { thread::Builder::new(); thread::spawn(g); }", &[2, 2]),
            (elsewhere, "fn f() { Command::new(\"a\").spawn(); } // tokio::spawn", &[]),
            (elsewhere, "use tokio::{sync::mpsc, time};", &[]),
            (elsewhere, "#[cfg(test)] mod tests { fn f() { tokio::spawn(g()); } }", &[]),
            ("crates/callboard/src/server.rs", "fn f() { tokio::spawn(g()); }", &[]),
            ("crates/callboard/tests/serve.rs", "fn f() { tokio::spawn(g()); }", &[]),
            ("crates/callboard/src/server_page.rs", "fn f() { tokio::spawn(g()); }", &[1]),
        ];
        for (path, source, expected) in cases {
            assert_eq!(lines(&check(&RustFile::read(path, source))), expected, "{path}: {source}");
        }
    }
}
