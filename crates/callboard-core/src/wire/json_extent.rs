//! Finds where JSON values end without reading them: strings are skipped and brackets counted. Whether a value is JSON at all is found
//! out by the one who reads it.

use std::ops::Range;

use memchr::memchr2;

/// The members of an object: the key with its quotes, and the value. None where the text has not the outline of an object.
pub(super) fn members(text: &str) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut found = Vec::with_capacity(16);
    each_entry(text.as_bytes(), (b'{', b'}'), |bytes, start| {
        let key = start..string_end(bytes, start)?;
        let colon = skip_space(bytes, key.end);
        let value = skip_space(bytes, (bytes.get(colon) == Some(&b':')).then_some(colon + 1)?);
        let end = value_end(bytes, value)?;
        found.push((key, value..end));
        Some(end)
    })?;
    Some(found)
}

/// The items of a list. None where the text has not the outline of a list.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    each_entry(text.as_bytes(), (b'[', b']'), |bytes, start| {
        let end = value_end(bytes, start)?;
        found.push(text.get(start..end)?);
        Some(end)
    })?;
    Some(found)
}

/// Calls `entry` for the start of each entry between the brackets; it returns where the entry ends.
fn each_entry(
    bytes: &[u8],
    (open, close): (u8, u8),
    mut entry: impl FnMut(&[u8], usize) -> Option<usize>,
) -> Option<()> {
    let start = skip_space(bytes, 0);
    let mut at = skip_space(bytes, (bytes.get(start) == Some(&open)).then_some(start + 1)?);
    if bytes.get(at) == Some(&close) {
        return is_end(bytes, at + 1);
    }
    loop {
        at = skip_space(bytes, entry(bytes, at)?);
        match *bytes.get(at)? {
            b',' => at = skip_space(bytes, at + 1),
            byte if byte == close => return is_end(bytes, at + 1),
            _ => return None,
        }
    }
}

fn is_end(bytes: &[u8], at: usize) -> Option<()> {
    (skip_space(bytes, at) == bytes.len()).then_some(())
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => bracket_end(bytes, at),
        _ => {
            let rest = bytes.get(at..)?;
            let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b' ' | b'\t' | b'\n' | b'\r');
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            (length > 0).then_some(at + length)
        }
    }
}

fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = (bytes.get(at) == Some(&b'"')).then_some(at + 1)?;
    loop {
        end += next_mark(bytes.get(end..)?)?;
        if bytes.get(end) == Some(&b'"') {
            return Some(end + 1);
        }
        end += 2;
    }
}

/// The next quote or backslash. A search is set up for long strings only; most are short.
fn next_mark(bytes: &[u8]) -> Option<usize> {
    const SHORT: usize = 4;
    let (words, _) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().take(SHORT).enumerate() {
        if let Some(at) = first_mark(*word) {
            return Some(index * 8 + at);
        }
    }
    let searched = words.len().min(SHORT) * 8;
    Some(searched + memchr2(b'"', b'\\', bytes.get(searched..)?)?)
}

/// The first quote or backslash of eight bytes, all looked at together.
fn first_mark(word: [u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let marks = zero_bytes(word ^ every_byte(b'"')) | zero_bytes(word ^ every_byte(b'\\'));
    (marks != 0).then(|| marks.trailing_zeros() as usize / 8)
}

/// The highest bit of each byte that is zero, and perhaps of bytes behind such a one.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(every_byte(1)) & !word & every_byte(0x80)
}

const fn every_byte(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

fn bracket_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match *bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    fn read(text: &str) -> Option<Vec<(&str, &str)>> {
        Some(members(text)?.into_iter().map(|(key, value)| (&text[key], &text[value])).collect())
    }

    #[test]
    fn members_and_items_have_their_extent() {
        let text = " {\"a\" : 1.5,\n\"b\\\"\":[\"]\",{\"x\":\"\\\\\"}], \"c\":null} ";
        assert_eq!(
            read(text),
            Some(vec![("\"a\"", "1.5"), ("\"b\\\"\"", "[\"]\",{\"x\":\"\\\\\"}]"), ("\"c\"", "null")])
        );
        assert_eq!(read(" {} "), Some(vec![]));
        assert_eq!(items("[1,[2,{}] , \"é,\"]"), Some(vec!["1", "[2,{}]", "\"é,\""]));
        assert_eq!(items("[]"), Some(vec![]));
    }

    #[test]
    fn what_has_no_outline_is_none() {
        let rows = [
            "",
            "{",
            "}",
            "[]",
            "{a:1}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":1 2}",
            "{\"a\":[}",
            "{}{}",
            "{\"a\":\"}",
        ];
        for text in rows {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["", "{}", "[,]", "[1,]", "[1 2]", "[1]]", "[\"]", "[{]"] {
            assert_eq!(items(text), None, "{text}");
        }
    }

    #[test]
    fn marks_are_found_at_every_distance() {
        for filler in [b'#', 0, 0x80 | b'"', 0x80 | b'\\', b'!', b']', 0xff] {
            for distance in 0..70 {
                let mut bytes = vec![filler; 70];
                assert_eq!(next_mark(&bytes[..distance]), None, "{filler} {distance}");
                for mark in [b'"', b'\\'] {
                    bytes[distance] = mark;
                    assert_eq!(next_mark(&bytes), Some(distance), "{filler} {mark}");
                    assert_eq!(next_mark(&bytes[..=distance]), Some(distance), "{filler} {mark}");
                }
            }
        }
    }

    proptest! {
        /// All that is JSON has the same extents as the parser finds, and nothing panics.
        #[test]
        fn extents_are_those_of_the_parser(
            words in prop::collection::vec(
                prop::sample::select(vec!["{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "1", "null", " ", "é", "\"b\":"]), 0..12),
        ) {
            let text = words.concat();
            let (outline, list) = (read(&text), items(&text));
            if let Ok(Value::Object(_)) = serde_json::from_str(&text) {
                prop_assert!(outline.is_some());
            }
            if let Ok(parsed) = serde_json::from_str::<Vec<&RawValue>>(&text) {
                prop_assert_eq!(list, Some(parsed.iter().map(|item| item.get()).collect()));
            }
        }
    }
}
