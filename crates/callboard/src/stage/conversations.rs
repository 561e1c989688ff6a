//! What is remembered of conversations: for places in their histories, the state and all that the client never saw.
//!
//! A snapshot is never changed once it is kept, so a history that is edited or shortened simply goes on from an earlier one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use callboard_core::wire::chat::PlainMessage;

use super::chain::{Key, links};
use crate::session::Record;

/// A conversation at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The prompt that was made when the conversation began.
    pub system_prompt: String,
    /// The character's state and its journal.
    pub record: Record,
    /// All messages so far, as they go to a model: also calls and results.
    pub messages: Vec<String>,
    /// What the client was told in a turn that it interrupted; it may have read less.
    pub interrupted: Option<String>,
}

/// Where a request goes on.
#[derive(Debug)]
pub struct Found {
    /// The newest snapshot that the history leads to.
    pub snapshot: Option<Arc<Snapshot>>,
    /// How many messages of the history it covers.
    pub covered: usize,
    /// The key after the whole history.
    pub key: Key,
}

/// All that is remembered, in memory; the oldest is forgotten first.
#[derive(Debug)]
pub struct Conversations {
    kept: Mutex<Kept>,
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    snapshots: HashMap<Key, Arc<Snapshot>>,
    order: VecDeque<Key>,
    named: HashMap<Key, Arc<Snapshot>>,
}

impl Conversations {
    /// Remembers at most so many snapshots.
    pub fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    /// Finds where a history goes on: at the longest part of it that is known.
    pub fn find(&self, start: Key, history: &[PlainMessage]) -> Found {
        let keys = links(start, history);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let key = keys.last().copied().unwrap_or(start);
        for covered in (1..=history.len()).rev() {
            if let Some((snapshot, covered)) = kept.at(&keys, history, covered) {
                return Found { snapshot: Some(snapshot), covered, key };
            }
        }
        Found { snapshot: None, covered: 0, key }
    }

    /// The end of a conversation that the client named.
    pub fn named(&self, start: Key) -> Option<Arc<Snapshot>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).named.get(&start).cloned()
    }

    /// Keeps a whole turn: the client's next history will hold these words of the character.
    pub fn keep(&self, start: Key, history: Key, said: &str, snapshot: Snapshot) {
        self.insert(start, history.then("assistant", said), snapshot);
    }

    /// Keeps a turn that the client interrupted: its next history holds some of these words, or none.
    pub fn keep_interrupted(&self, start: Key, history: Key, said: &str, snapshot: Snapshot) {
        let snapshot = Snapshot { interrupted: Some(said.to_owned()), ..snapshot };
        self.insert(start, interrupted(history), snapshot);
    }

    fn insert(&self, start: Key, key: Key, snapshot: Snapshot) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = Arc::new(snapshot);
        kept.named.insert(start, Arc::clone(&snapshot));
        if kept.snapshots.insert(key, snapshot).is_none() {
            kept.order.push_back(key);
        }
        while kept.order.len() > self.most {
            let Some(oldest) = kept.order.pop_front() else { break };
            kept.snapshots.remove(&oldest);
        }
        if kept.named.len() > self.most {
            kept.named.clear();
        }
    }
}

impl Kept {
    /// The snapshot that ends after `covered` messages: a whole turn, or one that was interrupted there.
    fn at(&self, keys: &[Key], history: &[PlainMessage], covered: usize) -> Option<(Arc<Snapshot>, usize)> {
        let key = keys.get(covered - 1)?;
        if let Some(snapshot) = self.snapshots.get(key) {
            return Some((Arc::clone(snapshot), covered));
        }
        let snapshot = self.snapshots.get(&interrupted(*key))?;
        let told = snapshot.interrupted.as_deref().unwrap_or_default().trim();
        match history.get(covered) {
            Some(next) if next.role == "assistant" => {
                told.starts_with(next.text.trim()).then(|| (Arc::clone(snapshot), covered + 1))
            }
            Some(_) => Some((Arc::clone(snapshot), covered)),
            None => None,
        }
    }
}

fn interrupted(history: Key) -> Key {
    history.then("interrupted", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(words: &[&str]) -> Vec<PlainMessage> {
        let roles = ["user", "assistant"].into_iter().cycle();
        let message = |(role, text): (&str, &&str)| PlainMessage {
            role: role.to_owned(),
            text: (*text).to_owned(),
            json: String::new(),
        };
        roles.zip(words).map(message).collect()
    }

    fn state(found: &Found) -> Option<&str> {
        found.snapshot.as_ref().and_then(|snapshot| snapshot.record.state())
    }

    fn with_state(state: &str) -> Snapshot {
        Snapshot { record: Record::new(Some(state.to_owned())), ..Snapshot::default() }
    }

    #[test]
    fn a_history_finds_its_newest_known_place() {
        let (store, start) = (Conversations::new(10), Key::start(&["x"]));
        let first = store.find(start, &history(&["hi"]));
        assert_eq!((state(&first), first.covered), (None, 0));
        store.keep(start, first.key, "hello", with_state("1"));
        let second = store.find(start, &history(&["hi", "hello", "more"]));
        assert_eq!((state(&second), second.covered), (Some("1"), 2));
        store.keep(start, second.key, "well", with_state("2"));
        let third = store.find(start, &history(&["hi", "hello", "more", "well", "on"]));
        assert_eq!((state(&third), third.covered), (Some("2"), 4));
        let edited = store.find(start, &history(&["hi", "hello", "other", "well", "on"]));
        assert_eq!((state(&edited), edited.covered), (Some("1"), 2));
        assert_eq!(state(&store.find(start, &history(&["ho", "hello", "more"]))), None);
        assert_eq!(state(&store.find(Key::start(&["y"]), &history(&["hi", "hello", "more"]))), None);
    }

    #[test]
    fn an_interrupted_turn_is_found_by_what_was_read_of_it() {
        let (store, start) = (Conversations::new(10), Key::start(&["x"]));
        let first = store.find(start, &history(&["hi"]));
        store.keep_interrupted(start, first.key, "Once upon a time", with_state("1"));
        let half = store.find(start, &history(&["hi", "Once upon", "stop"]));
        assert_eq!((state(&half), half.covered), (Some("1"), 2));
        let mut silent = history(&["hi"]);
        silent.extend(history(&["stop"]));
        let silent = store.find(start, &silent);
        assert_eq!((state(&silent), silent.covered), (Some("1"), 1));
        assert_eq!(state(&store.find(start, &history(&["hi", "Other words", "stop"]))), None);
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let (store, start) = (Conversations::new(2), Key::start(&["x"]));
        for text in ["a", "b", "c"] {
            store.keep(start, start.then("user", text), "ok", with_state(text));
        }
        assert_eq!(state(&store.find(start, &history(&["a", "ok", "?"]))), None);
        assert_eq!(state(&store.find(start, &history(&["c", "ok", "?"]))), Some("c"));
        assert_eq!(
            store.named(start).and_then(|snapshot| snapshot.record.state().map(str::to_owned)).as_deref(),
            Some("c")
        );
    }
}
