//! The size of a value as JSON text, without writing it.

use std::io::Write;

use serde::Serialize;

/// Bytes of a value as JSON text.
pub(super) fn json_bytes(value: &(impl Serialize + ?Sized)) -> u64 {
    let mut counter = Counter(0);
    // The counter takes everyvalue, and what cannot be written has no bytes.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len() as u64);
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
            assert_eq!(json_bytes(&value), value.to_string().len() as u64);
        }
    }
}
