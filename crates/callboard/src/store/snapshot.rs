//! Snapshots of a character's part: at the end of each turn of a Chat Completions history, and of each response outside a conversation.
//!
//! A snapshot is found by a key that identifies the whole history before it. Its messages are a prefix of a chain, so a long history is
//! stored once and not once per turn; an edited history forks and gets a chain of its own.

use std::sync::Arc;

use super::chain_part::{ChainPart, LoadedChain, damaged};
use super::character_memory::CharacterMemory;
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement};

/// Keys per query. The newest are the likeliest, so a second query is rare.
const AT_ONCE: usize = 16;

const FIND: &str = "SELECT history, chain, parts, bytes, state, interrupted FROM snapshots WHERE history IN \
     ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const NAMED: &str = "SELECT s.history, s.chain, s.parts, s.bytes, s.state, s.interrupted FROM named_snapshots n \
     JOIN snapshots s ON s.history = n.history WHERE n.name = $1";
const PARTS: &str = "SELECT body FROM chain_parts WHERE chain = $1 AND part < $2 ORDER BY part";
const BEGIN_CHAIN: &str = "INSERT INTO chain_parts (chain, part, body) VALUES ($1, 0, $2)";
/// Only at the position where the history was found to end: if another turn appended there, or the chain was deleted, nothing is
/// written. Chains are deleted whole, so part 0 proves that the chain exists.
const APPEND: &str = "INSERT INTO chain_parts (chain, part, body) \
     SELECT chain, CAST($1 AS BIGINT), CAST($2 AS TEXT) FROM chain_parts WHERE chain = $3 AND part = 0 \
     /*postgres: FOR SHARE*/ ON CONFLICT (chain, part) DO NOTHING";
const KEEP: &str = "INSERT INTO snapshots (history, chain, parts, bytes, state, interrupted, kept_at, response_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
     ON CONFLICT (history) DO UPDATE SET replaced = snapshots.chain, chain = excluded.chain, parts = excluded.parts, \
     bytes = excluded.bytes, state = excluded.state, interrupted = excluded.interrupted, kept_at = excluded.kept_at, \
     response_id = excluded.response_id";
/// The chain of a replaced snapshot, if no other snapshot uses it. Locked first, so that a concurrent append to it is seen.
const LOCK_REPLACED: &str = "UPDATE chain_parts SET part = part WHERE part = 0 \
     AND chain IN (SELECT replaced FROM snapshots WHERE history = $1)";
const DROP_REPLACED: &str = "DELETE FROM chain_parts WHERE chain IN (SELECT replaced FROM snapshots WHERE history = $1) \
     AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain)";
const NAME: &str = "INSERT INTO named_snapshots (name, history, kept_at) VALUES ($1, $2, $3) \
     ON CONFLICT (name) DO UPDATE SET history = excluded.history, kept_at = excluded.kept_at";

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
    /// The name that the client gave the conversation: finds its newest snapshot.
    pub name: Option<String>,
    /// In milliseconds since 1970.
    pub at: i64,
    /// The character's part at this point.
    pub memory: Arc<CharacterMemory>,
    /// What was sent of a turn that the client interrupted; it may have read less.
    pub interrupted: Option<String>,
    /// The response that it belongs to and is deleted with; none in histories of Chat Completions, which expire by age.
    pub response: Option<String>,
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
        for (chunk, some) in keys.chunks(AT_ONCE).enumerate() {
            let rows = self.snapshot_rows(some).await?;
            for (index, key) in (chunk * AT_ONCE..).zip(some) {
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
    pub async fn named_snapshot(&self, name: &str) -> Result<Option<CharacterMemory>, StoreError> {
        self.inner.pending_writes.settled().await;
        let rows = self.reads().read(Statement::new(NAMED, [name.into()])).await?;
        match rows.into_iter().next() {
            Some(mut row) => self.load_chain(&SnapshotRow::read(&mut row)?).await,
            None => Ok(None),
        }
    }

    async fn snapshot_rows(&self, keys: &[String]) -> Result<Vec<SnapshotRow>, StoreError> {
        let none = std::iter::repeat(Cell::Null);
        let cells: Vec<Cell> = keys.iter().map(|key| key.as_str().into()).chain(none).take(AT_ONCE).collect();
        let rows = self.reads().read(Statement::new(FIND, cells)).await?;
        rows.into_iter().map(|mut row| SnapshotRow::read(&mut row)).collect()
    }

    /// None where the chain was deleted since the row was read.
    async fn load_chain(&self, row: &SnapshotRow) -> Result<Option<CharacterMemory>, StoreError> {
        self.check_history(&row.key, u64::try_from(row.position.bytes).unwrap_or_default())?;
        let cells = [row.position.chain.as_str().into(), row.position.parts.into()];
        let parts = self.reads().read(Statement::new(PARTS, cells)).await?;
        if i64::try_from(parts.len()) != Ok(row.position.parts) {
            return Ok(None);
        }
        let mut loaded = LoadedChain::default();
        for mut part in parts {
            loaded.append(ChainPart::read(&part.text()?)?);
        }
        let mut memory = loaded.into_memory(row.state.clone());
        let marks = memory.record.journal().iter().map(|entry| entry.undone_by).collect();
        memory.stored = Some(ChainPosition { messages: memory.messages.len(), marks, ..row.position.clone() });
        Ok(Some(memory))
    }
}

/// Where new messages are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChainMode {
    /// Behind those that are stored.
    Append,
    /// In a new chain, with a copy of the others.
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
    let (chain, parts, bytes, stored) = match position {
        Some(position) => {
            let append = Statement::new(APPEND, [position.parts.into(), part.into(), position.chain.as_str().into()]);
            (
                position.chain.as_str(),
                position.parts + 1,
                position.bytes.saturating_add(added),
                append.or(Conflict::Chain),
            )
        }
        None => (new_chain, 1, added, Statement::new(BEGIN_CHAIN, [new_chain.into(), part.into()])),
    };
    let interrupted = new.interrupted.as_ref().map(serde_json::to_string).transpose().map_err(damaged)?;
    let row: [Cell; 8] = [
        new.key.as_str().into(),
        chain.into(),
        parts.into(),
        bytes.into(),
        memory.record.state().map(str::to_owned).into(),
        interrupted.into(),
        new.at.into(),
        new.response.clone().into(),
    ];
    let replaced = [LOCK_REPLACED, DROP_REPLACED].map(|sql| Statement::new(sql, [new.key.as_str().into()]));
    let name = new
        .name
        .as_ref()
        .map(|name| Statement::new(NAME, [name.as_str().into(), new.key.as_str().into(), new.at.into()]));
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
            key: row.text()?,
            position: ChainPosition {
                chain: row.text()?,
                parts: row.integer()?,
                bytes: row.integer()?,
                ..ChainPosition::default()
            },
            state: row.optional_text()?,
            interrupted: row.optional_text()?.map(|text| serde_json::from_str(&text)).transpose().map_err(damaged)?,
        })
    }
}
