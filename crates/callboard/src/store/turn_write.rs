//! The write at the end of a turn: items, the character's memory, and the records beside them.
//!
//! It becomes one list of statements. The first checks that the conversation still has the version that the turn loaded.

use std::sync::Arc;

use serde_json::Value;

use super::character_memory::CharacterMemory;
use super::conversation::{self, Conversation, NewConversation};
use super::conversation_head::{self, ConversationHead};
use super::error::StoreError;
use super::handle::Store;
use super::item::{self, Item};
use super::journal;
use super::statement::{Conflict, Statement, cells};
use super::turn_records::TurnRecords;

const ADVANCE: &str = "UPDATE conversations SET version = version + 1, updated_at = $1, next_position = $2, next_sequence = $3, \
     bytes = bytes + $4 WHERE id = $5 AND version = $6";

/// What a turn writes, all or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnWrite {
    /// In milliseconds since 1970.
    pub at: i64,
    /// The character's part after the turn.
    pub memory: Option<Arc<CharacterMemory>>,
    /// New items, in order.
    pub items: Vec<NewItem>,
    /// Records beside the conversation.
    pub records: TurnRecords,
}

/// An item to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// Its id.
    pub id: String,
    /// The item as JSON.
    pub body: String,
}

impl NewItem {
    /// An item that carries its id.
    pub fn of(item: &Value) -> Self {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { id, body: item.to_string() }
    }

    /// How much such items add to the size of a conversation.
    pub fn bytes_of(items: &[Value]) -> u64 {
        items.iter().map(|item| item.to_string().len() as u64).sum()
    }

    fn bytes(&self) -> i64 {
        i64::try_from(self.body.len()).unwrap_or(i64::MAX)
    }
}

/// Statements, and the head of the conversation after them.
pub(super) struct WritePlan {
    pub(super) statements: Vec<Statement>,
    pub(super) after: ConversationHead,
}

impl TurnWrite {
    pub(super) fn plan(self, before: &ConversationHead) -> Result<WritePlan, StoreError> {
        let mut conversation = before.conversation.clone();
        conversation.version += 1;
        conversation.updated_at = self.at;
        let mut statements = Vec::new();
        let memory = match self.memory {
            Some(memory) => {
                let (id, opens) = (&conversation.id, before.memory.is_none());
                write_memory(id, &memory, opens, &mut conversation.next_sequence, &mut statements)?;
                Some(memory.committed())
            }
            None => before.memory.clone(),
        };
        let added: i64 = self.items.iter().map(NewItem::bytes).sum();
        let items = numbered(self.items, &mut conversation.next_position);
        conversation.bytes += added;
        statements.extend(item::insert(&conversation.id, items));
        let Conversation { id, updated_at, next_position, next_sequence, .. } = &conversation;
        let version = before.conversation.version;
        let cells = cells![*updated_at, *next_position, *next_sequence, added, id, version];
        // First, because it also locks the conversation's row.
        statements.insert(0, Statement::new(ADVANCE, cells).or(Conflict::Version).independent());
        Ok(WritePlan { statements, after: ConversationHead { conversation, memory } })
    }
}

impl Store {
    /// Begins a conversation with its first turn.
    pub async fn begin_with_turn(&self, new: NewConversation, write: TurnWrite) -> Result<(), StoreError> {
        let id = new.id.clone();
        let (statements, records) = first_turn(new, write)?;
        match self.write_with_records(statements, &records).await? {
            None => Ok(()),
            Some(_) => Err(StoreError::Exists(id)),
        }
    }

    /// The same without waiting, for a turn whose client has disconnected.
    pub fn begin_with_turn_in_background(&self, new: NewConversation, write: TurnWrite) -> Result<(), StoreError> {
        let (statements, records) = first_turn(new, write)?;
        self.write_in_background(statements, &records)
    }
}

fn first_turn(new: NewConversation, mut write: TurnWrite) -> Result<(Vec<Statement>, TurnRecords), StoreError> {
    let records = std::mem::take(&mut write.records);
    let (begin, conversation) = conversation::begin(new);
    let plan = write.plan(&ConversationHead { conversation, memory: None })?;
    Ok((std::iter::once(begin).chain(plan.statements).collect(), records))
}

/// Adds the initial values of a new character's part, and the changes of the turn.
fn write_memory(
    conversation: &str,
    memory: &CharacterMemory,
    opens: bool,
    next_sequence: &mut i64,
    statements: &mut Vec<Statement>,
) -> Result<(), StoreError> {
    let (record, changes) = (&memory.record, memory.record.changes());
    if opens {
        statements.push(conversation_head::put_opening(conversation, memory)?);
    }
    if let Some(changes) = &changes {
        for entry in changes.entries {
            if i64::try_from(entry.sequence) != Ok(*next_sequence) {
                return Err(StoreError::Conflict(conversation.to_owned()));
            }
            *next_sequence += 1;
            statements.push(journal::insert(conversation, entry)?);
        }
        statements.extend(changes.marks.iter().map(|(sequence, by)| journal::mark(conversation, *sequence, *by)));
    }
    let state = record.state().filter(|_| opens || changes.is_some());
    statements.extend(state.map(|state| conversation_head::put_state(conversation, state)));
    Ok(())
}

fn numbered(items: Vec<NewItem>, next_position: &mut i64) -> Vec<Item> {
    let first = *next_position;
    *next_position += i64::try_from(items.len()).unwrap_or_default();
    (first..).zip(items).map(|(position, NewItem { id, body })| Item { position, id, body }).collect()
}
