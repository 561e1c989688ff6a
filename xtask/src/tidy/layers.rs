//! The order of modules: each module of a crate may import the modules below it, never one above.
//!
//! `LAYERS` is the only list. A module that is not on it and a listed module that does not exist are both reported, so the
//! list stays true. Tests are exempt: they may use a module from outside, as its callers do.

use std::collections::BTreeSet;

use super::problem::Problem;
use super::rust_file::RustFile;
use super::rust_paths::{module_of, named_paths};
use super::tree::Tree;

/// A crate under `crates/` and its modules, topmost first.
type Layers = (&'static str, &'static [&'static str]);

/// One line per module, so that renaming a module is one line here.
#[rustfmt::skip]
const LAYERS: &[Layers] = &[
    ("callboard", &[
        "author",
        "cli",
        "server",
        "greeting",
        "periodic_tasks",
        "app",
        "http",
        "services",
        "session",
        "conversation",
        "characters",
        "server_findings",
        "trace",
        "store",
        "upstream",
        "telemetry",
        "memory_budget",
        "config",
        "clock",
        "percent",
        "hex",
        "random",
        "timer_floor",
        "socket_options",
        "open_files",
        "shutdown_requested",
    ]),
    ("callboard-core", &[
        "rehearsal",
        "wire",
        "turn",
        "contract",
        "dialect",
        "names",
        "journal",
        "model",
    ]),
    ("callboard-python", &[
        "host",
        "character",
        "supervisor",
        "manifest",
        "settings",
        "output",
        "problem",
        "error",
        "interpreter_check",
        "environment",
        "sandbox",
    ]),
];

const THIS_FILE: &str = "xtask/src/tidy/layers.rs";

/// Modules that are not listed, and listed modules that do not exist.
pub(super) fn check_list(tree: &Tree) -> Vec<Problem> {
    compare_list(LAYERS, tree)
}

/// Imports of a module above the file's own, each module once.
pub(super) fn check_imports(file: &RustFile<'_>) -> Vec<Problem> {
    find_upward_imports(LAYERS, file)
}

fn compare_list(layers: &[Layers], tree: &Tree) -> Vec<Problem> {
    let listed: BTreeSet<(&str, &str)> =
        layers.iter().flat_map(|(name, modules)| modules.iter().map(|module| (*name, *module))).collect();
    let mut existing = BTreeSet::new();
    let mut problems = Vec::new();
    for (path, _) in tree.rust_texts() {
        let Some((crate_name, module)) = crate_of(path).zip(module_of(path).next()) else { continue };
        if existing.insert((crate_name, module)) && !listed.contains(&(crate_name, module)) {
            let wrong = format!("module `{module}` of `{crate_name}` has no place in the order of modules");
            problems.push(Problem::new(path, 1, wrong, format!("add it to LAYERS in {THIS_FILE}")));
        }
    }
    problems.extend(listed.difference(&existing).map(|(crate_name, module)| {
        let wrong = format!("`{crate_name}` has no module `{module}`");
        Problem::new(THIS_FILE, 1, wrong, "remove it from LAYERS")
    }));
    problems
}

fn find_upward_imports(layers: &[Layers], file: &RustFile<'_>) -> Vec<Problem> {
    let Some((crate_name, own)) = crate_of(file.path).zip(module_of(file.path).next()) else { return Vec::new() };
    let Some((_, modules)) = layers.iter().find(|(name, _)| *name == crate_name) else { return Vec::new() };
    let rank = |name: &str| modules.iter().position(|module| *module == name);
    let mut reported = BTreeSet::new();
    let paths = named_paths(file).into_iter().filter(|path| !file.is_test(path.line) && path.is_within("crate"));
    paths
        .filter_map(|path| {
            let name = path.path.split("::").nth(1)?;
            let (wrong, remedy) = match rank(name) {
                Some(target) if target >= rank(own)? => return None,
                Some(_) => {
                    (format!("`{own}` imports `{name}`, which is above it"), "pass the value in, or move the code")
                }
                None => (format!("`{name}` is imported from the crate root"), "import it from its module"),
            };
            reported.insert(name.to_owned()).then(|| Problem::new(file.path, path.line, wrong, remedy))
        })
        .collect()
}

fn crate_of(path: &str) -> Option<&str> {
    let (crate_name, inside) = path.strip_prefix("crates/")?.split_once('/')?;
    inside.starts_with("src/").then_some(crate_name)
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    const EXAMPLE: &[Layers] = &[("a", &["http", "session", "store"]), ("b", &["wire"])];

    #[test]
    fn imports_go_down() {
        let cases: [(&str, &str, &[usize]); 13] = [
            ("crates/a/src/http/chat.rs", "use crate::session::Session;\nuse crate::store::Store;", &[]),
            ("crates/a/src/session.rs", "use crate::{store,\nhttp::reply};", &[2]),
            ("crates/a/src/session.rs", "fn f() { crate::http::reply() }", &[1]),
            ("crates/a/src/session/turn.rs", "use super::super::http;", &[1]),
            ("crates/a/src/session/turn.rs", "use super::Part; use crate::session::Session;", &[]),
            ("crates/a/src/store/mod.rs", "use crate::session as s;\nfn f() { s::Session::new() }", &[1]),
            ("crates/a/src/store/mod.rs", "use crate::*;", &[1]),
            ("crates/a/src/http.rs", "use crate::Session;", &[1]),
            ("crates/a/src/lib.rs", "pub use crate::http::Router;", &[]),
            ("crates/a/src/store.rs", "#[cfg(test)]\nmod tests { use crate::http::Router; }", &[]),
            ("crates/a/src/store/tests/cases.rs", "use crate::http::Router;", &[]),
            ("crates/a/tests/program.rs", "use crate::http::Router;", &[]),
            ("crates/b/src/wire.rs", "// crate::http\nconst A: &str = \"crate::http\";", &[]),
        ];
        for (path, source, expected) in cases {
            let problems = find_upward_imports(EXAMPLE, &RustFile::read(path, source));
            assert_eq!(lines(&problems), expected, "{path}: {source}");
        }
    }

    #[test]
    fn the_list_and_the_modules_agree() {
        let complete = [
            "crates/a/src/http/chat.rs",
            "crates/a/src/session.rs",
            "crates/a/src/store/mod.rs",
            "crates/b/src/wire.rs",
        ];
        let cases: [(&[&str], &[&str], &[&str]); 5] = [
            (&[], &[], &[]),
            (&["crates/a/src/lib.rs", "crates/a/src/main.rs", "crates/a/tests/cases.rs"], &[], &[]),
            (&["crates/a/src/page/one.rs", "crates/a/src/page/two.rs"], &[], &["crates/a/src/page/one.rs"]),
            (&["crates/c/src/wire.rs"], &[], &["crates/c/src/wire.rs"]),
            (&[], &["crates/a/src/session.rs"], &[THIS_FILE]),
        ];
        for (added, removed, expected) in cases {
            let paths = complete.iter().chain(added).filter(|path| !removed.contains(path));
            let tree = Tree::of(&paths.map(|path| (*path, "")).collect::<Vec<_>>());
            let found: Vec<String> = compare_list(EXAMPLE, &tree).into_iter().map(|problem| problem.path).collect();
            assert_eq!(found, expected, "with {added:?}, without {removed:?}");
        }
    }
}
