//! Messages and texts in a trace: lengths always, content only where the settings allow it.

use serde::Serialize;
use serde_json::value::RawValue;

/// Longer texts are cut, so that one turn cannot fill the store.
pub(super) const MOST_BYTES: usize = 256 << 10;

/// The input of the model.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RecordedInput {
    /// Bytes of messages and tools.
    pub bytes: usize,
    /// The messages, if they may be recorded and are not too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Box<RawValue>>,
    /// The request as the client sent it, under the same conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<RawValue>>,
    /// The conversation that the client named in a header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_conversation: Option<String>,
}

/// The text of the reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordedOutput {
    /// Bytes of text.
    pub bytes: usize,
    /// The text, if it may be recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl RecordedInput {
    /// The input of a request; `messages` only if they may be recorded.
    pub(super) fn new(bytes: usize, messages: Option<&str>) -> Self {
        Self { bytes, messages: messages.and_then(recorded_json), ..Self::default() }
    }
}

impl RecordedOutput {
    /// Adds a piece of text, which is recorded only if it may be.
    pub(super) fn add(&mut self, piece: &str, record: bool) {
        self.bytes += piece.len();
        if record {
            let text = self.text.get_or_insert_default();
            let room = MOST_BYTES.saturating_sub(text.len());
            text.push_str(head(piece, room));
        }
    }
}

/// JSON text that may be recorded; none if it is too long.
pub(super) fn recorded_json(text: &str) -> Option<Box<RawValue>> {
    let short = Some(text).filter(|text| text.len() <= MOST_BYTES);
    short.and_then(|text| RawValue::from_string(text.to_owned()).ok())
}

/// A text that may be recorded, cut if it is too long.
pub(super) fn kept(text: &str) -> String {
    let head = head(text, MOST_BYTES);
    if head.len() == text.len() {
        return head.to_owned();
    }
    format!("{head}… [cut: {} of {} bytes]", head.len(), text.len())
}

/// The longest prefix of at most `most` bytes that ends between characters.
fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, most, expected) in [("abc", 5, "abc"), ("abc", 2, "ab"), ("aü", 2, "a"), ("ü", 1, ""), ("", 0, "")]
        {
            assert_eq!(head(text, most), expected);
        }
        let long = "ü".repeat(MOST_BYTES);
        assert!(kept(&long).ends_with(&format!("… [cut: {MOST_BYTES} of {} bytes]", 2 * MOST_BYTES)));
        assert_eq!(kept("short"), "short");
    }

    #[test]
    fn content_is_recorded_only_where_allowed() {
        let (mut without, mut with) = (RecordedOutput::default(), RecordedOutput::default());
        for piece in ["Hel", "lo"] {
            without.add(piece, false);
            with.add(piece, true);
        }
        assert_eq!((without.bytes, without.text), (5, None));
        assert_eq!((with.bytes, with.text.as_deref()), (5, Some("Hello")));
        assert!(RecordedInput::new(9, None).messages.is_none());
        assert_eq!(RecordedInput::new(9, Some("[1]")).messages.map(|raw| raw.get().to_owned()).as_deref(), Some("[1]"));
    }
}
