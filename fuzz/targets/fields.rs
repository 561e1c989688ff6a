//! Inputs of several parts: fields with NUL between them, which a mutation can move, remove or add.

use std::borrow::Cow;

/// The first `N` fields; missing ones are empty, and the last one keeps further NULs.
pub(crate) fn fields<const N: usize>(data: &[u8]) -> [&[u8]; N] {
    let mut parts = data.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// The input that [`fields`] takes apart.
pub(crate) fn joined(fields: &[&[u8]]) -> Vec<u8> {
    fields.join(&0)
}

/// The first byte of a field, for options; zero where it is empty.
pub(crate) fn options(field: &[u8]) -> u8 {
    field.first().copied().unwrap_or_default()
}

/// Bytes as text, whatever they are.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// `bytes` in pieces whose lengths are the bytes of `lengths` in turn; single bytes where there are none.
pub(crate) fn pieces<'a>(mut bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths_forever(lengths) {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// The same for text, which is only cut between characters.
pub(crate) fn text_pieces<'a>(mut text: &'a str, lengths: &[u8]) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    for length in lengths_forever(lengths) {
        if text.is_empty() {
            break;
        }
        let (piece, rest) = text.split_at(text.ceil_char_boundary(length));
        pieces.push(piece);
        text = rest;
    }
    pieces
}

fn lengths_forever(lengths: &[u8]) -> impl Iterator<Item = usize> {
    let lengths = if lengths.is_empty() { &[1] } else { lengths };
    lengths.iter().cycle().map(|length| usize::from(*length).max(1))
}
