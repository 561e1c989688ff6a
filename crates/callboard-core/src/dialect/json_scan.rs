//! Finds the end of a JSON object or list, or of a Python call, in text that is still arriving.
//!
//! The scan remembers where it stopped, so every byte is read once. It knows strings (also in
//! single quotes, as Python writes them), so a brace in a string does not end an object; it checks
//! nothing else, because damaged JSON is passed on and repaired by the contract.

use super::input::{Incomplete, ReadResult, begins_any};

/// Marks that end damaged JSON outside of a string.
const STOPS: [&str; 10] = [
    "</tool_call>",
    "<tool_call>",
    "</function>",
    "<function=",
    "</function_calls>",
    "</tool_calls>",
    "</invoke>",
    "</minimax:tool_call>",
    "<|",
    "<｜",
];

/// The mark that may end JSON inside a string whose closing quote is missing.
const STOP_IN_STRING: &str = "</tool_call>";

/// How far an object reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Its end has not arrived.
    Open,
    /// It ends before this position.
    Closed(usize),
    /// It broke off before this position, where markup begins.
    BrokenOff(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanMode {
    Structure,
    DoubleQuoted,
    SingleQuoted,
    /// After a single quote that ends the string if a structural character follows.
    MaybeUnquoted,
}

/// A scan that resumes when more text has arrived.
#[derive(Debug)]
pub(super) struct ObjectScan {
    at: usize,
    depth: usize,
    mode: ScanMode,
    /// The last character that is not whitespace, outside of strings.
    previous: u8,
}

impl ObjectScan {
    /// A scan from `at`, where an object or a list opens.
    pub(super) fn new(at: usize) -> Self {
        Self { at, depth: 0, mode: ScanMode::Structure, previous: b':' }
    }

    /// Where the scan continues.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Scans to the end of `body`, which holds all that was seen before and more.
    pub(super) fn advance(&mut self, body: &str, ended: bool) -> Extent {
        loop {
            if self.mode == ScanMode::DoubleQuoted {
                self.skip_string_text(body);
            }
            match body.as_bytes().get(self.at) {
                None => return Extent::Open,
                Some(b'<') => match self.stops(body, ended) {
                    Ok(true) => return Extent::BrokenOff(self.at),
                    Err(Incomplete) => return Extent::Open,
                    Ok(false) => _ = self.take(b'<'),
                },
                Some(&byte) if self.take(byte) => return Extent::Closed(self.at),
                Some(_) => {}
            }
        }
    }

    fn skip_string_text(&mut self, body: &str) {
        let rest = body.as_bytes().get(self.at..).unwrap_or_default();
        self.at += memchr::memchr3(b'"', b'\\', b'<', rest).unwrap_or(rest.len());
    }

    /// Takes one character; true when it closes the whole object.
    fn take(&mut self, byte: u8) -> bool {
        self.at += 1;
        match self.mode {
            ScanMode::DoubleQuoted | ScanMode::SingleQuoted if byte == b'\\' => self.at += 1,
            ScanMode::DoubleQuoted if byte == b'"' => self.mode = ScanMode::Structure,
            ScanMode::SingleQuoted if byte == b'\'' => self.mode = ScanMode::MaybeUnquoted,
            ScanMode::DoubleQuoted | ScanMode::SingleQuoted => {}
            ScanMode::MaybeUnquoted => return self.take_after_quote(byte),
            ScanMode::Structure => return self.take_structure(byte),
        }
        false
    }

    fn take_after_quote(&mut self, byte: u8) -> bool {
        match byte {
            b',' | b':' | b'}' | b']' | b')' => {
                self.mode = ScanMode::Structure;
                self.take_structure(byte)
            }
            b'\'' => false,
            _ if byte.is_ascii_whitespace() => false,
            _ => {
                self.mode = ScanMode::SingleQuoted;
                false
            }
        }
    }

    fn take_structure(&mut self, byte: u8) -> bool {
        match byte {
            b'{' | b'[' | b'(' => self.depth += 1,
            b'}' | b']' | b')' => self.depth = self.depth.saturating_sub(1),
            b'"' => self.mode = ScanMode::DoubleQuoted,
            b'\'' if matches!(self.previous, b'{' | b'[' | b'(' | b',' | b':' | b'=') => {
                self.mode = ScanMode::SingleQuoted;
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.previous = byte;
        }
        self.depth == 0 && matches!(byte, b'}' | b']' | b')')
    }

    fn stops(&self, body: &str, ended: bool) -> ReadResult<bool> {
        let (before, rest) = body.split_at_checked(self.at).unwrap_or_default();
        if self.mode == ScanMode::Structure {
            return begins_any(rest, &STOPS, ended);
        }
        if !before.trim_ascii_end().ends_with('}') || !begins_any(rest, &[STOP_IN_STRING], ended)? {
            return Ok(false);
        }
        match rest.as_bytes().get(STOP_IN_STRING.len()) {
            None if !ended => Err(Incomplete),
            next => Ok(matches!(next, None | Some(b'\n' | b'\r' | b'<'))),
        }
    }
}

/// The length of the quoted string that `text` begins with, quotes included; all of `text` if it is not closed.
pub(super) fn quoted_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes.first().copied().unwrap_or(b'"');
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == b'\\' {
            at += 1;
        } else if byte == quote && (quote == b'"' || ends_single_quoted(text, at)) {
            return at;
        }
    }
    text.len()
}

fn ends_single_quoted(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default().trim_ascii_start();
    rest.is_empty() || rest.starts_with([',', ':', '}', ']', ')'])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each object is followed by a tail; `|` is where it must end.
    const CLOSED: [&str; 9] = [
        r#"{}|"#,
        r#"{"a": {"b": [1, 2]}}| tail"#,
        r#"{"a": "} ]"}|}"#,
        r#"{"a": "\"}"}|}"#,
        r#"{"a": "\\"}|}"#,
        r#"{'a': 'it''s } here'}|]"#,
        r#"{'a': 'don't }'}|"#,
        r#"[{"a": "</tool"}, 5]|"#,
        r#"{"a": "x</tool_call>"}|</tool_call>"#,
    ];

    const BROKEN_OFF: [&str; 4] = [
        r#"{"a": {"b": 1}|</tool_call>"#,
        r#"{"a": b"}}|</tool_call>"#,
        "{\"a\": b\"}}|</tool_call>\n{\"c\": 1}",
        r#"{"a": 1 |<|call|>"#,
    ];

    fn check(marked: &str, make: fn(usize) -> Extent) {
        let (object, tail) = marked.split_once('|').unwrap();
        let text = format!("{object}{tail}");
        assert_eq!(ObjectScan::new(0).advance(&text, true), make(object.len()), "{marked}");
        let mut scan = ObjectScan::new(0);
        let found = (1..=text.len())
            .filter(|&cut| text.is_char_boundary(cut))
            .map(|cut| scan.advance(&text[..cut], cut == text.len()))
            .find(|extent| *extent != Extent::Open);
        assert_eq!(found, Some(make(object.len())), "{marked} byte by byte");
    }

    #[test]
    fn objects_end_where_their_braces_do() {
        for marked in CLOSED {
            check(marked, Extent::Closed);
        }
    }

    #[test]
    fn damaged_objects_end_at_markup() {
        for marked in BROKEN_OFF {
            check(marked, Extent::BrokenOff);
        }
    }
}
