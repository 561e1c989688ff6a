//! Finds the snapshot that a Chat Completions history leads to.
//!
//! Snapshots are immutable, so an edited or shortened history simply continues from an earlier one.

use callboard_core::wire::chat::PlainMessage;

use super::history_key::{HistoryKey, keys_of};
use crate::random;
use crate::store::{Address, CharacterMemory, NamedSnapshot, Store, StoreError, StoreSettings};

/// Where a request continues.
#[derive(Debug)]
pub struct FoundHistory {
    /// The newest memory that the history leads to.
    pub memory: Option<CharacterMemory>,
    /// How many messages of the history it covers.
    pub covered: usize,
    /// The key after the whole history.
    pub key: HistoryKey,
    /// The number of this turn where it continues from the name of the conversation; 0 where it continues from the history.
    pub turn: i64,
}

/// The snapshots of all histories.
#[derive(Debug, Clone)]
pub struct ChatSnapshots {
    store: Store,
}

impl ChatSnapshots {
    /// Snapshots in a store.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Snapshots in memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        Store::open(&Address::Memory, StoreSettings::new(random::letters::<12>())).map(Self::new)
    }

    /// Finds the longest known part of a history.
    pub async fn find(&self, start: HistoryKey, history: &[PlainMessage]) -> Result<FoundHistory, StoreError> {
        let keys = keys_of(start, history);
        let key = keys.last().copied().unwrap_or(start);
        let newest_first = keys.iter().rev();
        let keys: Vec<String> = newest_first.flat_map(|key| [key.to_string(), key.interrupted().to_string()]).collect();
        let fits = |index, sent: Option<&str>| covered(index, sent, history).is_some();
        let Some(found) = self.store.find_snapshot(&keys, fits).await? else {
            return Ok(FoundHistory { memory: None, covered: 0, key, turn: 0 });
        };
        let covered = covered(found.index, found.interrupted.as_deref(), history).unwrap_or_default();
        Ok(FoundHistory { memory: Some(found.memory), covered, key, turn: 0 })
    }

    /// The end of a conversation that the client named.
    pub async fn named(&self, start: HistoryKey) -> Result<Option<NamedSnapshot>, StoreError> {
        self.store.named_snapshot(&start.to_string()).await
    }

    /// The store behind it.
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// How many messages of a history the snapshot with this index covers. There are two keys per message, newest first: one for a
/// complete turn and one for an interrupted one. None where the snapshot does not fit the history.
fn covered(index: usize, sent: Option<&str>, history: &[PlainMessage]) -> Option<usize> {
    let covered = history.len().checked_sub(index / 2)?;
    if index.is_multiple_of(2) {
        return Some(covered);
    }
    let next = history.get(covered)?;
    if next.role != "assistant" {
        return Some(covered);
    }
    sent.unwrap_or_default().trim().starts_with(next.text.trim()).then_some(covered + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::{NewSnapshot, SnapshotName, TurnRecords};

    fn history(words: &[&str]) -> Vec<PlainMessage> {
        let roles = ["user", "assistant"].into_iter().cycle();
        let message = |(role, text): (&str, &&str)| PlainMessage {
            role: role.to_owned(),
            text: (*text).to_owned(),
            calls: String::new(),
            json: String::new(),
        };
        roles.zip(words).map(message).collect()
    }

    fn state(found: &FoundHistory) -> Option<&str> {
        found.memory.as_ref().and_then(|memory| memory.record.state())
    }

    fn with_state(key: HistoryKey, state: &str) -> NewSnapshot {
        let memory = CharacterMemory::new("x", String::new(), Some(state.to_owned()));
        NewSnapshot { key: key.to_string(), memory: Arc::new(memory), ..NewSnapshot::default() }
    }

    async fn save(snapshots: &ChatSnapshots, new: NewSnapshot) {
        snapshots.store.write_records(&TurnRecords { snapshot: Some(new), ..TurnRecords::default() }).await.unwrap();
    }

    #[tokio::test]
    async fn a_history_finds_its_newest_known_place() {
        let (kept, start) = (ChatSnapshots::in_memory().unwrap(), HistoryKey::start(&["x"]));
        let find = async |start, words: &[&str]| kept.find(start, &history(words)).await.unwrap();
        let first = find(start, &["hi"]).await;
        assert_eq!((state(&first), first.covered), (None, 0));
        save(&kept, with_state(first.key.then("assistant", "hello"), "1")).await;
        let second = find(start, &["hi", "hello", "more"]).await;
        assert_eq!((state(&second), second.covered), (Some("1"), 2));
        save(&kept, with_state(second.key.then("assistant", "well"), "2")).await;
        let third = find(start, &["hi", "hello", "more", "well", "on"]).await;
        assert_eq!((state(&third), third.covered), (Some("2"), 4));
        let edited = find(start, &["hi", "hello", "other", "well", "on"]).await;
        assert_eq!((state(&edited), edited.covered), (Some("1"), 2));
        assert_eq!(state(&find(start, &["ho", "hello", "more"]).await), None);
        assert_eq!(state(&find(HistoryKey::start(&["y"]), &["hi", "hello", "more"]).await), None);
    }

    #[tokio::test]
    async fn an_interrupted_turn_is_found_by_what_was_read_of_it() {
        let (kept, start) = (ChatSnapshots::in_memory().unwrap(), HistoryKey::start(&["x"]));
        let first = kept.find(start, &history(&["hi"])).await.unwrap();
        let mut new = with_state(first.key.interrupted(), "1");
        new.interrupted = Some("Once upon a time".to_owned());
        save(&kept, new).await;
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
        let (kept, start) = (ChatSnapshots::in_memory().unwrap(), HistoryKey::start(&["x", "name"]));
        assert_eq!(kept.named(start).await.unwrap(), None);
        for (text, turn) in [("a", 1), ("b", 2)] {
            let new = with_state(start.then("user", text), &format!("\"{text}\""));
            save(
                &kept,
                NewSnapshot {
                    name: Some(SnapshotName { key: start.to_string(), turn, ..SnapshotName::default() }),
                    ..new
                },
            )
            .await;
        }
        let found = kept.named(start).await.unwrap().unwrap();
        assert_eq!((found.memory.record.state(), found.turn), (Some("\"b\""), 2));
    }
}
