//! A history as a chain of keys: each message has a key made of its own words and of the key before it.
//!
//! A client of Chat Completions sends its whole history each time and names no conversation. The key of the last message
//! that both sides know finds what belongs to it; a changed message changes all keys behind it.

use std::fmt;

use callboard_core::wire::chat::PlainMessage;
use sha2::{Digest, Sha256};

use crate::hex;

/// A place in some history.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key([u8; 32]);

impl Key {
    /// The beginning of a chain: which character, and for whom.
    pub fn start(words: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for word in words {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The key after one more message. Space at the ends does not count: clients trim.
    #[must_use]
    pub fn then(self, role: &str, text: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(role.as_bytes());
        hash.update([0]);
        hash.update(text.trim().as_bytes());
        Self(hash.finalize().into())
    }
}

impl Key {
    /// The key of a turn that the client interrupted: its next history holds some of what was said, or none.
    #[must_use]
    pub fn interrupted(self) -> Self {
        self.then("interrupted", "")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// The keys after each message.
pub(super) fn links(start: Key, messages: &[PlainMessage]) -> Vec<Key> {
    let mut key = start;
    let mut keys = Vec::with_capacity(messages.len());
    for message in messages {
        key = key.then(&message.role, &message.text);
        keys.push(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> PlainMessage {
        PlainMessage { role: role.to_owned(), text: text.to_owned(), json: String::new() }
    }

    #[test]
    fn a_change_changes_all_that_follows() {
        let start = Key::start(&["narrator", ""]);
        let first = links(start, &[message("user", "a"), message("assistant", "b"), message("user", "c")]);
        let edited = links(start, &[message("user", "a"), message("assistant", "B"), message("user", "c")]);
        assert_eq!(first[0], edited[0]);
        assert!(first[1] != edited[1] && first[2] != edited[2]);
        assert_eq!(first, links(start, &[message("user", " a\n"), message("assistant", "b"), message("user", "c")]));
    }

    #[test]
    fn words_and_roles_cannot_run_together() {
        assert_ne!(Key::start(&["ab", "c"]), Key::start(&["a", "bc"]));
        assert_ne!(Key::start(&[]).then("user", "x"), Key::start(&[]).then("use", "rx"));
    }
}
