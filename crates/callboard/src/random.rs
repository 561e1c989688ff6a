//! Randomness of the system, for names that nobody should guess.

use std::cell::RefCell;

/// In the order in which they are sorted.
const LETTERS: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// The system is asked for so many bytes at once: a question costs as much as to make a name of its answer.
const STOCK: usize = 512;

/// Bytes that nobody has got yet.
struct Stock {
    bytes: [u8; STOCK],
    left: usize,
}

thread_local! {
    static OWN: RefCell<Stock> = const { RefCell::new(Stock { bytes: [0; STOCK], left: 0 }) };
}

/// Random bytes.
pub fn bytes<const N: usize>() -> [u8; N] {
    const { assert!(N <= STOCK, "ask for fewer bytes at once") };
    OWN.with_borrow_mut(Stock::take)
}

impl Stock {
    /// Each byte is given away once, and forgotten.
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.left < N {
            self.fill();
        }
        let mut taken = [0; N];
        if let Some(given) = self.bytes.get_mut(self.left.saturating_sub(N)..self.left) {
            taken.swap_with_slice(given);
            self.left -= N;
        }
        taken
    }

    fn fill(&mut self) {
        if let Err(error) = getrandom::fill(&mut self.bytes) {
            tracing::error!(%error, "the system gives no random bytes");
        }
        self.left = STOCK;
    }
}

/// Random letters and digits.
pub fn letters<const N: usize>() -> String {
    bytes::<N>().iter().map(|byte| letter(u64::from(*byte))).collect()
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
        let draw = || (0..STOCK).flat_map(|_| [bytes::<11>().to_vec(), bytes::<STOCK>()[..11].to_vec()]);
        let there = std::thread::spawn(move || draw().collect::<Vec<_>>());
        let all: HashSet<Vec<u8>> = draw().chain(there.join().unwrap()).collect();
        assert_eq!(all.len(), 4 * STOCK);
    }

    #[test]
    fn what_was_given_away_is_forgotten() {
        let mut stock = Stock { bytes: [0; STOCK], left: 0 };
        let first = stock.take::<32>();
        assert!(first.iter().any(|byte| *byte != 0));
        assert_eq!((stock.left, &stock.bytes[STOCK - 32..]), (STOCK - 32, [0; 32].as_slice()));
    }

    #[test]
    fn numbers_are_sorted_as_their_letters() {
        assert_eq!(number_in_letters(0, 3), "222");
        assert_eq!(number_in_letters(32 * 32 + 31, 3), "32z");
        let numbers = [0, 1, 31, 32, 1023, 1024, 1_790_000_000_000, u64::MAX >> 19];
        assert!(numbers.map(|number| number_in_letters(number, 9)).is_sorted());
    }
}
