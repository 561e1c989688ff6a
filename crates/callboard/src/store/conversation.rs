//! Conversations: one row each.

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Conflict, Row, Statement, cells};

const INSERT: &str = "INSERT INTO conversations \
     (id, owner, created_at, updated_at, metadata, version, next_position, next_sequence) \
     VALUES ($1, $2, $3, $3, $4, 0, 0, 1) ON CONFLICT (id) DO NOTHING";
const SELECT: &str = "SELECT id, owner, created_at, updated_at, metadata, version, next_position, next_sequence, bytes \
     FROM conversations WHERE id = $1";
const SET_METADATA: &str = "UPDATE conversations SET metadata = $1, updated_at = $2 WHERE id = $3";

/// A conversation to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// `conv_…`.
    pub id: String,
    /// Its owner, as the caller identifies them; empty where it does not.
    pub owner: String,
    /// When it begins.
    pub at: i64,
    /// A JSON object.
    pub metadata: String,
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// `conv_…`.
    pub id: String,
    /// Its owner.
    pub owner: String,
    /// When it began.
    pub created_at: i64,
    /// When it was last written.
    pub updated_at: i64,
    /// A JSON object.
    pub metadata: String,
    /// How often it was written.
    pub version: i64,
    /// The position of its next item.
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
        match self.writes.write(vec![insert(new)]).await? {
            None => Ok(()),
            Some(_) => Err(StoreError::Exists(id)),
        }
    }

    /// One conversation.
    pub async fn conversation(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        self.settled_reads().await.first(Statement::new(SELECT, cells![id]), Conversation::read).await
    }

    /// Replaces the metadata.
    pub async fn set_metadata(&self, id: &str, metadata: String, at: i64) -> Result<(), StoreError> {
        let change = Statement::new(SET_METADATA, cells![metadata, at, id]).or(Conflict::Missing);
        match self.writes.write(vec![change]).await? {
            None => Ok(()),
            Some(_) => Err(StoreError::NotFound(id.to_owned())),
        }
    }

    /// Deletes a conversation with all that belongs to it; false if there was none. A running turn of it can no longer be written.
    pub async fn delete_conversation(&self, id: &str) -> Result<bool, StoreError> {
        let conflict = self.writes.write(delete(id)).await?;
        self.inner.changes.notify();
        Ok(conflict.is_none())
    }
}

/// The statement that begins it, and the row as it is then.
pub(super) fn begin(new: NewConversation) -> (Statement, Conversation) {
    let row = Conversation {
        id: new.id.clone(),
        owner: new.owner.clone(),
        created_at: new.at,
        updated_at: new.at,
        metadata: new.metadata.clone(),
        version: 0,
        next_position: 0,
        next_sequence: 1,
        bytes: 0,
    };
    (insert(new), row)
}

fn insert(new: NewConversation) -> Statement {
    Statement::new(INSERT, cells![new.id, new.owner, new.at, new.metadata]).or(Conflict::Taken)
}

/// The conversation's own row is deleted first: a turn that is being written has locked it, or finds it gone.
fn delete(id: &str) -> Vec<Statement> {
    let own = Statement::new("DELETE FROM conversations WHERE id = $1", cells![id]).or(Conflict::Missing);
    std::iter::once(own).chain(delete_parts(id)).collect()
}

/// What belongs to a conversation, also the Chat Completions histories that led to it. Its responses cannot be followed outside of it, so they are deleted too.
pub(super) fn delete_parts(id: &str) -> impl Iterator<Item = Statement> {
    const PARTS: [&str; 11] = [
        "DELETE FROM items WHERE conversation_id = $1",
        "DELETE FROM openings WHERE conversation_id = $1",
        "DELETE FROM states WHERE conversation_id = $1",
        "DELETE FROM journal WHERE conversation_id = $1",
        "DELETE FROM turn_leases WHERE conversation_id = $1",
        "DELETE FROM responses WHERE conversation_id = $1",
        "DELETE FROM traces WHERE content_of = $1",
        // Locked first, so that a concurrent append to a chain is seen.
        "UPDATE chain_parts SET part = part WHERE part = 0 \
         AND chain IN (SELECT chain FROM snapshots WHERE conversation_id = $1)",
        "DELETE FROM named_snapshots WHERE history IN (SELECT history FROM snapshots WHERE conversation_id = $1)",
        "DELETE FROM chain_parts WHERE chain IN (SELECT chain FROM snapshots WHERE conversation_id = $1) \
         AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain \
         AND (s.conversation_id IS NULL OR s.conversation_id <> $1))",
        "DELETE FROM snapshots WHERE conversation_id = $1",
    ];
    PARTS.into_iter().map(move |sql| Statement::new(sql, cells![id]))
}

impl Conversation {
    pub(super) fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get()?,
            owner: row.get()?,
            created_at: row.get()?,
            updated_at: row.get()?,
            metadata: row.get()?,
            version: row.get()?,
            next_position: row.get()?,
            next_sequence: row.get()?,
            bytes: row.get()?,
        })
    }
}
