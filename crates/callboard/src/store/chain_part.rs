//! A part of a chain: what one turn added to a history, as it is stored.

use callboard_core::journal::Entry;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::StoreError;
use super::snapshot::Snapshot;

/// What a turn added. The first part of a chain also holds what the conversation began with.
#[derive(Serialize, Deserialize)]
pub(super) struct Part {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initial: Option<Box<RawValue>>,
    messages: Vec<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    journal: Vec<Entry>,
    /// Entries of earlier parts that were undone or brought back: their places, and by which entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(usize, Option<u64>)>,
}

impl Part {
    /// All of a snapshot.
    pub(super) fn first(snapshot: &Snapshot) -> Result<Self, StoreError> {
        let initial = snapshot.initial.clone().map(RawValue::from_string).transpose().map_err(damaged)?;
        let part = Self::behind(snapshot, 0, &[])?;
        Ok(Self { system_prompt: Some(snapshot.system_prompt.clone()), initial, ..part })
    }

    /// What a snapshot holds beyond so many messages, and beyond entries with these marks.
    pub(super) fn behind(snapshot: &Snapshot, messages: usize, marks: &[Option<u64>]) -> Result<Self, StoreError> {
        let messages = snapshot.messages.iter().skip(messages).cloned().map(RawValue::from_string);
        let marked = snapshot.journal.iter().zip(marks).enumerate();
        Ok(Self {
            system_prompt: None,
            initial: None,
            messages: messages.collect::<Result<_, _>>().map_err(damaged)?,
            journal: snapshot.journal.iter().skip(marks.len()).cloned().collect(),
            marks: marked
                .filter(|(_, (entry, mark))| entry.undone_by != **mark)
                .map(|(place, (entry, _))| (place, entry.undone_by))
                .collect(),
        })
    }

    /// Adds the part to a snapshot that holds all parts before it.
    pub(super) fn follow(self, snapshot: &mut Snapshot) {
        snapshot.system_prompt.extend(self.system_prompt);
        snapshot.initial = self.initial.map(|state| state.get().to_owned()).or(snapshot.initial.take());
        snapshot.messages.extend(self.messages.iter().map(|message| message.get().to_owned()));
        for (place, mark) in self.marks {
            if let Some(entry) = snapshot.journal.get_mut(place) {
                entry.undone_by = mark;
            }
        }
        snapshot.journal.extend(self.journal);
    }

    pub(super) fn read(text: &str) -> Result<Self, StoreError> {
        serde_json::from_str(text).map_err(damaged)
    }

    pub(super) fn write(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(damaged)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a history: {error}"))
}
