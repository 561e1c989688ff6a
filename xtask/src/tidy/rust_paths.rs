//! Every path a Rust source names, in imports and in code, written out in full.
//!
//! `use std::{fs, time as t}` gives `std::fs` and `std::time`; a later `t::Instant` gives `std::time::Instant`;
//! `super::wire` in `turn/step.rs` gives `crate::wire`. Names that come through a glob or a macro are not followed.

use std::collections::HashMap;

use super::rust_file::RustFile;
use super::source_parts::{is_word, word_length};

/// A path and the line it is on.
#[derive(Debug)]
pub(super) struct NamedPath {
    pub(super) path: String,
    pub(super) line: usize,
}

impl NamedPath {
    /// Whether this path names `target` or something in it; a glob names everything in its module.
    pub(super) fn reaches(&self, target: &str) -> bool {
        self.is_within(target) || self.path.strip_suffix('*').is_some_and(|module| target.starts_with(module))
    }

    /// Whether this path is `target` or is in it.
    pub(super) fn is_within(&self, target: &str) -> bool {
        self.path.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

/// All paths of a file, in its order.
pub(super) fn named_paths(file: &RustFile<'_>) -> Vec<NamedPath> {
    let code = &file.parts.code;
    let (mut paths, mut imports) = (Vec::new(), HashMap::new());
    let mut offset = 0;
    while let Some(rest) = code.get(offset..).filter(|rest| !rest.is_empty()) {
        let length = path_length(rest);
        if let Some(tree) = rest.strip_prefix("use ").and_then(|rest| rest.split(';').next()) {
            for (start, path, name) in expanded("", tree) {
                let path = absolute(file.path, &path);
                imports.insert(name, path.clone());
                paths.push(NamedPath { path, line: file.line(offset + "use ".len() + start) });
            }
            offset += "use ".len() + tree.len();
            continue;
        }
        if let Some(path) = rest.get(..length).filter(|path| path.contains("::")) {
            paths.push(NamedPath { path: absolute(file.path, path), line: file.line(offset) });
        }
        offset += length.max(rest.chars().next().map_or(1, char::len_utf8));
    }
    for named in &mut paths {
        let first = named.path.split("::").next().unwrap_or_default();
        if let Some(full) = imports.get(first) {
            named.path = format!("{full}{}", named.path.trim_start_matches(first));
        }
    }
    paths
}

/// The paths of an import's tree, each with its offset and the name it has in the file.
fn expanded(prefix: &str, tree: &str) -> Vec<(usize, String, String)> {
    let start = tree.len() - tree.trim_start().len();
    let tree = tree.trim().trim_start_matches("::");
    if let Some((parent, group)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) {
        let (mut depth, mut offset) = (0, start + parent.len() + 1);
        let branches = group.split(|character| {
            depth += i32::from(character == '{') - i32::from(character == '}');
            character == ',' && depth == 0
        });
        let mut paths = Vec::new();
        for branch in branches {
            let below = expanded(&format!("{prefix}{parent}"), branch);
            paths.extend(below.into_iter().map(|(start, path, name)| (offset + start, path, name)));
            offset += branch.len() + 1;
        }
        return paths;
    }
    let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
    let full = format!("{prefix}{path}");
    let full = full.strip_suffix("::self").unwrap_or(&full);
    let name = name.or(full.rsplit("::").next()).unwrap_or_default();
    if path.is_empty() { Vec::new() } else { vec![(start, full.to_owned(), name.to_owned())] }
}

/// The length of `a::b::c` at the beginning of `rest`.
fn path_length(rest: &str) -> usize {
    let mut length = word_length(rest);
    while let Some(next) = rest.get(length..).and_then(|after| after.strip_prefix("::"))
        && length > 0
        && next.starts_with(is_word)
    {
        length += 2 + word_length(next);
    }
    length
}

/// The path with a leading `self` or `super` replaced by the module it means.
fn absolute(file_path: &str, path: &str) -> String {
    let mut module: Vec<&str> = ["crate"].into_iter().chain(module_of(file_path)).collect();
    let mut segments = path.split("::").peekable();
    while let Some(step) = segments.next_if(|segment| matches!(*segment, "self" | "super")) {
        if step == "super" {
            module.pop();
        }
    }
    let rest: Vec<&str> = segments.collect();
    if rest.len() == path.split("::").count() { path.to_owned() } else { [module, rest].concat().join("::") }
}

/// The module that a file is, below its crate: `src/store/sqlite.rs` is `store`, `sqlite`.
pub(super) fn module_of(path: &str) -> impl Iterator<Item = &str> {
    let inside = path.split_once("/src/").map_or("", |(_, inside)| inside);
    inside.strip_suffix(".rs").unwrap_or(inside).split('/').filter(|part| !matches!(*part, "" | "mod" | "lib" | "main"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_out_in_full() {
        let step = "crates/a/src/turn/step.rs";
        let cases: [(&str, &[&str]); 11] = [
            ("use std::fs;", &["std::fs"]),
            (
                "pub use std::{fs::{self, File}, time as t}; fn f() { t::Instant::now() }",
                &["std::fs", "std::fs::File", "std::time", "std::time::Instant::now"],
            ),
            ("use ::std::net::*;", &["std::net::*"]),
            ("use {std::fs, std::env};", &["std::fs", "std::env"]),
            ("use super::super::wire;", &["crate::wire"]),
            ("fn f() { super::limits::X; self::y::Z }", &["crate::turn::limits::X", "crate::turn::step::y::Z"]),
            ("fn f() -> impl Fn() + use<'a> { a::b::<std::fs::File>() }", &["a::b", "std::fs::File"]),
            ("struct S { a: ::std::fs::File }", &["std::fs::File"]),
            ("use tokio::task; use task::spawn;", &["tokio::task", "tokio::task::spawn"]),
            ("use a::{b,\n    c::{d, e},\n};", &["a::b", "a::c::d", "a::c::e"]),
            ("// std::fs::read\nfn f() { \"std::fs::read\"; x.fs(y) }", &[]),
        ];
        for (source, expected) in cases {
            let file = RustFile::read(step, source);
            let paths: Vec<String> = named_paths(&file).into_iter().map(|named| named.path).collect();
            assert_eq!(paths, expected, "{source}");
        }
    }

    #[test]
    fn imports_that_name_each_other_end() {
        assert_eq!(named_paths(&RustFile::read("src/a.rs", "use a::b; use b::a;")).len(), 2);
    }

    #[test]
    fn a_path_reaches_what_it_names() {
        let cases = [
            ("std::fs::File", "std::fs", true),
            ("std::fs", "std::fs", true),
            ("std::*", "std::fs", true),
            ("std::fs::*", "std::fs", true),
            ("std::path::*", "std::fs", false),
            ("std", "std::fs", false),
            ("std::fsx", "std::fs", false),
        ];
        for (path, target, expected) in cases {
            assert_eq!(NamedPath { path: path.to_owned(), line: 1 }.reaches(target), expected, "{path} {target}");
        }
    }
}
