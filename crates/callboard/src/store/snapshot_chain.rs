//! A part of a chain: what one turn added to a history, as it is stored.

use callboard_core::journal::{Entry, StateRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::character_memory::CharacterMemory;
use super::error::StoreError;

/// What a turn added. The first part of a chain also has the initial values of the conversation.
#[derive(Serialize, Deserialize)]
pub(super) struct ChainPart {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    system_prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initial: Option<Box<RawValue>>,
    messages: Vec<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    journal: Vec<Entry>,
    /// Entries of earlier parts whose `undone_by` changed: their indices, and the new value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<(usize, Option<u64>)>,
}

impl ChainPart {
    /// All of a memory.
    pub(super) fn whole(memory: &CharacterMemory) -> Result<Self, StoreError> {
        let initial = memory.record.initial().map(|state| RawValue::from_string(state.to_owned()));
        let part = Self::after(memory, 0, &[])?;
        let initial = initial.transpose().map_err(StoreError::damaged("a history"))?;
        Ok(Self { system_prompt: Some(memory.system_prompt.clone()), initial, ..part })
    }

    /// What a memory holds beyond so many messages, and beyond entries with these marks.
    pub(super) fn after(memory: &CharacterMemory, messages: usize, marks: &[Option<u64>]) -> Result<Self, StoreError> {
        let messages = memory.messages.iter().skip(messages).cloned().map(RawValue::from_string);
        let journal = memory.record.journal();
        let marked = journal.iter().zip(marks).enumerate();
        Ok(Self {
            system_prompt: None,
            initial: None,
            messages: messages.collect::<Result<_, _>>().map_err(StoreError::damaged("a history"))?,
            journal: journal.iter().skip(marks.len()).cloned().collect(),
            marks: marked
                .filter(|(_, (entry, mark))| entry.undone_by != **mark)
                .map(|(index, (entry, _))| (index, entry.undone_by))
                .collect(),
        })
    }

    pub(super) fn read(text: &str) -> Result<Self, StoreError> {
        serde_json::from_str(text).map_err(StoreError::damaged("a history"))
    }

    pub(super) fn write(&self) -> Result<String, StoreError> {
        serde_json::to_string(self).map_err(StoreError::damaged("a history"))
    }
}

/// The parts of a chain put together.
#[derive(Default)]
pub(super) struct LoadedChain {
    system_prompt: String,
    initial: Option<String>,
    messages: Vec<String>,
    journal: Vec<Entry>,
}

impl LoadedChain {
    /// Adds the next part.
    pub(super) fn append(&mut self, part: ChainPart) {
        self.system_prompt.extend(part.system_prompt);
        self.initial = part.initial.map(|state| state.get().to_owned()).or(self.initial.take());
        self.messages.extend(part.messages.iter().map(|message| message.get().to_owned()));
        for (index, mark) in part.marks {
            if let Some(entry) = self.journal.get_mut(index) {
                entry.undone_by = mark;
            }
        }
        self.journal.extend(part.journal);
    }

    pub(super) fn into_memory(self, state: Option<String>) -> CharacterMemory {
        let next_sequence = self.journal.last().map_or(1, |entry| entry.sequence.saturating_add(1));
        CharacterMemory {
            system_prompt: self.system_prompt,
            record: StateRecord::resumed(self.initial, state, self.journal, next_sequence),
            messages: self.messages,
            ..CharacterMemory::default()
        }
    }
}
