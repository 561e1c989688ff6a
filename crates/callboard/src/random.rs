//! Randomness of the system, for names that nobody should guess.

const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Random bytes.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!(%error, "the system gives no random bytes");
    }
    bytes
}

/// Random letters and digits.
pub fn letters<const N: usize>() -> String {
    bytes::<N>().iter().map(|byte| LETTERS.get(usize::from(byte % 32)).map_or('a', |b| char::from(*b))).collect()
}
