//! Numbers for the lenient reader: exactly JSON's grammar.
//!
//! `02134`, `+5`, `.5` and `5.` are ambiguous (the first may be a postcode), so nothing is repaired here. The
//! digits are kept as written, at any length.

use serde_json::Number;

use super::lenient::Reader;
use super::parse_result::MalformedJson;

impl Reader<'_> {
    /// The number whose `-` or first digit is here.
    pub(super) fn number(&mut self) -> Result<Number, MalformedJson> {
        let start = self.position;
        self.take(b'-');
        let leading_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && leading_zero {
            return Err(MalformedJson::new(self.text, start, "a number cannot start with 0"));
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let written = self.text.get(start..self.position).unwrap_or_default();
        written.parse().map_err(|_| MalformedJson::new(self.text, start, "this number cannot be read"))
    }

    /// Steps over one digit or more, and counts them.
    fn digits(&mut self) -> Result<usize, MalformedJson> {
        let start = self.position;
        while let Some(b'0'..=b'9') = self.peek() {
            self.position += 1;
        }
        match self.position - start {
            0 if self.peek().is_none() => Err(self.cut_off()),
            0 => Err(self.wrong("expected a digit")),
            count => Ok(count),
        }
    }
}
