//! How a conversation stands: its row, what it began with, and its state.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Row, Statement};

pub(super) const SELECT: &str = "SELECT c.id, c.owner, c.created_at, c.updated_at, c.metadata, c.version, \
     c.next_position, c.next_sequence, c.bytes, s.body, o.body FROM conversations c \
     LEFT JOIN states s ON s.conversation_id = c.id LEFT JOIN openings o ON o.conversation_id = c.id WHERE c.id = $1";
/// With the items as a JSON array, or none where all of them together have more bytes than these. They are ordered before they are put
/// together, since then both databases read them in their order and need not sort.
pub(super) const SELECT_WITH_ITEMS: &str = "SELECT c.id, c.owner, c.created_at, c.updated_at, c.metadata, c.version, \
     c.next_position, c.next_sequence, c.bytes, s.body, o.body, (SELECT '[' || string_agg(i.body, ',') || ']' FROM \
     (SELECT body FROM items WHERE conversation_id = c.id AND c.bytes <= $1 ORDER BY position) i) FROM conversations c \
     LEFT JOIN states s ON s.conversation_id = c.id LEFT JOIN openings o ON o.conversation_id = c.id WHERE c.id = $2";
const PUT_OPENING: &str = "INSERT INTO openings (conversation_id, body) VALUES ($1, $2) \
     ON CONFLICT (conversation_id) DO UPDATE SET body = excluded.body";
const PUT_STATE: &str = "INSERT INTO states (conversation_id, body) VALUES ($1, $2) \
     ON CONFLICT (conversation_id) DO UPDATE SET body = excluded.body";

/// What a conversation began with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Opening {
    /// The character that plays in it.
    pub character: String,
    /// The prompt that was made for it.
    pub system_prompt: String,
    /// The state as JSON text; none where the character keeps none.
    pub state: Option<String>,
}

/// A conversation with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its row.
    pub conversation: Conversation,
    /// What it began with, once it has begun.
    pub opening: Option<Opening>,
    /// The state as JSON text.
    pub state: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default)]
    character: String,
    system_prompt: String,
    state: Option<Box<RawValue>>,
}

impl Store {
    /// How a conversation stands.
    pub async fn standing(&self, conversation: &str) -> Result<Option<Standing>, StoreError> {
        let rows = self.settled_reads().await.read(Statement::new(SELECT, [conversation.into()])).await?;
        rows.into_iter().next().as_mut().map(Standing::read).transpose()
    }
}

impl Standing {
    pub(super) fn read(row: &mut Row) -> Result<Self, StoreError> {
        let conversation = Conversation::read(row)?;
        let state = row.optional_text()?;
        let opening = row.optional_text()?.map(|text| Opening::from_text(&text)).transpose()?;
        Ok(Self { conversation, opening, state })
    }

    /// The state before the first entry of the journal.
    pub(super) fn initial_value(&self) -> Result<Value, StoreError> {
        value(self.opening.as_ref().and_then(|opening| opening.state.as_deref()))
    }

    /// The state now.
    pub(super) fn value(&self) -> Result<Value, StoreError> {
        value(self.state.as_deref())
    }
}

impl Opening {
    fn from_text(text: &str) -> Result<Self, StoreError> {
        let written: Written = serde_json::from_str(text).map_err(damaged)?;
        Ok(Self {
            character: written.character,
            system_prompt: written.system_prompt,
            state: written.state.map(|state| state.get().to_owned()),
        })
    }

    pub(super) fn put(&self, conversation: &str) -> Result<Statement, StoreError> {
        let state = self.state.clone().map(RawValue::from_string).transpose().map_err(damaged)?;
        let written = Written { character: self.character.clone(), system_prompt: self.system_prompt.clone(), state };
        let text = serde_json::to_string(&written).map_err(damaged)?;
        Ok(Statement::new(PUT_OPENING, [conversation.into(), text.into()]).independent())
    }
}

pub(super) fn put_state(conversation: &str, state: &str) -> Statement {
    Statement::new(PUT_STATE, [conversation.into(), state.into()]).independent()
}

/// A state as a value. No state is an empty one.
pub(super) fn value(state: Option<&str>) -> Result<Value, StoreError> {
    state.map_or_else(|| Ok(Value::Object(Map::new())), |text| serde_json::from_str(text).map_err(damaged))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a state: {error}"))
}
