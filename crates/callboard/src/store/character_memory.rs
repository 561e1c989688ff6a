//! A character's part of a conversation, as everything above the store works with it.
//!
//! Responses keep it in a conversation (its head, state and journal) or as a snapshot with each response; Chat Completions keep it as a snapshot
//! for each history.

use callboard_core::journal::StateRecord;

use super::snapshot::{ChainPosition, ConversationPlace};

/// What a character needs to continue a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CharacterMemory {
    /// Its id.
    pub character: String,
    /// The prompt that was made when the conversation began.
    pub system_prompt: String,
    /// Its state and the journal of changes.
    pub record: StateRecord,
    /// All messages as JSON text, as they go to a model: also calls and results. Empty where items are stored instead.
    pub messages: Vec<String>,
    /// Where the first messages and entries are stored already.
    pub stored: Option<ChainPosition>,
    /// Where its history of Chat Completions is in a conversation.
    pub place: Option<ConversationPlace>,
}

impl CharacterMemory {
    /// The memory of a conversation that begins.
    pub fn new(character: &str, system_prompt: String, initial: Option<String>) -> Self {
        let record = StateRecord::new(initial);
        Self { character: character.to_owned(), system_prompt, record, ..Self::default() }
    }

    /// The size of its state and messages.
    pub fn bytes(&self) -> usize {
        let state = self.record.state().map_or(0, str::len);
        self.messages.iter().map(String::len).fold(state, usize::saturating_add)
    }

    /// The memory as the next turn loads it: everything in it counts as stored.
    #[must_use]
    pub fn committed(&self) -> Self {
        Self { record: self.record.committed(), ..self.clone() }
    }
}
