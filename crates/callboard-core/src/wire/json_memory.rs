//! How much memory a JSON text takes once it is parsed, estimated from above before it is.
//!
//! A value takes its bytes and a fixed amount. `[[],[],…]` has a value for every three bytes, which is where memory grows far beyond the
//! text.

/// The memory of one value beside its text: a node of a tree, or the entry of a map with its index.
const VALUE: usize = 128;
const BLOCK: usize = u8::MAX as usize;

/// The memory of a text that is parsed. Characters inside of strings count as if they separated values, so this needs one fast pass.
#[must_use]
pub fn parsed_bytes(text: &[u8]) -> usize {
    // The counts of such short blocks fit into bytes, which compilers add many at a time.
    let block = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(begins_value(*byte))).sum::<u8>();
    in_memory(text, text.chunks(BLOCK).map(|bytes| usize::from(block(bytes))).sum())
}

/// The same without the characters inside of strings.
#[must_use]
pub fn parsed_bytes_exactly(text: &[u8]) -> usize {
    let (mut values, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ => values += usize::from(!in_string && begins_value(*byte)),
        }
    }
    in_memory(text, values)
}

/// Whether a parsed text takes at most so many bytes. Most texts are too short to need a look.
#[must_use]
pub(super) fn fits_parsed(text: &[u8], most: usize) -> bool {
    in_memory(text, text.len()) <= most || parsed_bytes(text) <= most || parsed_bytes_exactly(text) <= most
}

fn begins_value(byte: u8) -> bool {
    matches!(byte, b',' | b':' | b'[' | b'{')
}

fn in_memory(text: &[u8], values: usize) -> usize {
    text.len().saturating_add(values.saturating_mul(VALUE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_count_and_the_insides_of_strings_do_not() {
        let rows: [(&[u8], usize, usize); 6] = [
            (b"7", 0, 0),
            (b"[]", 1, 1),
            (b"[[],[]]", 4, 4),
            (br#"{"a":1,"b":[2]}"#, 5, 5),
            (br#"["a,b:[{","\",",""]"#, 8, 3),
            (br#""\\",["\\\"["]"#, 3, 2),
        ];
        for (text, fast, exact) in rows {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(parsed_bytes(text), text.len() + fast * VALUE, "{shown}");
            assert_eq!(parsed_bytes_exactly(text), text.len() + exact * VALUE, "{shown}");
            assert!(fits_parsed(text, text.len() + exact * VALUE), "{shown}");
            assert!(!fits_parsed(text, text.len() + exact * VALUE - 1), "{shown}");
        }
    }
}
