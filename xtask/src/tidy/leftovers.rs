//! Unfinished work does not stay in the tree: neither macros that stand in for code nor notes to come back.
//!
//! Clippy knows the macros too, but only where it is run and the code is compiled; notes it does not see.

use super::problem::Problem;
use super::rust_file::RustFile;

const MACROS: &[&str] = &["dbg", "todo", "unimplemented"];
const NOTES: &[&str] = &["FIXME", "TODO"];

/// Macros and comments that were meant to go away.
pub(super) fn check(file: &RustFile<'_>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = (0..file.code.len())
        .filter(|index| MACROS.contains(&file.word(*index)))
        .filter(|index| file.word(index + 1) == "!" && file.word(index + 2) != "=")
        .map(|index| {
            let wrong = format!("`{}!` was left in", file.word(index));
            Problem::new(file.path, file.line(index), wrong, "write what should happen, or remove it")
        })
        .collect();
    for comment in &file.comments {
        for (offset, line) in comment.text.lines().enumerate() {
            let mut words = line.split(|character: char| !character.is_alphanumeric() && character != '_');
            if let Some(note) = words.find(|word| NOTES.contains(word)) {
                let wrong = format!("a {note} comment");
                let remedy = "do it now, or say what holds today";
                problems.push(Problem::new(file.path, comment.line + offset, wrong, remedy));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::lines;
    use super::*;

    #[test]
    fn nothing_is_left_over() {
        let cases: [(&str, &[usize]); 8] = [
            ("fn f() {\n todo!()\n}", &[2]),
            ("fn f() { dbg!(1); std::unimplemented!(\"x\") }", &[1, 1]),
            ("fn f() { if todo != 1 {} }", &[]),
            ("const A: &str = \"todo!() FIXME\";", &[]),
            ("\n// TODO: later", &[2]),
            ("/* a\n * FIXME(b) */", &[2]),
            ("//! The TODOs of a user are todo items.", &[]),
            ("struct TODO;", &[]),
        ];
        for (source, expected) in cases {
            assert_eq!(lines(&check(&RustFile::read("crates/a/src/b.rs", source))), expected, "{source}");
        }
    }
}
