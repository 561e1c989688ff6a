//! Names and keys in tags, up to the mark that ends them.

use super::input::{Incomplete, Input, ReadResult, leading, skip_whitespace};

/// No name or key is longer.
const LONGEST: usize = 256;

/// The attribute with which DSML says that a value is JSON and not text.
const JSON_VALUE: &str = "string=\"false\"";

/// A key with the attributes of its tag.
#[derive(Debug)]
pub(super) struct TagKey<'a> {
    pub(super) text: &'a str,
    /// The value begins here.
    pub(super) end: usize,
    /// The value is JSON.
    pub(super) is_json: bool,
}

/// Reads a key: bare, in quotes, or in quotes with further attributes after it. `end_mark` ends it; where a family has a
/// mark before values, that one ends it as well.
pub(super) fn read_key<'a>(
    input: &Input<'a>,
    start: usize,
    end_mark: &str,
    value_mark: &str,
) -> ReadResult<Option<TagKey<'a>>> {
    let rest = input.from(start);
    let window = rest.get(..rest.floor_char_boundary(LONGEST)).unwrap_or_default();
    let marks: Vec<&str> = [end_mark, value_mark].into_iter().filter(|mark| !mark.is_empty()).collect();
    let places = marks.iter().filter_map(|mark| memchr::memmem::find(window.as_bytes(), mark.as_bytes()));
    let Some(length) = places.min() else {
        let may_grow = window.len() == rest.len() && may_grow(window, &marks);
        return if may_grow { Err(Incomplete) } else { Ok(None) };
    };
    let written = window.get(..length).unwrap_or_default().trim_ascii_end();
    let (text, attributes) = parted(written);
    if text.is_empty() || written.contains(['<', '\n']) {
        return Ok(None);
    }
    let end = value_start(input, start + length, end_mark, value_mark)?;
    Ok(Some(TagKey { text, end, is_json: attributes.contains(JSON_VALUE) }))
}

/// Whether `text` is a key as far as it has arrived, with the beginning of one of `marks` at most after it.
fn may_grow(text: &str, marks: &[&str]) -> bool {
    let (key, tail) = text.split_at(text.find('<').unwrap_or(text.len()));
    let breaks_off = tail.is_empty() || marks.iter().any(|mark| mark.starts_with(tail));
    breaks_off && !key.trim_ascii_end().contains('\n')
}

/// A key without its quotes, also one that breaks off.
pub(super) fn bare(written: &str) -> &str {
    parted(leading(written, |character| character != '<').trim_ascii_end()).0
}

/// A key, and the attributes after it.
fn parted(written: &str) -> (&str, &str) {
    match written.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
        None => (written.trim().trim_matches('\''), ""),
    }
}

/// The position of the value after the mark at `at`.
fn value_start(input: &Input<'_>, at: usize, end_mark: &str, value_mark: &str) -> ReadResult<usize> {
    if value_mark.is_empty() {
        return Ok(at + end_mark.len());
    }
    let end = input.behind(at, end_mark);
    let value = skip_whitespace(input.body, end);
    let rest = input.from(value);
    if rest.starts_with(value_mark) {
        return Ok(value + value_mark.len());
    }
    if value_mark.starts_with(rest) {
        return Err(Incomplete);
    }
    input.begins(value, end_mark).map(|_| end)
}
