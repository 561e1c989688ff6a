//! A history as a hash chain: the key of a message is made of its text and of the key before it.
//!
//! A Chat Completions client sends its whole history each time and names no conversation. The key of the last known message finds the
//! snapshot; a changed message changes all keys after it.

use std::fmt;

use callboard_core::wire::chat::PlainMessage;
use sha2::{Digest, Sha256};

use crate::hex;

/// Identifies a history up to some message.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HistoryKey([u8; 32]);

impl HistoryKey {
    /// The start of a chain, made of the character and the owner.
    pub fn start(words: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for word in words {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The key after one more message. Surrounding space does not count, because clients trim.
    #[must_use]
    pub fn then(self, role: &str, text: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(role.as_bytes());
        hash.update([0]);
        hash.update(text.trim().as_bytes());
        Self(hash.finalize().into())
    }

    /// The key of an interrupted turn: the client's next history holds some of its text, or none.
    #[must_use]
    pub fn interrupted(self) -> Self {
        self.then("interrupted", "")
    }
}

impl fmt::Display for HistoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for HistoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HistoryKey({self})")
    }
}

/// The keys after each message.
pub(super) fn keys_of(start: HistoryKey, messages: &[PlainMessage]) -> Vec<HistoryKey> {
    let mut key = start;
    let mut keys = Vec::with_capacity(messages.len());
    for message in messages {
        key = key.then(&message.role, &format!("{}{}", message.text.trim(), message.calls));
        keys.push(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: &str, text: &str) -> PlainMessage {
        PlainMessage { role: role.to_owned(), text: text.to_owned(), calls: String::new(), json: String::new() }
    }

    #[test]
    fn a_change_changes_all_that_follows() {
        let start = HistoryKey::start(&["narrator", ""]);
        let first = keys_of(start, &[message("user", "a"), message("assistant", "b"), message("user", "c")]);
        let edited = keys_of(start, &[message("user", "a"), message("assistant", "B"), message("user", "c")]);
        assert_eq!(first[0], edited[0]);
        assert!(first[1] != edited[1] && first[2] != edited[2]);
        assert_eq!(first, keys_of(start, &[message("user", " a\n"), message("assistant", "b"), message("user", "c")]));
    }

    #[test]
    fn words_and_roles_cannot_run_together() {
        assert_ne!(HistoryKey::start(&["ab", "c"]), HistoryKey::start(&["a", "bc"]));
        assert_ne!(HistoryKey::start(&[]).then("user", "x"), HistoryKey::start(&[]).then("use", "rx"));
    }
}
