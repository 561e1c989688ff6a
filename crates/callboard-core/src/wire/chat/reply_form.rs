//! Whether a reply is a stream of events or a whole body. Servers name the wrong type now and then; the first characters
//! do not lie, as the JSON of a reply begins otherwise than any line of a stream.

/// Each line of a stream begins with one of these.
const BEGINNINGS: [&[u8]; 6] = [b"data:", b":", b"event:", b"id:", b"retry:", b"error:"];

/// The beginning of a reply whose form is not yet certain.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// What has come, without the space before it.
    pub(super) head: Vec<u8>,
}

impl Beginning {
    /// Takes bytes; says whether it is a stream as soon as that is certain.
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
            let mut whole = Beginning::default();
            assert_eq!(whole.feed(text.as_bytes(), declared_stream), expected, "{text}");
            let mut pieces = Beginning::default();
            let decided = text.as_bytes().chunks(1).find_map(|piece| pieces.feed(piece, declared_stream));
            assert_eq!(decided, expected, "{text} byte by byte");
        }
    }
}
