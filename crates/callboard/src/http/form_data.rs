//! The fields of a `multipart/form-data` body (RFC 7578), as places in it.

use std::ops::Range;

use callboard_core::model::BadRequest;

/// The heads of parts are short.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// Where the values of all fields of this name are.
pub(super) fn fields(content_type: &str, body: &[u8], name: &str) -> Result<Vec<Range<usize>>, BadRequest> {
    let bad = |what: &str| BadRequest::whole("invalid_form", format!("the request body is no form: {what}"));
    let boundary = boundary(content_type).ok_or_else(|| bad("its content-type names no boundary"))?;
    let delimiter = Search::new(format!("\r\n--{boundary}"));
    let first = format!("--{boundary}");
    // The first delimiter may be at the very beginning.
    let mut at = match body.starts_with(first.as_bytes()) {
        true => first.len(),
        false => delimiter.find(body, 0).ok_or_else(|| bad("it has no part"))? + delimiter.len(),
    };
    let mut found = Vec::new();
    while !body.get(at..).is_some_and(|rest| rest.starts_with(b"--")) {
        let start = at + head_length(body.get(at..).unwrap_or_default()).ok_or_else(|| bad("a part has no head"))?;
        // A part without a value may end where its head does.
        let from = start.saturating_sub(2);
        let end = delimiter.find(body, from).ok_or_else(|| bad("a part does not end"))?;
        if field_name(body.get(at..start).unwrap_or_default()).is_some_and(|own| own == name) {
            found.push(start..end.max(start));
        }
        at = end + delimiter.len();
    }
    Ok(found)
}

fn boundary(content_type: &str) -> Option<String> {
    let parameters = content_type.split(';').skip(1);
    let written = parameters.filter_map(|parameter| parameter.split_once('='));
    let named = written.filter(|(name, _)| name.trim().eq_ignore_ascii_case("boundary")).map(|(_, value)| value.trim());
    named.map(|value| value.trim_matches('"').to_owned()).find(|value| !value.is_empty())
}

/// The length of the head of a part, with the empty line behind it.
fn head_length(part: &[u8]) -> Option<usize> {
    let head = part.get(..part.len().min(MOST_HEAD_BYTES))?;
    head.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

/// The name in the part's `Content-Disposition`.
fn field_name(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    let (_, disposition) = lines.find(|(name, _)| name.trim().eq_ignore_ascii_case("content-disposition"))?;
    let mut parameters = disposition.split(';').filter_map(|parameter| parameter.split_once('='));
    let (_, name) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("name"))?;
    Some(name.trim().trim_matches('"').to_owned())
}

/// A search for bytes that skips most of what it passes (Horspool): files may be large.
struct Search {
    wanted: Vec<u8>,
    skips: [usize; 256],
}

impl Search {
    fn new(wanted: String) -> Self {
        let wanted = wanted.into_bytes();
        let mut skips = [wanted.len(); 256];
        for (at, byte) in wanted.iter().enumerate().take(wanted.len().saturating_sub(1)) {
            skips[usize::from(*byte)] = wanted.len() - 1 - at;
        }
        Self { wanted, skips }
    }

    fn len(&self) -> usize {
        self.wanted.len()
    }

    fn find(&self, body: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(window) = body.get(at..at.checked_add(self.wanted.len())?) {
            if window == self.wanted {
                return Some(at);
            }
            at += window.last().map_or(1, |last| self.skips[usize::from(*last)]);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_first_place() {
        let search = Search::new("abab".to_owned());
        for (text, from, place) in [
            ("abab", 0, Some(0)),
            ("xabaabab", 0, Some(4)),
            ("ababab", 1, Some(2)),
            ("aba", 0, None),
            ("abab", 9, None),
        ] {
            assert_eq!(search.find(text.as_bytes(), from), place, "{text}");
        }
    }

    #[test]
    fn values_of_all_kinds_are_found() {
        let kind = "multipart/form-data; boundary=x";
        for (body, values) in [
            ("--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--", &["1"][..]),
            ("preamble\r\n--x\r\ncontent-disposition:form-data;name=a\r\nX: y\r\n\r\n\r\n--x--\r\n", &[""]),
            ("--x\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\na\r\n--x--", &[]),
            ("--x--", &[]),
        ] {
            let found = fields(kind, body.as_bytes(), "a").unwrap();
            let found: Vec<&str> = found.into_iter().map(|place| &body[place]).collect();
            assert_eq!(found, values, "{body}");
        }
    }
}
