//! Text in which some letters are written as `%` and two digits, as in URLs and in OpenTelemetry's variables.

/// The text itself; nothing where it is badly written or no UTF-8.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
            bytes.push(high * 16 + low);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
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
