//! Code that does not stay in the tree: lints and tests switched off, notes to come back, sleeping tests, orphan tasks.
//!
//! A lint is obeyed, or expected with a reason; a test runs, or goes. Clippy knows some of this too, but only where it is run
//! and the code is compiled.

use super::problem::Problem;
use super::rust_file::RustFile;
use super::rust_paths::named_paths;
use super::source_parts::is_word;
use super::tree::Tree;

/// Attributes that silence lints without a reason, or that switch tests off.
pub(super) fn check_attributes(file: &RustFile<'_>) -> Vec<Problem> {
    file.attributes()
        .filter_map(|(offset, attribute)| {
            let (wrong, remedy) = judge(attribute)?;
            Some(Problem::new(file.path, file.line(offset), wrong, remedy))
        })
        .collect()
}

fn judge(attribute: &str) -> Option<(&'static str, &'static str)> {
    let words: Vec<&str> = attribute.split(|character| !is_word(character)).collect();
    // Only `cfg_attr` contains other attributes; other attributes may use the same words.
    let has = |word: &str| words.first() == Some(&word) || words.first() == Some(&"cfg_attr") && words.contains(&word);
    if has("allow") {
        let remedy = "follow the lint, or write `#[expect(.., reason = \"..\")]`";
        return Some(("`allow` switches a lint off", remedy));
    }
    if has("expect") && !words.contains(&"reason") {
        return Some(("`expect` gives no reason", "add `reason = \"..\"`"));
    }
    has("ignore").then_some(("an ignored test", "make it run everywhere, or remove it"))
}

/// Packages that do not inherit the workspace's lints.
pub(super) fn check_manifests(tree: &Tree) -> Vec<Problem> {
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
    let table: Option<toml::Table> = manifest.parse().ok();
    let lints = table.as_ref().and_then(|table| table.get("lints")?.get("workspace")?.as_bool());
    lints == Some(true)
}

const NOTES: &[&str] = &["FIXME", "TODO"];

/// Notes to come back later. Clippy finds the macros `todo!` and `unimplemented!`.
pub(super) fn check_notes(file: &RustFile<'_>) -> Vec<Problem> {
    (1..)
        .zip(file.parts.comments.lines())
        .filter_map(|(line, text)| {
            let mut words = text.split(|character| !is_word(character));
            let note = words.find(|word| NOTES.contains(word))?;
            Some(Problem::new(file.path, line, format!("a {note} comment"), "do it now, or say what is true today"))
        })
        .collect()
}

const SLEEPS: &[&str] = &["sleep(", "sleep_until("];

/// Calls of a sleep in tests.
pub(super) fn check_sleeps(file: &RustFile<'_>) -> Vec<Problem> {
    let remedy = "wait for the event itself, or use a paused clock";
    (1..)
        .zip(file.parts.code.lines())
        .filter(|(line, code)| file.is_test(*line) && SLEEPS.iter().any(|sleep| code.contains(sleep)))
        .map(|(line, _)| Problem::new(file.path, line, "a test that sleeps", remedy))
        .collect()
}

/// The files that own and join tasks or threads.
const OWNERS: &[&str] = &[
    "crates/callboard-python/src/supervisor/thread.rs",
    "crates/callboard/src/author/chat/line_editor.rs",
    "crates/callboard/src/server.rs",
    "crates/callboard/src/store/handle.rs",
    "crates/callboard/src/telemetry/log_writer.rs",
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
pub(super) fn check_spawns(file: &RustFile<'_>) -> Vec<Problem> {
    if OWNERS.contains(&file.path) {
        return Vec::new();
    }
    named_paths(file)
        .iter()
        .filter(|path| !file.is_test(path.line))
        .filter(|path| SPAWNERS.iter().any(|spawner| path.reaches(spawner)))
        .map(|path| {
            let wrong = format!("`{}` outside the files that own tasks", path.path);
            let remedy = format!("spawn in {}, which joins what it starts", OWNERS.join(" or "));
            Problem::new(file.path, path.line, wrong, remedy)
        })
        .collect()
}

/// Owners of tasks that do not exist.
pub(super) fn check_owners(tree: &Tree) -> Vec<Problem> {
    let missing = OWNERS.iter().filter(|owner| !tree.has_file(owner)).map(|owner| format!("`{owner}` does not exist"));
    missing.map(|wrong| Problem::new("xtask/src/tidy/banned_code.rs", 1, wrong, "correct OWNERS")).collect()
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
            assert_eq!(lines(&check_attributes(&RustFile::read("crates/a/src/b.rs", source))), expected, "{source}");
        }
    }

    #[test]
    fn no_note_stays() {
        let cases: [(&str, &[usize]); 5] = [
            ("const A: &str = \"FIXME\";", &[]),
            ("\n// TODO: later", &[2]),
            ("/* a\n * FIXME(b) */", &[2]),
            ("//! The TODOs of a user are todo items.", &[]),
            ("struct TODO;", &[]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(&check_notes(&RustFile::read("crates/a/src/b.rs", source))), expected, "{source}");
        }
    }

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
            assert_eq!(lines(&check_sleeps(&RustFile::read(path, source))), expected, "{path}: {source}");
        }
    }

    #[test]
    fn only_owners_and_tests_spawn() {
        let other = "crates/callboard/src/session.rs";
        let cases: [(&str, &str, &[usize]); 11] = [
            (other, "fn f() { tokio::spawn(g()); }", &[1]),
            (other, "use tokio::task;\nfn f() { task::spawn_blocking(g); }", &[2]),
            (other, "use tokio::task::JoinSet;", &[1]),
            (other, "use tokio::task::*;", &[1]),
            (other, "use std::thread;\nfn f() { thread::Builder::new(); thread::spawn(g); }", &[2, 2]),
            (other, "fn f() { Command::new(\"a\").spawn(); } // tokio::spawn", &[]),
            (other, "use tokio::{sync::mpsc, time};", &[]),
            (other, "#[cfg(test)] mod tests { fn f() { tokio::spawn(g()); } }", &[]),
            ("crates/callboard/src/server.rs", "fn f() { tokio::spawn(g()); }", &[]),
            ("crates/callboard/tests/serve.rs", "fn f() { tokio::spawn(g()); }", &[]),
            ("crates/callboard/src/server_page.rs", "fn f() { tokio::spawn(g()); }", &[1]),
        ];
        for (path, source, expected) in cases {
            assert_eq!(lines(&check_spawns(&RustFile::read(path, source))), expected, "{path}: {source}");
        }
    }

    #[test]
    fn owners_exist() {
        let all: Vec<(&str, &str)> = OWNERS.iter().map(|owner| (*owner, "")).collect();
        assert!(check_owners(&Tree::of(&all)).is_empty());
        assert_eq!(check_owners(&Tree::of(&all[1..])).len(), 1);
    }

    #[test]
    fn lints_are_inherited() {
        let cases = [
            ("crates/a/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n", 0),
            ("crates/a/Cargo.toml", "[package]\nworkspace = true\n", 1),
            ("crates/a/Cargo.toml", "[lints]\n[dependencies]\nworkspace = true\n", 1),
            ("Cargo.toml", "[workspace]\n", 0),
        ];
        for (path, manifest, expected) in cases {
            assert_eq!(check_manifests(&Tree::of(&[(path, manifest)])).len(), expected, "{manifest}");
        }
    }
}
