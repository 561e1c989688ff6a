//! Randomness, for ids that cannot be guessed.

/// In the order in which they are sorted.
const LETTERS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// Random bytes, from a generator that the system seeds for each thread. Panics where the system gives no seed.
pub fn bytes<const N: usize>() -> [u8; N] {
    rand::random()
}

/// Random letters and digits.
pub fn letters<const N: usize>() -> String {
    bytes::<N>().iter().map(|byte| letter(u64::from(*byte))).collect()
}

/// How many letters the time takes.
pub const TIME_LETTERS: u32 = 9;

/// The time, then random letters: rows with such names are adjacent in an index, and the names cannot be guessed.
pub fn letters_by_time<const N: usize>(milliseconds: i64) -> String {
    let time = u64::try_from(milliseconds).unwrap_or_default();
    number_in_letters(time, TIME_LETTERS) + &letters::<N>()
}

/// A number as so many letters: of two numbers the smaller one is sorted first.
pub fn number_in_letters(number: u64, letters: u32) -> String {
    const BITS: u32 = 5;
    (0..letters).rev().map(|place| letter(number.checked_shr(place * BITS).unwrap_or(0))).collect()
}

fn letter(number: u64) -> char {
    let place = usize::try_from(number % 32).unwrap_or_default();
    LETTERS.get(place).map_or('a', |letter| char::from(*letter))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_bytes_are_given_twice() {
        let draw = || (0..500).map(|_| bytes::<11>());
        let other_thread = std::thread::spawn(move || draw().collect::<Vec<_>>());
        let all: HashSet<[u8; 11]> = draw().chain(other_thread.join().unwrap()).collect();
        assert_eq!(all.len(), 1000);
    }

    #[test]
    fn numbers_are_sorted_as_their_letters() {
        assert_eq!(number_in_letters(0, 3), "222");
        assert_eq!(number_in_letters(32 * 32 + 31, 3), "32z");
        let numbers = [0, 1, 31, 32, 1023, 1024, 1_790_000_000_000, u64::MAX >> 19];
        assert!(numbers.map(|number| number_in_letters(number, 9)).is_sorted());
    }
}
