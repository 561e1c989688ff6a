//! The size of a compiled regular expression, estimated from its syntax before anything is compiled.
//!
//! A short pattern can compile to megabytes: `\p{L}{120}` repeats an automaton of 80 KB 120 times.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};

/// One state of a compiled automaton.
const STATE_BYTES: usize = 32;
/// Charged per byte of a pattern whose syntax is not understood here.
const UNKNOWN_BYTES: usize = 1024;

/// What a pattern costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternSize {
    /// Compiled size.
    pub(super) bytes: usize,
    /// Look-around or back-references: matched by backtracking.
    pub(super) backtracks: bool,
}

/// The estimated size of a pattern in ECMA syntax.
pub(super) fn pattern_size(pattern: &str) -> PatternSize {
    let translated = jsonschema_regex::to_rust_regex(pattern).unwrap_or(pattern.into());
    if let Ok(hir) = regex_syntax::parse(&translated) {
        return PatternSize { bytes: bytes_of(&hir), backtracks: false };
    }
    let unknown = pattern.len().saturating_mul(UNKNOWN_BYTES);
    let bytes = regex_syntax::parse(&without_lookaround(&translated)).map_or(unknown, |hir| bytes_of(&hir));
    PatternSize { bytes: bytes.saturating_add(pattern.len()), backtracks: true }
}

fn bytes_of(hir: &Hir) -> usize {
    states(hir).saturating_add(1).saturating_mul(STATE_BYTES)
}

fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Class(Class::Unicode(class)) => class_states(class),
        HirKind::Capture(capture) => states(&capture.sub).saturating_add(2),
        HirKind::Repetition(repetition) => {
            let copies = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(1) as usize;
            states(&repetition.sub).saturating_add(1).saturating_mul(copies)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().fold(1, |sum, part| sum.saturating_add(states(part)))
        }
    }
}

/// A range of characters becomes about one state per byte of its UTF-8 form.
fn class_states(class: &ClassUnicode) -> usize {
    class.ranges().iter().map(|range| range.end().len_utf8()).sum()
}

/// The pattern with look-around groups as plain groups and back-references left out: its size is about the same.
fn without_lookaround(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let group = ["(?=", "(?!", "(?<=", "(?<!"].into_iter().find(|group| rest.starts_with(group));
        let (taken, written) = match (group, first) {
            (Some(group), _) => (group.len(), "(?:"),
            (None, '\\') => escape(rest),
            (None, _) => (first.len_utf8(), rest.get(..first.len_utf8()).unwrap_or_default()),
        };
        plain.push_str(written);
        rest = rest.get(taken..).unwrap_or_default();
    }
    plain
}

/// The length of the escape that begins a text, and what is kept of it.
fn escape(text: &str) -> (usize, &str) {
    let escaped = text.chars().nth(1);
    let length = 1 + escaped.map_or(0, char::len_utf8);
    let is_reference = escaped.is_some_and(|character| character.is_ascii_digit() && character != '0');
    (length, if is_reference { "(?:)" } else { text.get(..length).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_what_the_compiler_makes() {
        for (pattern, least, most) in [
            ("^[a-z]+$", 100, 1_000),
            (r"^\d{4}-\d{2}-\d{2}$", 300, 4_000),
            (r"^x1\p{L}{120}$", 4 << 20, 16 << 20),
            (r"^(?=.*\d)(?=.*[a-z]).{8,64}$", 1_000, 100_000),
            (r"^(\w+) \1$", 100, 200_000),
            ("((a{100}){100}){100}", 16 << 20, 1 << 30),
        ] {
            let size = pattern_size(pattern);
            assert!((least..most).contains(&size.bytes), "{pattern}: {size:?}");
        }
    }

    #[test]
    fn lookaround_and_references_backtrack() {
        for (pattern, backtracks) in [("^a$", false), ("(?!x)a", true), (r"(a)\1", true), (r"\\1(?:a)", false)] {
            assert_eq!(pattern_size(pattern).backtracks, backtracks, "{pattern}");
        }
    }
}
