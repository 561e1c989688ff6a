//! Conversations: one row each.

use super::error::StoreError;
use super::handle::Store;
use super::page::Page;
use super::statement::{Cell, Conflict, Row, Statement};

const INSERT: &str = "INSERT INTO conversations \
     (id, owner, created_at, updated_at, metadata, version, next_position, next_sequence) \
     VALUES ($1, $2, $3, $3, $4, 0, 0, 1) ON CONFLICT (id) DO NOTHING";
const SELECT: &str = "SELECT id, owner, created_at, updated_at, metadata, version, next_position, next_sequence, bytes \
     FROM conversations WHERE id = $1";
const NEWEST: &str = "SELECT id, owner, created_at, updated_at, metadata, version, next_position, next_sequence, bytes \
     FROM conversations WHERE (updated_at, id) < ($1, $2) ORDER BY updated_at DESC, id DESC LIMIT $3";
const SET_METADATA: &str = "UPDATE conversations SET metadata = $1, updated_at = $2 WHERE id = $3";

/// A conversation to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// `conv_…`.
    pub id: String,
    /// Whose it is, as the caller tells people apart; empty where it does not.
    pub owner: String,
    /// When.
    pub at: i64,
    /// A JSON object.
    pub metadata: String,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// `conv_…`.
    pub id: String,
    /// Whose it is.
    pub owner: String,
    /// When it began.
    pub created_at: i64,
    /// When it last went on.
    pub updated_at: i64,
    /// A JSON object.
    pub metadata: String,
    /// How often it was written.
    pub version: i64,
    /// Where its next item goes.
    pub next_position: i64,
    /// The sequence of its next journal entry.
    pub next_sequence: i64,
    /// Bytes of its items.
    pub bytes: i64,
}

impl Store {
    /// Begins a conversation.
    pub async fn create_conversation(&self, new: NewConversation) -> Result<(), StoreError> {
        let id = new.id.clone();
        match self.writes().write(vec![insert(new)]).await? {
            None => Ok(()),
            Some(_) => Err(StoreError::Exists(id)),
        }
    }

    /// One conversation.
    pub async fn conversation(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        let rows = self.settled_reads().await.read(Statement::new(SELECT, [id.into()])).await?;
        rows.into_iter().next().as_mut().map(Conversation::read).transpose()
    }

    /// Conversations, the one that went on last first.
    pub async fn conversations(&self, page: &Page) -> Result<Vec<Conversation>, StoreError> {
        let rows = self.reads().read(Statement::new(NEWEST, page.cells())).await?;
        rows.into_iter().map(|mut row| Conversation::read(&mut row)).collect()
    }

    /// Replaces the metadata.
    pub async fn set_metadata(&self, id: &str, metadata: String, at: i64) -> Result<(), StoreError> {
        let change = Statement::new(SET_METADATA, [metadata.into(), at.into(), id.into()]).or(Conflict::Gone);
        match self.writes().write(vec![change]).await? {
            None => Ok(()),
            Some(_) => Err(StoreError::NotFound(id.to_owned())),
        }
    }

    /// Deletes a conversation with all that belongs to it; false if there was none. A turn that runs cannot be written any more.
    pub async fn delete_conversation(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.writes().write(delete(id)).await?.is_none())
    }
}

fn insert(new: NewConversation) -> Statement {
    let cells: [Cell; 4] = [new.id.into(), new.owner.into(), new.at.into(), new.metadata.into()];
    Statement::new(INSERT, cells).or(Conflict::Taken)
}

/// The conversation's own row goes first: a turn that is being written has locked it, or finds it gone.
fn delete(id: &str) -> Vec<Statement> {
    let own = Statement::new("DELETE FROM conversations WHERE id = $1", [id.into()]).or(Conflict::Gone);
    std::iter::once(own).chain(delete_parts(id)).collect()
}

/// What belongs to a conversation. Nobody can follow its responses outside of it, so they go as well.
pub(super) fn delete_parts(id: &str) -> impl Iterator<Item = Statement> {
    const PARTS: [&str; 7] = [
        "DELETE FROM items WHERE conversation_id = $1",
        "DELETE FROM openings WHERE conversation_id = $1",
        "DELETE FROM states WHERE conversation_id = $1",
        "DELETE FROM journal WHERE conversation_id = $1",
        "DELETE FROM turn_leases WHERE conversation_id = $1",
        "DELETE FROM responses WHERE conversation_id = $1",
        "DELETE FROM traces WHERE content_of = $1",
    ];
    PARTS.into_iter().map(move |sql| Statement::new(sql, [id.into()]))
}

impl Conversation {
    pub(super) fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.text()?,
            owner: row.text()?,
            created_at: row.integer()?,
            updated_at: row.integer()?,
            metadata: row.text()?,
            version: row.integer()?,
            next_position: row.integer()?,
            next_sequence: row.integer()?,
            bytes: row.integer()?,
        })
    }
}
