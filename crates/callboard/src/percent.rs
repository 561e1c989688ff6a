//! Percent-encoded text, as in URLs and in OpenTelemetry's variables.

use crate::hex;

/// The decoded text; none where it is malformed or not UTF-8.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (hex::digit(rest.next()?)?, hex::digit(rest.next()?)?);
            bytes.push(high * 16 + low);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_letters() {
        let table = [
            ("", Some("")),
            ("a%20b", Some("a b")),
            ("%C3%BC%2b", Some("ü+")),
            ("%", None),
            ("%2", None),
            ("%+1", None),
            ("%zz", None),
            ("%ff", None),
        ];
        for (text, expected) in table {
            assert_eq!(decoded(text).as_deref(), expected, "{text}");
        }
    }
}
