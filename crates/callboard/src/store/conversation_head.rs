//! The head of a conversation: its row, and the character's part without the journal.

use callboard_core::journal::StateRecord;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::character_memory::CharacterMemory;
use super::conversation::Conversation;
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement, cells};

pub(super) const SELECT: &str = "SELECT c.id, c.owner, c.created_at, c.updated_at, c.metadata, c.version, \
     c.next_position, c.next_sequence, c.bytes, s.body, o.body FROM conversations c \
     LEFT JOIN states s ON s.conversation_id = c.id LEFT JOIN openings o ON o.conversation_id = c.id WHERE c.id = $1";
/// Also the items as a JSON array, NULL where they exceed $1 bytes. Sorted in the subquery, so both databases read them in index order.
pub(super) const SELECT_WITH_ITEMS: &str = "SELECT c.id, c.owner, c.created_at, c.updated_at, c.metadata, c.version, \
     c.next_position, c.next_sequence, c.bytes, s.body, o.body, (SELECT '[' || string_agg(i.body, ',') || ']' FROM \
     (SELECT body FROM items WHERE conversation_id = c.id AND c.bytes <= $1 ORDER BY position) i) FROM conversations c \
     LEFT JOIN states s ON s.conversation_id = c.id LEFT JOIN openings o ON o.conversation_id = c.id WHERE c.id = $2";
const PUT_OPENING: &str = "INSERT INTO openings (conversation_id, body) VALUES ($1, $2) \
     ON CONFLICT (conversation_id) DO UPDATE SET body = excluded.body";
const PUT_STATE: &str = "INSERT INTO states (conversation_id, body) VALUES ($1, $2) \
     ON CONFLICT (conversation_id) DO UPDATE SET body = excluded.body";

/// A conversation without its items and journal.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationHead {
    /// Its row.
    pub conversation: Conversation,
    /// The character's part, once one has answered in it.
    pub memory: Option<CharacterMemory>,
}

/// The initial values of a character's part, as stored.
#[derive(Serialize, Deserialize)]
struct OpeningRow {
    #[serde(default)]
    character: String,
    system_prompt: String,
    state: Option<Box<RawValue>>,
}

impl Store {
    /// The head of a conversation.
    pub async fn conversation_head(&self, conversation: &str) -> Result<Option<ConversationHead>, StoreError> {
        let query = Statement::new(SELECT, cells![conversation]);
        self.settled_reads().await.first(query, ConversationHead::read).await
    }
}

impl ConversationHead {
    pub(super) fn read(row: &mut Row) -> Result<Self, StoreError> {
        let conversation = Conversation::read(row)?;
        let (state, opening): (_, Option<String>) = (row.get()?, row.get()?);
        let memory = opening.map(|text| memory(&text, state, &conversation)).transpose()?;
        Ok(Self { conversation, memory })
    }

    /// The current state, as JSON text.
    pub fn state(&self) -> Option<&str> {
        self.memory.as_ref()?.record.state()
    }
}

fn memory(opening: &str, state: Option<String>, conversation: &Conversation) -> Result<CharacterMemory, StoreError> {
    let row: OpeningRow = serde_json::from_str(opening).map_err(StoreError::damaged("a state"))?;
    let initial = row.state.map(|state| state.get().to_owned());
    let next_sequence = u64::try_from(conversation.next_sequence).unwrap_or(1);
    Ok(CharacterMemory {
        character: row.character,
        system_prompt: row.system_prompt,
        record: StateRecord::resumed(initial, state, Vec::new(), next_sequence),
        ..CharacterMemory::default()
    })
}

pub(super) fn put_opening(conversation: &str, memory: &CharacterMemory) -> Result<Statement, StoreError> {
    let state = memory.record.initial().map(|state| RawValue::from_string(state.to_owned()));
    let row = OpeningRow {
        character: memory.character.clone(),
        system_prompt: memory.system_prompt.clone(),
        state: state.transpose().map_err(StoreError::damaged("a state"))?,
    };
    let text = serde_json::to_string(&row).map_err(StoreError::damaged("a state"))?;
    Ok(Statement::new(PUT_OPENING, cells![conversation, text]).independent())
}

pub(super) fn put_state(conversation: &str, state: &str) -> Statement {
    Statement::new(PUT_STATE, cells![conversation, state]).independent()
}
