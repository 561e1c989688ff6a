//! The id of a tool call: `call_` and 24 to 32 letters or digits, random, unique in its conversation.

use std::fmt;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const PREFIX: &str = "call_";
const LETTERS: usize = 24;

/// The random source for new ids: called once per id.
pub type RandomBytes = Box<dyn FnMut() -> [u8; LETTERS] + Send + Sync>;

/// An id of the guaranteed form; no other can be constructed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallId(String);

impl CallId {
    /// Keeps a model server's id if it already has the guaranteed form.
    #[must_use]
    pub fn accept(text: &str) -> Option<Self> {
        let letters = text.strip_prefix(PREFIX)?;
        let fits = (24..=32).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_alphanumeric());
        fits.then(|| Self(text.to_owned()))
    }

    /// A new id from random bytes.
    #[must_use]
    pub fn from_random(bytes: [u8; LETTERS]) -> Self {
        let mut id = String::with_capacity(PREFIX.len() + LETTERS);
        id.push_str(PREFIX);
        id.extend(bytes.iter().map(|byte| letter(*byte)));
        Self(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn letter(byte: u8) -> char {
    ALPHABET.get(usize::from(byte) % ALPHABET.len()).map_or('A', |b| char::from(*b))
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_promised_form_is_taken_over() {
        let fits = ["call_Ab3dE6gH9jK2mN5pQ8sT1vW4", "call_Ab3dE6gH9jK2mN5pQ8sT1vW4Ab3dE6gH"];
        let foreign = [
            "",
            "call_",
            "call_1",
            "toolu_01",
            "call_Ab3dE6gH9jK2mN5pQ8sT1v-4",
            "call_Ab3dE6gH9jK2mN5pQ8sT1vW4Ab3dE6gHx",
        ];
        assert!(fits.iter().all(|id| CallId::accept(id).is_some()));
        assert!(foreign.iter().all(|id| CallId::accept(id).is_none()));
    }

    #[test]
    fn a_new_id_has_the_promised_form() {
        for start in 0..=u8::MAX {
            let bytes = std::array::from_fn(|i| start.wrapping_add(u8::try_from(i).unwrap().wrapping_mul(11)));
            let id = CallId::from_random(bytes);
            assert_eq!(CallId::accept(id.as_str()), Some(id));
        }
    }
}
