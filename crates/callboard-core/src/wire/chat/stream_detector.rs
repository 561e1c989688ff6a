//! Detects whether a reply is an event stream or a whole body. Some servers declare the wrong type; the first characters
//! decide, because no line of a stream begins like JSON.

/// How lines of a stream begin.
const BEGINNINGS: [&[u8]; 6] = [b"data:", b":", b"event:", b"id:", b"retry:", b"error:"];

/// The first bytes of a reply, until they are enough to decide.
#[derive(Debug, Default)]
pub(super) struct StreamDetector {
    /// The bytes so far, without leading whitespace.
    pub(super) head: Vec<u8>,
}

impl StreamDetector {
    /// Adds bytes; returns whether it is a stream as soon as that is certain.
    pub(super) fn feed(&mut self, bytes: &[u8], declared_stream: bool) -> Option<bool> {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(byte);
        let skipped = if self.head.is_empty() { bytes.iter().take_while(|byte| blank(byte)).count() } else { 0 };
        self.head.extend_from_slice(bytes.get(skipped..).unwrap_or_default());
        match self.head.as_slice() {
            [] => None,
            [b'{' | b'[', ..] => Some(false),
            _ if declared_stream => Some(true),
            head if BEGINNINGS.iter().any(|line| head.starts_with(line)) => Some(true),
            head if BEGINNINGS.iter().any(|line| line.starts_with(head)) => None,
            _ => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_characters_decide_however_they_are_cut() {
        for (text, declared_stream, expected) in [
            ("data: {}", true, Some(true)),
            ("data: {}", false, Some(true)),
            (": ping", false, Some(true)),
            ("\u{feff}\r\n event: x", false, Some(true)),
            ("{\"choices\":[]}", true, Some(false)),
            ("\u{feff} {}", false, Some(false)),
            ("<html>", true, Some(true)),
            ("<html>", false, Some(false)),
            ("internal error", false, Some(false)),
            ("dat", false, None),
            (" \n", true, None),
        ] {
            let mut whole = StreamDetector::default();
            assert_eq!(whole.feed(text.as_bytes(), declared_stream), expected, "{text}");
            let mut pieces = StreamDetector::default();
            let decided = text.as_bytes().chunks(1).find_map(|piece| pieces.feed(piece, declared_stream));
            assert_eq!(decided, expected, "{text} byte by byte");
        }
    }
}
