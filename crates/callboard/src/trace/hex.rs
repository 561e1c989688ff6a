//! Ids of traces and spans: hexadecimal digits, written small.

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit));
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// True for an id of so many digits that is not all noughts.
pub(super) fn is_id(text: &str, digits: usize) -> bool {
    let small = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == digits && text.bytes().all(small) && text.bytes().any(|byte| byte != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_hexadecimal() {
        assert_eq!(hex(&[0, 1, 0xab, 0xff]), "0001abff");
        for (text, sound) in [("0001abff", true), ("00000000", false), ("0001ABFF", false), ("0001abf", false)] {
            assert_eq!(is_id(text, 8), sound, "{text}");
        }
    }
}
