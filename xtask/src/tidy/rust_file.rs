//! One Rust source as the checks see it: its parts, attributes and functions, and which lines are tests.
//!
//! It describes and does not judge. Items are found by matching brackets, not by a full grammar.

use std::ops::RangeInclusive;

use super::source_parts::{SourceParts, is_word, word_length};

/// A source file.
pub(super) struct RustFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    pub(super) parts: SourceParts,
    line_ends: Vec<usize>,
    /// The lines of each item that is a test.
    tests: Vec<RangeInclusive<usize>>,
}

/// A function with a body.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) length: usize,
}

impl<'a> RustFile<'a> {
    pub(super) fn read(path: &'a str, text: &'a str) -> Self {
        let line_ends = text.match_indices('\n').map(|(end, _)| end).collect();
        let mut file = Self { path, text, parts: SourceParts::of(text), line_ends, tests: Vec::new() };
        let tests = file.attributes().filter(|(_, attribute)| marks_test(attribute));
        file.tests = tests.map(|(start, _)| file.line(start)..=file.line(file.item_end(start))).collect();
        file
    }

    /// The line, from 1, of an offset.
    pub(super) fn line(&self, offset: usize) -> usize {
        1 + self.line_ends.partition_point(|end| *end < offset)
    }

    /// Whether the whole file is a test: it is in a `tests` folder, or is the body of `mod tests;`.
    pub(super) fn is_test_file(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    pub(super) fn is_test(&self, line: usize) -> bool {
        self.is_test_file() || self.tests.iter().any(|test| test.contains(&line))
    }

    /// Where the `#[cfg(test)] mod …` that ends the file begins, if there is one.
    pub(super) fn trailing_test_module(&self) -> Option<usize> {
        let last = self.parts.code.trim_end().lines().count();
        let begins_module = |line: usize| self.text.lines().nth(line).is_some_and(|text| text.starts_with("mod "));
        let tests = self.tests.iter().filter(|test| *test.end() == last && begins_module(*test.start()));
        tests.map(|test| *test.start()).next()
    }

    /// The text inside each `#[…]` and `#![…]`, with its offset.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (usize, &str)> {
        self.parts.code.match_indices('#').filter_map(|(start, _)| {
            let inside = self.parts.code.get(start + 1..)?.trim_start_matches('!').strip_prefix('[')?;
            Some((start, inside.split(']').next()?))
        })
    }

    pub(super) fn functions(&self) -> Vec<Function<'_>> {
        let code = &self.parts.code;
        let keywords = code.match_indices("fn ").map(|(start, _)| start);
        let keywords = keywords.filter(|start| code.get(..*start).is_some_and(|before| !before.ends_with(is_word)));
        keywords
            .filter_map(|start| {
                let (rest, end) = (code.get(start + 3..)?, self.item_end(start));
                let line = self.line(start);
                let function =
                    Function { name: rest.get(..word_length(rest))?, line, length: self.line(end) + 1 - line };
                (code.as_bytes().get(end) == Some(&b'}')).then_some(function)
            })
            .collect()
    }

    /// The offset of the `;` or of the closing brace that ends the item at `start`.
    fn item_end(&self, start: usize) -> usize {
        let mut depth = 0_usize;
        for (offset, byte) in self.parts.code.bytes().enumerate().skip(start) {
            match byte {
                b';' if depth == 0 => return offset,
                b'}' if depth <= 1 => return offset,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.text.len()
    }
}

/// `cfg(test)`, `cfg(all(test, …))`, `test`, `tokio::test` and the like.
fn marks_test(attribute: &str) -> bool {
    let has = |wanted: &str| attribute.split(|character| !is_word(character)).any(|word| word == wanted);
    match attribute.split(['(', '=']).next() {
        Some("cfg") => has("test") && !has("not") && !has("any"),
        name => name.and_then(|name| name.trim().rsplit("::").next()) == Some("test"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_are_known() {
        let cases: [(&str, &str, &[usize]); 8] = [
            ("src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}", &[2, 3, 4, 5]),
            ("src/a.rs", "#[cfg(test)]\nuse a::{b, c};\nfn d() {}", &[1, 2]),
            ("src/a.rs", "#[test]\n#[should_panic]\nfn a() {}\nfn b() {}", &[1, 2, 3]),
            ("src/a.rs", "#[tokio::test(flavor = \"x\")]\nasync fn a() {}", &[1, 2]),
            ("src/a.rs", "#[cfg(not(test))]\nfn a() {}\n#[cfg(feature = \"test\")]\nfn b() {}", &[]),
            ("src/a.rs", "#[cfg(all(test, unix))]\nmod tests;\nfn a() {}", &[1, 2]),
            ("crates/a/tests/b.rs", "fn a() {}", &[1]),
            ("crates/a/src/b/tests.rs", "fn a() {}", &[1]),
        ];
        for (path, source, expected) in cases {
            let file = RustFile::read(path, source);
            let lines: Vec<usize> = (1..=source.lines().count()).filter(|line| file.is_test(*line)).collect();
            assert_eq!(lines, expected, "{source}");
        }
    }

    #[test]
    fn functions_are_measured_from_name_to_brace() {
        let source = "fn a() -> [u8; 3] {\n  [1, 2, 3]\n}\ntrait T { fn b(); const fn c() {} }\ntype F = fn(u8) -> u8;";
        let file = RustFile::read("src/a.rs", source);
        let found: Vec<(&str, usize, usize)> =
            file.functions().iter().map(|function| (function.name, function.line, function.length)).collect();
        assert_eq!(found, [("a", 1, 3), ("c", 4, 1)]);
    }

    #[test]
    fn only_a_test_module_at_the_end_is_trailing() {
        let cases = [
            ("fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\n", Some(2)),
            ("#[cfg(test)]\nmod tests {}\nfn a() {}", None),
            ("fn a() {}\n#[cfg(test)]\nfn b() {}", None),
            ("fn a() {}\nmod tests {}", None),
        ];
        for (source, expected) in cases {
            assert_eq!(RustFile::read("src/a.rs", source).trailing_test_module(), expected, "{source}");
        }
    }
}
