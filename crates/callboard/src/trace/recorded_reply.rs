//! The reply of a model server as it came, where it may be recorded.

use super::content::MOST_BYTES;

/// The bytes so far, up to the most that are kept.
#[derive(Debug, Default)]
pub(super) struct RecordedReply {
    kept: Vec<u8>,
    length: usize,
}

impl RecordedReply {
    /// Adds a piece.
    pub(super) fn add(&mut self, piece: &[u8]) {
        let room = MOST_BYTES.saturating_sub(self.kept.len()).min(piece.len());
        self.kept.extend_from_slice(piece.get(..room).unwrap_or_default());
        self.length += piece.len();
    }

    /// Its text, and its length in bytes: larger than the text where that was cut. Nothing of an empty reply.
    pub(super) fn text_and_length(self) -> (Option<String>, Option<usize>) {
        let text = String::from_utf8_lossy(&self.kept).into_owned();
        (Some(text).filter(|text| !text.is_empty()), Some(self.length).filter(|length| *length > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_replies_are_cut_and_counted() {
        let mut reply = RecordedReply::default();
        reply.add("ü".as_bytes());
        reply.add(&vec![b'a'; MOST_BYTES]);
        let (text, length) = reply.text_and_length();
        assert_eq!((text.unwrap().len(), length), (MOST_BYTES, Some(MOST_BYTES + 2)));
        assert_eq!(RecordedReply::default().text_and_length(), (None, None));
    }
}
