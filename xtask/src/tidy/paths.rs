//! Every path a Rust source names, in imports and in code, written out in full.
//!
//! `use std::{fs, time as t}` gives `std::fs` and `std::time`; a later `t::Instant` gives `std::time::Instant`;
//! `super::wire` in `turn/step.rs` gives `crate::wire`. Names that come through a glob or a macro are not followed.

use std::collections::HashMap;

use super::rust_file::RustFile;

/// How many imports of imports are followed; a cycle ends there too.
const ALIAS_DEPTH: usize = 8;

/// A path with the token it starts at.
#[derive(Debug)]
pub(super) struct NamedPath {
    pub(super) segments: Vec<String>,
    pub(super) index: usize,
}

/// An import as written: its path and the name it goes by in this file.
struct Import {
    path: NamedPath,
    name: String,
}

impl NamedPath {
    /// Whether this path names `target` or something in it; a glob names all that lies in its module.
    pub(super) fn reaches(&self, target: &str) -> bool {
        if self.is_within(target) {
            return true;
        }
        let Some(("*", module)) = self.segments.split_last().map(|(last, module)| (last.as_str(), module)) else {
            return false;
        };
        let target: Vec<&str> = target.split("::").collect();
        target.len() > module.len() && module.iter().zip(&target).all(|(left, right)| left == right)
    }

    /// Whether this path is `target` or lies in it.
    pub(super) fn is_within(&self, target: &str) -> bool {
        let mut segments = self.segments.iter();
        target.split("::").all(|part| segments.next().is_some_and(|segment| segment == part))
    }
}

/// All paths of a file: imports first, then those written out in code.
pub(super) fn named_paths(file: &RustFile<'_>) -> Vec<NamedPath> {
    let mut imports = Vec::new();
    let mut written = Vec::new();
    let mut index = 0;
    while index < file.code.len() {
        index = match (file.word(index), file.word(index + 1)) {
            ("use", next) if next != "<" => read_use(file, index, &mut imports),
            _ => read_written(file, index, &mut written),
        };
    }
    let names: HashMap<String, Vec<String>> =
        imports.iter().map(|import| (import.name.clone(), absolute(file, &import.path))).collect();
    imports
        .into_iter()
        .map(|import| import.path)
        .chain(written)
        .map(|path| NamedPath { segments: follow_names(absolute(file, &path), &names), index: path.index })
        .collect()
}

/// The branch of an import's tree that is being read.
#[derive(Default)]
struct Branch {
    segments: Vec<String>,
    start: Option<usize>,
    name_follows: bool,
    name: Option<String>,
}

impl Branch {
    fn under(group: &[String]) -> Self {
        Self { segments: group.to_vec(), ..Self::default() }
    }

    fn push(&mut self, word: &str, index: usize) {
        if self.name_follows {
            self.name = Some(word.to_owned());
        } else if word == "as" {
            self.name_follows = true;
        } else {
            self.segments.push(word.to_owned());
            self.start.get_or_insert(index);
        }
    }

    /// The import that this branch is; none if it added nothing to its group.
    fn finish(mut self) -> Option<Import> {
        let index = self.start?;
        if self.segments.len() > 1 {
            self.segments.pop_if(|last| last == "self");
        }
        let name = self.name.or_else(|| self.segments.last().cloned())?;
        let path = NamedPath { segments: self.segments, index };
        Some(Import { path, name })
    }
}

/// Reads the tree of one `use` and returns the place past it.
fn read_use(file: &RustFile<'_>, keyword: usize, imports: &mut Vec<Import>) -> usize {
    let end = file.item_end(keyword);
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut branch = Branch::default();
    for index in keyword + 1..=end {
        match file.word(index) {
            "{" => {
                let group = std::mem::take(&mut branch).segments;
                branch = Branch::under(&group);
                groups.push(group);
            }
            "}" => {
                imports.extend(std::mem::take(&mut branch).finish());
                groups.pop();
            }
            "," | ";" => {
                imports.extend(std::mem::take(&mut branch).finish());
                branch = Branch::under(groups.last().map_or(&[], Vec::as_slice));
            }
            ":" => {}
            word => branch.push(word, index),
        }
    }
    end + 1
}

/// Reads `a::b::c` if it starts at `start`, and returns the place past it.
fn read_written(file: &RustFile<'_>, start: usize, written: &mut Vec<NamedPath>) -> usize {
    if !file.is_identifier(start) {
        return start + 1;
    }
    let mut segments = vec![file.word(start).to_owned()];
    let mut end = start + 1;
    while file.word(end) == ":" && file.word(end + 1) == ":" && file.is_identifier(end + 2) {
        segments.push(file.word(end + 2).to_owned());
        end += 3;
    }
    if segments.len() > 1 {
        written.push(NamedPath { segments, index: start });
    }
    end
}

/// The path with a leading `self` or `super` replaced by the module it means.
fn absolute(file: &RustFile<'_>, path: &NamedPath) -> Vec<String> {
    let first = path.segments.first().map_or("", String::as_str);
    if !matches!(first, "self" | "super") {
        return path.segments.clone();
    }
    let mut module = vec!["crate".to_owned()];
    module.extend(module_of(file.path).map(str::to_owned));
    module.extend(file.modules_around(path.index).map(str::to_owned));
    let mut segments = path.segments.iter().peekable();
    while let Some(step) = segments.next_if(|segment| matches!(segment.as_str(), "self" | "super")) {
        if step == "super" && module.len() > 1 {
            module.pop();
        }
    }
    module.extend(segments.cloned());
    module
}

/// The module that a file is, below its crate: `src/store/sqlite.rs` is `store`, `sqlite`.
pub(super) fn module_of(path: &str) -> impl Iterator<Item = &str> {
    let inside = path.split_once("/src/").map_or("", |(_, inside)| inside);
    inside.strip_suffix(".rs").unwrap_or(inside).split('/').filter(|part| !matches!(*part, "" | "mod" | "lib" | "main"))
}

/// The path with an imported first name replaced by what was imported.
fn follow_names(mut segments: Vec<String>, names: &HashMap<String, Vec<String>>) -> Vec<String> {
    for _ in 0..ALIAS_DEPTH {
        let Some(first) = segments.first() else { break };
        let Some(full) = names.get(first).filter(|full| full.first() != Some(first)) else {
            break;
        };
        segments.splice(0..1, full.iter().cloned());
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_of(path: &str, source: &str) -> Vec<String> {
        named_paths(&RustFile::read(path, source)).iter().map(|named| named.segments.join("::")).collect()
    }

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
            ("mod tests { use super::*; }", &["crate::turn::step::*"]),
            ("fn f() -> impl Fn() + use<'a> { a::b::<std::fs::File>() }", &["a::b", "std::fs::File"]),
            ("struct S { a: ::std::fs::File }", &["std::fs::File"]),
            ("use tokio::task; use task::spawn;", &["tokio::task", "tokio::task::spawn"]),
            ("// std::fs::read\nfn f() { \"std::fs::read\"; x.fs(y) }", &[]),
        ];
        for (source, expected) in cases {
            assert_eq!(paths_of(step, source), expected, "{source}");
        }
    }

    #[test]
    fn imports_that_name_each_other_end() {
        assert_eq!(paths_of("src/a.rs", "use a::b; use b::a;").len(), 2);
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
            let named = NamedPath { segments: path.split("::").map(str::to_owned).collect(), index: 0 };
            assert_eq!(named.reaches(target), expected, "{path} {target}");
        }
    }
}
