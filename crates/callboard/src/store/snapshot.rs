//! Snapshots of a character's part: at the end of each turn of a Chat Completions history, and of each response outside a conversation.
//!
//! A snapshot is found by a key that identifies the whole history before it. Its messages are a prefix of a chain, so a long history is
//! stored once and not once per turn; an edited history forks and gets a new chain.

use std::sync::Arc;

use super::character_memory::CharacterMemory;
use super::conversation_name::ClientName;
use super::error::StoreError;
use super::handle::Store;
use super::snapshot_chain::{ChainPart, LoadedChain};
use super::statement::{Cell, Conflict, Row, Statement, cells};

/// The newest keys match most often, so a second query is rare.
const KEYS_PER_QUERY: usize = 16;

const FIND: &str = "SELECT history, chain, parts, bytes, state, interrupted, conversation_id, position FROM snapshots \
     WHERE history IN \
     ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const NAMED: &str = "SELECT s.history, s.chain, s.parts, s.bytes, s.state, s.interrupted, \
     s.conversation_id, s.position, n.turn FROM named_snapshots n JOIN snapshots s ON s.history = n.history WHERE n.name = $1";
const PARTS: &str = "SELECT body FROM chain_parts WHERE chain = $1 AND part < $2 ORDER BY part";
const BEGIN_CHAIN: &str = "INSERT INTO chain_parts (chain, part, body) VALUES ($1, 0, $2)";
/// Only at the position where the history was found to end: if another turn appended there, or the chain was deleted, nothing is
/// written. Chains are deleted whole, so part 0 proves that the chain exists.
const APPEND: &str = "INSERT INTO chain_parts (chain, part, body) \
     SELECT chain, CAST($1 AS BIGINT), CAST($2 AS TEXT) FROM chain_parts WHERE chain = $3 AND part = 0 \
     /*postgres: FOR SHARE*/ ON CONFLICT (chain, part) DO NOTHING";
const KEEP: &str = "INSERT INTO snapshots (history, chain, parts, bytes, state, interrupted, kept_at, response_id, \
     conversation_id, position) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
     ON CONFLICT (history) DO UPDATE SET replaced = snapshots.chain, chain = excluded.chain, parts = excluded.parts, \
     bytes = excluded.bytes, state = excluded.state, interrupted = excluded.interrupted, kept_at = excluded.kept_at, \
     response_id = excluded.response_id, conversation_id = excluded.conversation_id, position = excluded.position";
/// The chain of a replaced snapshot, if no other snapshot uses it. Locked first, so that a concurrent append to it is seen.
const LOCK_REPLACED: &str = "UPDATE chain_parts SET part = part WHERE part = 0 \
     AND chain IN (SELECT replaced FROM snapshots WHERE history = $1)";
const DROP_REPLACED: &str = "DELETE FROM chain_parts WHERE chain IN (SELECT replaced FROM snapshots WHERE history = $1) \
     AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain)";
/// A write can be delayed until after that of a later turn, which another process made: the newer turn stays. Of two turns that did not
/// know of each other the later one stays. Turn 0 did not continue from the name, and follows whatever is there.
const NAME: &str = "INSERT INTO named_snapshots (name, history, kept_at, turn, owner, character, client_name) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (name) DO UPDATE SET history = excluded.history, \
     kept_at = excluded.kept_at, owner = excluded.owner, character = excluded.character, client_name = excluded.client_name, \
     turn = CASE WHEN excluded.turn = 0 THEN named_snapshots.turn + 1 ELSE excluded.turn END \
     WHERE excluded.turn = 0 OR excluded.turn > named_snapshots.turn \
     OR (excluded.turn = named_snapshots.turn AND excluded.kept_at >= named_snapshots.kept_at)";

/// Where messages and journal entries are stored, and how many of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainPosition {
    chain: String,
    parts: i64,
    bytes: i64,
    messages: usize,
    /// `undone_by` of each entry.
    marks: Vec<Option<u64>>,
}

/// A snapshot to store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSnapshot {
    /// Identifies the whole history.
    pub key: String,
    /// The name that the client gave the conversation.
    pub name: Option<SnapshotName>,
    /// In milliseconds since 1970.
    pub at: i64,
    /// The character's part at this point.
    pub memory: Arc<CharacterMemory>,
    /// What was sent of a turn that the client interrupted; it may have read less.
    pub interrupted: Option<String>,
    /// The response that it belongs to and is deleted with; none in histories of Chat Completions, which expire by age.
    pub response: Option<String>,
    /// Where a history of Chat Completions is in its conversation.
    pub place: Option<ConversationPlace>,
}

/// A point in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationPlace {
    /// The conversation.
    pub conversation: String,
    /// The position of its next item.
    pub position: i64,
}

/// The name of a conversation, which finds its newest snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotName {
    /// Made of the name and of all that keeps it apart from others.
    pub key: String,
    /// The name as the client gave it.
    pub client: ClientName,
    /// The number of the turn, from 1, where it continued from the name; 0 where it continued from the client's history.
    pub turn: i64,
}

/// The newest snapshot of a name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSnapshot {
    /// The character's part.
    pub memory: CharacterMemory,
    /// The number of its turn.
    pub turn: i64,
}

/// A snapshot that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSnapshot {
    /// Which of the keys found it.
    pub index: usize,
    /// The character's part at that point; the caller knows whose it is.
    pub memory: CharacterMemory,
    /// What was sent of an interrupted turn.
    pub interrupted: Option<String>,
}

/// A row of `snapshots`: all but what is in its chain.
struct SnapshotRow {
    key: String,
    position: ChainPosition,
    state: Option<String>,
    interrupted: Option<String>,
    place: Option<ConversationPlace>,
}

impl Store {
    /// The snapshot of the first of these keys, newest first, that has one which fits. `fits` gets the index of the key and what was sent of
    /// an interrupted turn.
    pub async fn find_snapshot(
        &self,
        keys: &[String],
        fits: impl Fn(usize, Option<&str>) -> bool,
    ) -> Result<Option<FoundSnapshot>, StoreError> {
        self.inner.pending_writes.settled().await;
        for (chunk, some) in keys.chunks(KEYS_PER_QUERY).enumerate() {
            let rows = self.snapshot_rows(some).await?;
            for (index, key) in (chunk * KEYS_PER_QUERY..).zip(some) {
                let row = rows.iter().find(|row| row.key == *key);
                let Some(row) = row.filter(|row| fits(index, row.interrupted.as_deref())) else { continue };
                if let Some(memory) = self.load_chain(row).await? {
                    return Ok(Some(FoundSnapshot { index, memory, interrupted: row.interrupted.clone() }));
                }
            }
        }
        Ok(None)
    }

    /// The newest snapshot of a conversation that the client named.
    pub async fn named_snapshot(&self, name: &str) -> Result<Option<NamedSnapshot>, StoreError> {
        self.inner.pending_writes.settled().await;
        let read = |row: &mut Row| Ok((SnapshotRow::read(row)?, row.get()?));
        let Some((row, turn)) = self.reads.first(Statement::new(NAMED, cells![name]), read).await? else {
            return Ok(None);
        };
        let memory = self.load_chain(&row).await?;
        Ok(memory.map(|memory| NamedSnapshot { memory, turn }))
    }

    async fn snapshot_rows(&self, keys: &[String]) -> Result<Vec<SnapshotRow>, StoreError> {
        let none = std::iter::repeat(Cell::Null);
        let cells: Vec<Cell> = keys.iter().map(|key| key.as_str().into()).chain(none).take(KEYS_PER_QUERY).collect();
        self.reads.all(Statement::new(FIND, cells), SnapshotRow::read).await
    }

    /// None where the chain was deleted since the row was read.
    async fn load_chain(&self, row: &SnapshotRow) -> Result<Option<CharacterMemory>, StoreError> {
        self.check_history(&row.key, u64::try_from(row.position.bytes).unwrap_or_default())?;
        let query = Statement::new(PARTS, cells![&row.position.chain, row.position.parts]);
        let parts = self.reads.all(query, |row| ChainPart::read(&row.get::<String>()?)).await?;
        if i64::try_from(parts.len()) != Ok(row.position.parts) {
            return Ok(None);
        }
        let mut loaded = LoadedChain::default();
        parts.into_iter().for_each(|part| loaded.append(part));
        let mut memory = loaded.into_memory(row.state.clone());
        let marks = memory.record.journal().iter().map(|entry| entry.undone_by).collect();
        memory.place = row.place.clone();
        memory.stored = Some(ChainPosition { messages: memory.messages.len(), marks, ..row.position.clone() });
        Ok(Some(memory))
    }
}

/// Where new messages are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChainMode {
    /// At the end of the chain.
    Append,
    /// In a new chain, with a copy of the earlier ones.
    Fork,
}

/// The statements that store a snapshot.
pub(super) fn insert(new: &NewSnapshot, new_chain: &str, mode: ChainMode) -> Result<Vec<Statement>, StoreError> {
    let memory = &*new.memory;
    let position = memory.stored.as_ref().filter(|position| mode == ChainMode::Append && position.is_prefix_of(memory));
    let part = match position {
        Some(position) => ChainPart::after(memory, position.messages, &position.marks),
        None => ChainPart::whole(memory),
    };
    let part = part?.write()?;
    let added = i64::try_from(part.len()).unwrap_or(i64::MAX);
    let (chain, parts, bytes) = position.map_or((new_chain, 0, 0), |at| (at.chain.as_str(), at.parts, at.bytes));
    let stored = match position {
        Some(_) => Statement::new(APPEND, cells![parts, part, chain]).or(Conflict::Chain),
        None => Statement::new(BEGIN_CHAIN, cells![chain, part]),
    };
    let (key, state) = (new.key.as_str(), memory.record.state());
    let interrupted =
        new.interrupted.as_ref().map(serde_json::to_string).transpose().map_err(StoreError::damaged("a history"))?;
    let (bytes, response) = (bytes.saturating_add(added), new.response.as_deref());
    let conversation = new.place.as_ref().map(|place| place.conversation.as_str());
    let at = new.place.as_ref().map(|place| place.position);
    let row = cells![key, chain, parts + 1, bytes, state, interrupted, new.at, response, conversation, at];
    let replaced = [LOCK_REPLACED, DROP_REPLACED].map(|sql| Statement::new(sql, cells![key]));
    let name = new.name.as_ref().map(|name| {
        let ClientName { owner, character, name: words } = &name.client;
        Statement::new(NAME, cells![&name.key, key, new.at, name.turn, owner, character, words])
    });
    Ok([stored, Statement::new(KEEP, row)].into_iter().chain(replaced).chain(name).collect())
}

impl ChainPosition {
    /// Whether the memory only adds to what is stored there.
    fn is_prefix_of(&self, memory: &CharacterMemory) -> bool {
        self.messages <= memory.messages.len() && self.marks.len() <= memory.record.journal().len()
    }
}

impl SnapshotRow {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.get()?,
            position: ChainPosition {
                chain: row.get()?,
                parts: row.get()?,
                bytes: row.get()?,
                ..ChainPosition::default()
            },
            state: row.get()?,
            interrupted: row
                .get::<Option<String>>()?
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(StoreError::damaged("a history"))?,
            place: match (row.get()?, row.get()?) {
                (Some(conversation), Some(position)) => Some(ConversationPlace { conversation, position }),
                _ => None,
            },
        })
    }
}
