//! Histories of Chat Completions: for places in them, the state and all that the client never saw.
//!
//! A snapshot is found by a key that stands for the whole history before it. Its messages are a prefix of a chain, so that
//! a long conversation is stored once and not once per turn; a history that was edited forks and gets a chain of its own.

use callboard_core::journal::Entry;

use super::chain_part::{Part, damaged};
use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement};

/// So many keys are looked up at once. The newest are the likeliest, so the others are rarely asked for.
const AT_ONCE: usize = 16;

const FIND: &str = "SELECT history, chain, parts, bytes, state, interrupted FROM snapshots WHERE history IN \
     ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
const NAMED: &str = "SELECT s.history, s.chain, s.parts, s.bytes, s.state, s.interrupted FROM named_snapshots n \
     JOIN snapshots s ON s.history = n.history WHERE n.name = $1";
const PARTS: &str = "SELECT body FROM chain_parts WHERE chain = $1 AND part < $2 ORDER BY part";
const BEGIN_CHAIN: &str = "INSERT INTO chain_parts (chain, part, body) VALUES ($1, 0, $2)";
/// Only at the place where the history was found to end: one that went on elsewhere, or was deleted, is left alone. A chain is deleted
/// as a whole, so its first part stands for all of it.
const APPEND: &str = "INSERT INTO chain_parts (chain, part, body) \
     SELECT chain, CAST($1 AS BIGINT), CAST($2 AS TEXT) FROM chain_parts WHERE chain = $3 AND part = 0 \
     /*postgres: FOR SHARE*/ ON CONFLICT (chain, part) DO NOTHING";
const KEEP: &str = "INSERT INTO snapshots (history, chain, parts, bytes, state, interrupted, kept_at, response_id) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
     ON CONFLICT (history) DO UPDATE SET replaced = snapshots.chain, chain = excluded.chain, parts = excluded.parts, \
     bytes = excluded.bytes, state = excluded.state, interrupted = excluded.interrupted, kept_at = excluded.kept_at, \
     response_id = excluded.response_id";
/// What only an older snapshot of the same history used. Locked first, so that whoever goes on from it now is seen.
const LOCK_REPLACED: &str = "UPDATE chain_parts SET part = part WHERE part = 0 \
     AND chain IN (SELECT replaced FROM snapshots WHERE history = $1)";
const DROP_REPLACED: &str = "DELETE FROM chain_parts WHERE chain IN (SELECT replaced FROM snapshots WHERE history = $1) \
     AND NOT EXISTS (SELECT 1 FROM snapshots s WHERE s.chain = chain_parts.chain)";
const NAME: &str = "INSERT INTO named_snapshots (name, history, kept_at) VALUES ($1, $2, $3) \
     ON CONFLICT (name) DO UPDATE SET history = excluded.history, kept_at = excluded.kept_at";

/// A conversation at the end of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The prompt that was made when the conversation began.
    pub system_prompt: String,
    /// The character's state at that time, as JSON text.
    pub initial: Option<String>,
    /// Its state now.
    pub state: Option<String>,
    /// What changed it.
    pub journal: Vec<Entry>,
    /// All messages so far as JSON, as they go to a model: also calls and results.
    pub messages: Vec<String>,
    /// What the client was told in a turn that it interrupted; it may have read less.
    pub interrupted: Option<String>,
    /// Where the first messages and entries are stored already: carry it over from the snapshot that was found to the one that follows.
    pub place: Option<Place>,
}

/// Where messages and entries are stored, and how many of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    chain: String,
    parts: i64,
    bytes: i64,
    messages: usize,
    /// Which undo had taken back each entry.
    marks: Vec<Option<u64>>,
}

/// A snapshot to keep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewSnapshot {
    /// Stands for the whole history: whoever shows it again goes on from here.
    pub key: String,
    /// The name that the client gave the conversation, if it did: finds the newest snapshot of it.
    pub name: Option<String>,
    /// When.
    pub at: i64,
    /// What is kept.
    pub snapshot: Snapshot,
    /// The response that it belongs to and goes with; none in histories of Chat Completions, which go by their age.
    pub response: Option<String>,
}

/// A snapshot without what is in its chain.
struct Head {
    key: String,
    place: Place,
    state: Option<String>,
    interrupted: Option<String>,
}

impl Store {
    /// The first of these keys, newest first, that has a snapshot which fits. Whether one does is asked with the number of the
    /// key and with what the client was told if the turn was interrupted.
    pub async fn find_snapshot(
        &self,
        keys: &[String],
        fits: impl Fn(usize, Option<&str>) -> bool,
    ) -> Result<Option<(usize, Snapshot)>, StoreError> {
        self.inner.pending_writes.settled().await;
        for (chunk, some) in keys.chunks(AT_ONCE).enumerate() {
            let heads = self.heads(some).await?;
            for (number, key) in (chunk * AT_ONCE..).zip(some) {
                let Some(head) = heads.iter().find(|head| head.key == *key) else { continue };
                if !fits(number, head.interrupted.as_deref()) {
                    continue;
                }
                if let Some(snapshot) = self.whole(head).await? {
                    return Ok(Some((number, snapshot)));
                }
            }
        }
        Ok(None)
    }

    /// The newest snapshot of a conversation that the client named.
    pub async fn named_snapshot(&self, name: &str) -> Result<Option<Snapshot>, StoreError> {
        self.inner.pending_writes.settled().await;
        let rows = self.reads().read(Statement::new(NAMED, [name.into()])).await?;
        match rows.into_iter().next() {
            Some(mut row) => self.whole(&Head::read(&mut row)?).await,
            None => Ok(None),
        }
    }

    async fn heads(&self, keys: &[String]) -> Result<Vec<Head>, StoreError> {
        let none = std::iter::repeat(Cell::Null);
        let cells: Vec<Cell> = keys.iter().map(|key| key.as_str().into()).chain(none).take(AT_ONCE).collect();
        let rows = self.reads().read(Statement::new(FIND, cells)).await?;
        rows.into_iter().map(|mut row| Head::read(&mut row)).collect()
    }

    /// None where the messages were deleted in this very moment.
    async fn whole(&self, head: &Head) -> Result<Option<Snapshot>, StoreError> {
        self.check_history(&head.key, u64::try_from(head.place.bytes).unwrap_or_default())?;
        let cells = [head.place.chain.as_str().into(), head.place.parts.into()];
        let parts = self.reads().read(Statement::new(PARTS, cells)).await?;
        if i64::try_from(parts.len()) != Ok(head.place.parts) {
            return Ok(None);
        }
        let mut snapshot =
            Snapshot { state: head.state.clone(), interrupted: head.interrupted.clone(), ..Snapshot::default() };
        for mut row in parts {
            Part::read(&row.text()?)?.follow(&mut snapshot);
        }
        let marks = snapshot.journal.iter().map(|entry| entry.undone_by).collect();
        snapshot.place = Some(Place { messages: snapshot.messages.len(), marks, ..head.place.clone() });
        Ok(Some(snapshot))
    }
}

/// Where messages that follow others go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chain {
    /// Behind them.
    Continued,
    /// Into a new chain, with a copy of the others.
    Forked,
}

/// The statements that keep a snapshot.
pub(super) fn keep(new: &NewSnapshot, new_chain: &str, chain: Chain) -> Result<Vec<Statement>, StoreError> {
    let snapshot = &new.snapshot;
    let place = snapshot.place.as_ref().filter(|place| chain == Chain::Continued && place.leads_to(snapshot));
    let part = match place {
        Some(place) => Part::behind(snapshot, place.messages, &place.marks),
        None => Part::first(snapshot),
    };
    let part = part?.write()?;
    let added = i64::try_from(part.len()).unwrap_or(i64::MAX);
    let (chain, parts, bytes, stored) = match place {
        Some(place) => {
            let append = Statement::new(APPEND, [place.parts.into(), part.into(), place.chain.as_str().into()]);
            (place.chain.as_str(), place.parts + 1, place.bytes.saturating_add(added), append.or(Conflict::Chain))
        }
        None => (new_chain, 1, added, Statement::new(BEGIN_CHAIN, [new_chain.into(), part.into()])),
    };
    let interrupted = snapshot.interrupted.as_ref().map(serde_json::to_string).transpose().map_err(damaged)?;
    let head: [Cell; 8] = [
        new.key.as_str().into(),
        chain.into(),
        parts.into(),
        bytes.into(),
        snapshot.state.clone().into(),
        interrupted.into(),
        new.at.into(),
        new.response.clone().into(),
    ];
    let replaced = [LOCK_REPLACED, DROP_REPLACED].map(|sql| Statement::new(sql, [new.key.as_str().into()]));
    let name = new
        .name
        .as_ref()
        .map(|name| Statement::new(NAME, [name.as_str().into(), new.key.as_str().into(), new.at.into()]));
    Ok([stored, Statement::new(KEEP, head)].into_iter().chain(replaced).chain(name).collect())
}

impl Place {
    /// Whether the snapshot only adds to what is stored there.
    fn leads_to(&self, snapshot: &Snapshot) -> bool {
        self.messages <= snapshot.messages.len() && self.marks.len() <= snapshot.journal.len()
    }
}

impl Head {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            key: row.text()?,
            place: Place { chain: row.text()?, parts: row.integer()?, bytes: row.integer()?, ..Place::default() },
            state: row.optional_text()?,
            interrupted: row.optional_text()?.map(|text| serde_json::from_str(&text)).transpose().map_err(damaged)?,
        })
    }
}
