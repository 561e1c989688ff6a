//! What is remembered of conversations in Chat Completions: for places in their histories, the state and all that the client
//! never saw.
//!
//! A snapshot is never changed once it is kept, so a history that is edited or shortened simply goes on from an earlier one.

use callboard_core::wire::chat::PlainMessage;

use super::chain::{Key, links};
use crate::random;
use crate::store::{Address, NewSnapshot, Notes, Snapshot, Store, StoreError, StoreSettings};

/// Where a request goes on.
#[derive(Debug)]
pub struct Found {
    /// The newest snapshot that the history leads to.
    pub snapshot: Option<Snapshot>,
    /// How many messages of the history it covers.
    pub covered: usize,
    /// The key after the whole history.
    pub key: Key,
}

/// All that is remembered.
#[derive(Debug, Clone)]
pub struct Conversations {
    store: Store,
}

impl Conversations {
    /// Remembers in a store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Remembers as long as it lives.
    pub fn in_memory() -> Result<Self, StoreError> {
        Store::open(&Address::Memory, StoreSettings::new(random::letters::<12>())).map(Self::new)
    }

    /// Finds where a history goes on: at the longest part of it that is known.
    pub async fn find(&self, start: Key, history: &[PlainMessage]) -> Result<Found, StoreError> {
        let links = links(start, history);
        let key = links.last().copied().unwrap_or(start);
        let newest_first = links.iter().rev();
        let keys: Vec<String> = newest_first.flat_map(|key| [key.to_string(), key.interrupted().to_string()]).collect();
        let fits = |number, told: Option<&str>| covered(number, told, history).is_some();
        let Some((number, snapshot)) = self.store.find_snapshot(&keys, fits).await? else {
            return Ok(Found { snapshot: None, covered: 0, key });
        };
        let covered = covered(number, snapshot.interrupted.as_deref(), history).unwrap_or_default();
        Ok(Found { snapshot: Some(snapshot), covered, key })
    }

    /// The end of a conversation that the client named.
    pub async fn named(&self, start: Key) -> Result<Option<Snapshot>, StoreError> {
        self.store.named_snapshot(&start.to_string()).await
    }

    /// Keeps a snapshot under a key, and as the end of the conversation that the client named, if it did.
    pub async fn keep(&self, new: NewSnapshot) -> Result<(), StoreError> {
        self.store.note(Notes { snapshot: Some(new), ..Notes::default() }).await
    }

    /// The store behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// How many messages of a history the snapshot covers that was found with this number: two keys for each message, the newest
/// first, one for a whole turn and one for a turn that was interrupted. None where it does not fit the history.
fn covered(number: usize, told: Option<&str>, history: &[PlainMessage]) -> Option<usize> {
    let covered = history.len().checked_sub(number / 2)?;
    if number.is_multiple_of(2) {
        return Some(covered);
    }
    let next = history.get(covered)?;
    if next.role != "assistant" {
        return Some(covered);
    }
    told.unwrap_or_default().trim().starts_with(next.text.trim()).then_some(covered + 1)
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
        found.snapshot.as_ref().and_then(|snapshot| snapshot.state.as_deref())
    }

    fn with_state(key: Key, state: &str) -> NewSnapshot {
        let snapshot = Snapshot { state: Some(state.to_owned()), ..Snapshot::default() };
        NewSnapshot { key: key.to_string(), snapshot, ..NewSnapshot::default() }
    }

    #[tokio::test]
    async fn a_history_finds_its_newest_known_place() {
        let (kept, start) = (Conversations::in_memory().unwrap(), Key::start(&["x"]));
        let find = async |start, words: &[&str]| kept.find(start, &history(words)).await.unwrap();
        let first = find(start, &["hi"]).await;
        assert_eq!((state(&first), first.covered), (None, 0));
        kept.keep(with_state(first.key.then("assistant", "hello"), "1")).await.unwrap();
        let second = find(start, &["hi", "hello", "more"]).await;
        assert_eq!((state(&second), second.covered), (Some("1"), 2));
        kept.keep(with_state(second.key.then("assistant", "well"), "2")).await.unwrap();
        let third = find(start, &["hi", "hello", "more", "well", "on"]).await;
        assert_eq!((state(&third), third.covered), (Some("2"), 4));
        let edited = find(start, &["hi", "hello", "other", "well", "on"]).await;
        assert_eq!((state(&edited), edited.covered), (Some("1"), 2));
        assert_eq!(state(&find(start, &["ho", "hello", "more"]).await), None);
        assert_eq!(state(&find(Key::start(&["y"]), &["hi", "hello", "more"]).await), None);
    }

    #[tokio::test]
    async fn an_interrupted_turn_is_found_by_what_was_read_of_it() {
        let (kept, start) = (Conversations::in_memory().unwrap(), Key::start(&["x"]));
        let first = kept.find(start, &history(&["hi"])).await.unwrap();
        let mut new = with_state(first.key.interrupted(), "1");
        new.snapshot.interrupted = Some("Once upon a time".to_owned());
        kept.keep(new).await.unwrap();
        let half = kept.find(start, &history(&["hi", "Once upon", "stop"])).await.unwrap();
        assert_eq!((state(&half), half.covered), (Some("1"), 2));
        let mut silent = history(&["hi"]);
        silent.extend(history(&["stop"]));
        let silent = kept.find(start, &silent).await.unwrap();
        assert_eq!((state(&silent), silent.covered), (Some("1"), 1));
        assert_eq!(state(&kept.find(start, &history(&["hi", "Other words", "stop"])).await.unwrap()), None);
    }

    #[tokio::test]
    async fn a_named_conversation_is_found_by_its_name() {
        let (kept, start) = (Conversations::in_memory().unwrap(), Key::start(&["x", "name"]));
        assert_eq!(kept.named(start).await.unwrap(), None);
        for text in ["a", "b"] {
            let new = with_state(start.then("user", text), &format!("\"{text}\""));
            kept.keep(NewSnapshot { name: Some(start.to_string()), ..new }).await.unwrap();
        }
        assert_eq!(kept.named(start).await.unwrap().and_then(|found| found.state).as_deref(), Some("\"b\""));
    }
}
