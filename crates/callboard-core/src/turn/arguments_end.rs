//! Whether the streamed arguments of a call are complete so far: one or more JSON values and nothing open.
//!
//! Every byte is scanned once for brackets and parsed once: complete values are not reread, and broken JSON stays broken.

use serde::de::IgnoredAny;

/// A scan that continues when more text arrives.
#[derive(Debug, Default)]
pub(super) struct ArgumentsEnd {
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// How many bytes are complete values.
    parsed: usize,
    broken: bool,
    complete: bool,
}

impl ArgumentsEnd {
    /// Continues to the end of `text`, which begins with all text scanned before.
    pub(super) fn advance(&mut self, text: &str) {
        for byte in text.as_bytes().get(self.scanned..).unwrap_or_default() {
            self.scan(*byte);
        }
        self.scanned = text.len();
        let closed = self.depth == 0 && !self.in_string && text.ends_with(['}', ' ', '\n', '"']);
        self.complete = closed && !self.broken && self.parse(text);
    }

    /// Whether the text so far is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    fn scan(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn parse(&mut self, text: &str) -> bool {
        let rest = text.get(self.parsed..).unwrap_or_default();
        let values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        self.broken = values.into_iter().any(|value| value.is_err());
        self.parsed = text.len();
        !self.broken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole_at_once(text: &str) -> bool {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
        text.ends_with(['}', ' ', '\n', '"']) && values.all(|value| value.is_ok())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_beginning_is_judged_as_if_it_had_come_at_once(
            parts in prop::collection::vec(
                prop::sample::select(vec!["{", "}", "[", "]", "\"", "\\", ":", ",", " ", "\n", "1", "-", "true", "\"a\":", "{}", "é"]),
                0..14,
            ),
        ) {
            let (mut end, mut text) = (ArgumentsEnd::default(), String::new());
            for part in parts {
                text.push_str(part);
                end.advance(&text);
                prop_assert_eq!(end.is_complete(), whole_at_once(&text), "{:?}", text);
            }
        }
    }
}
