//! The size of a value as JSON text, and the memory it takes, without writing it.

use std::io::Write;

use callboard_core::wire::parsed_bytes;
use serde::Serialize;

/// The size of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct JsonSize {
    /// Bytes of its JSON text.
    pub(super) text: u64,
    /// The memory it takes, estimated.
    pub(super) memory: usize,
}

/// The size of a value.
pub(super) fn json_size(value: &(impl Serialize + ?Sized)) -> JsonSize {
    let mut counter = Counter(JsonSize::default());
    // The counter takes every value, and what cannot be written has no bytes.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(JsonSize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.text = self.0.text.saturating_add(bytes.len() as u64);
        self.0.memory = self.0.memory.saturating_add(parsed_bytes(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_are_those_of_the_text() {
        for value in [json!(null), json!([]), json!({"a": [1.50, "\u{1f600}\n", {}]})] {
            let text = value.to_string();
            let expected = JsonSize { text: text.len() as u64, memory: parsed_bytes(text.as_bytes()) };
            assert_eq!(json_size(&value), expected);
        }
    }
}
