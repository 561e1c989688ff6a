//! Responses: each with its input, its output, and the one it followed.
//!
//! A response can follow another only while that one exists, and keeps its row alive. Deletion is in `response_deletion`.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement, Work, cells};

const PUT: &str = "INSERT INTO responses (id, owner, conversation_id, created_at, expires_at, body, output, input) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, output = excluded.output, expires_at = excluded.expires_at";
const PUT_BEHIND: &str = "INSERT INTO responses \
     (id, owner, conversation_id, created_at, expires_at, body, output, input, previous_id) \
     SELECT $1, $2, $3, CAST($4 AS BIGINT), CAST($5 AS BIGINT), $6, $7, $8, id FROM responses WHERE id = $9 \
     /*postgres: FOR SHARE*/ \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, output = excluded.output, expires_at = excluded.expires_at";
const ONE: &str = "SELECT id, owner, conversation_id, previous_id, input, output, body, created_at, expires_at FROM responses \
     WHERE id = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
/// From the newest back, up to a number of responses or bytes. Deleted and expired responses stay for their followers, but a chain does
/// not start with one. The first of all leads to a row without an id, which joins nothing: to exclude it by a condition, PostgreSQL would
/// scan the index of followers, which is empty when the plan is made.
const CHAIN: &str = "WITH RECURSIVE chain (id, depth, bytes) AS ( \
         SELECT id, CAST(1 AS BIGINT), CAST(0 AS BIGINT) FROM responses WHERE id = $1 AND (CAST($2 AS BIGINT) IS NULL \
         OR (deleted_at IS NULL AND (expires_at IS NULL OR expires_at > CAST($2 AS BIGINT)))) UNION ALL \
         SELECT later.previous_id, chain.depth + 1, \
         chain.bytes + octet_length(COALESCE(later.output, later.body)) + octet_length(later.input) \
         FROM chain JOIN responses later ON later.id = chain.id \
         WHERE chain.depth < $3 \
         AND chain.bytes + octet_length(COALESCE(later.output, later.body)) + octet_length(later.input) < $4) \
     SELECT r.id, r.owner, r.conversation_id, r.previous_id, r.input, r.output, CASE WHEN r.output IS NULL THEN r.body END \
     FROM chain JOIN responses r ON r.id = chain.id ORDER BY chain.depth DESC";
/// Ids are unique, so the row exists only if this response was stored.
const IS_STORED: &str = "SELECT id FROM responses WHERE id = $1";
const SNAPSHOT_KEY: &str = "SELECT history FROM snapshots WHERE response_id = $1";

/// A stored response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// Its items, and its place in a chain.
    pub exchange: Exchange,
    /// In milliseconds since 1970.
    pub created_at: i64,
    /// When it expires.
    pub expires_at: Option<i64>,
    /// The response object as JSON. Its output is stored separately, and may be missing here.
    pub body: String,
}

/// The input and output of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// `resp_…`.
    pub id: String,
    /// Its owner, as the caller identifies them; empty where it does not.
    pub owner: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// The response it followed.
    pub previous: Option<String>,
    /// The input items as a JSON array.
    pub input: String,
    /// The output items as a JSON array.
    pub output: String,
}

/// Responses that follow each other.
#[derive(Debug, Default)]
pub struct ResponseChain {
    /// Oldest first.
    pub exchanges: Vec<Exchange>,
    /// The key of the newest response's snapshot, if a character answered.
    pub snapshot_key: Option<String>,
}

impl Store {
    /// One response that was not deleted and has not expired.
    pub async fn response(&self, id: &str, now: i64) -> Result<Option<Response>, StoreError> {
        self.settled_reads().await.first(Statement::new(ONE, cells![id, now]), Response::read).await
    }

    /// A response and those before it, also deleted ones, up to `limit` and the history limit in bytes. If the oldest of them has a
    /// previous one, the rest begins there. Where a time is given, the response itself must be visible then.
    pub async fn response_chain(
        &self,
        id: &str,
        limit: i64,
        visible_at: Option<i64>,
    ) -> Result<ResponseChain, StoreError> {
        let cells = cells![id, visible_at, limit, self.history_bytes()];
        let queries = vec![Statement::new(CHAIN, cells), Statement::new(SNAPSHOT_KEY, cells![id])];
        let mut rows = self.settled_reads().await.run(Work::read(queries)).await?.rows.into_iter();
        let (mut chain, mut keys) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        let exchanges = chain.iter_mut().map(|row| Ok(Exchange::read(row)?.0)).collect::<Result<_, StoreError>>()?;
        Ok(ResponseChain { exchanges, snapshot_key: keys.first_mut().map(Row::get).transpose()? })
    }
}

/// Stores a response, or its new body. An unknown outcome does no harm: a client that gets an error creates another response.
pub(super) fn put(response: &Response) -> Statement {
    let Response { exchange, created_at, expires_at, body } = response;
    let Exchange { id, owner, conversation, previous, input, output } = exchange;
    let cells = cells![id, owner, conversation.as_deref(), *created_at, *expires_at, body, output, input];
    match previous {
        None => Statement::new(PUT, cells).idempotent_with_proof(IS_STORED),
        Some(previous) => {
            let cells: Vec<Cell> = cells.into_iter().chain(cells![previous]).collect();
            Statement::new(PUT_BEHIND, cells).or(Conflict::Base).idempotent()
        }
    }
}

impl Response {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        let (exchange, body) = Exchange::read(row)?;
        Ok(Self { exchange, body, created_at: row.get()?, expires_at: row.get()? })
    }

    /// The whole object, as the client got it.
    pub fn to_text(&self) -> Result<String, StoreError> {
        let mut fields: Map<String, Value> =
            serde_json::from_str(&self.body).map_err(StoreError::damaged("a response"))?;
        fields.insert(
            "output".to_owned(),
            serde_json::from_str(&self.exchange.output).map_err(StoreError::damaged("a response"))?,
        );
        serde_json::to_string(&fields).map_err(StoreError::damaged("a response"))
    }
}

impl Exchange {
    /// Bytes of its items.
    pub fn bytes(&self) -> u64 {
        (self.input.len() + self.output.len()) as u64
    }

    /// Also the body, where it was selected.
    fn read(row: &mut Row) -> Result<(Self, String), StoreError> {
        let (id, owner, conversation, previous) = (row.get()?, row.get()?, row.get()?, row.get()?);
        let (input, output, body) = (row.get()?, row.get()?, row.get::<Option<String>>()?.unwrap_or_default());
        let output = Option::map_or_else(output, || output_in(&body), Ok)?;
        Ok((Self { id, owner, conversation, previous, input, output }, body))
    }
}

/// The output of a response that an earlier version stored.
fn output_in(body: &str) -> Result<String, StoreError> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow, default)]
        output: Option<&'a RawValue>,
    }
    let Body { output } = serde_json::from_str(body).map_err(StoreError::damaged("a response"))?;
    Ok(output.map_or("[]", RawValue::get).to_owned())
}
