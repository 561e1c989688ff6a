//! Times of a trace: counted from the beginning of the turn, written as milliseconds.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// A duration, written in milliseconds with three decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Millis(pub Duration);

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let micros = u32::try_from(self.0.as_micros()).unwrap_or(u32::MAX);
        serializer.serialize_f64(f64::from(micros) / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_keep_three_decimals() {
        for (nanos, text) in [(0, "0.0"), (1_234_567, "1.234"), (999, "0.0"), (60_000_000_000, "60000.0")] {
            assert_eq!(serde_json::to_string(&Millis(Duration::from_nanos(nanos))).unwrap(), text);
        }
    }
}
