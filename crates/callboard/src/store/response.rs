//! Responses: each with its input, its output, and the one it followed.
//!
//! A response can follow another only as long as that one exists, and keeps it there. Deletion is in `deletion`.

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
const KEPT_WITH: &str = "SELECT history FROM snapshots WHERE response_id = $1";

/// A stored response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// What its followers need.
    pub said: Said,
    /// When.
    pub created_at: i64,
    /// When it expires.
    pub expires_at: Option<i64>,
    /// The response object as JSON. Its output is stored separately, and may be missing here.
    pub body: String,
}

/// The input and output of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
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
    /// What was said in them, oldest first.
    pub said: Vec<Said>,
    /// The key of the snapshot that was kept with the newest one, where a character played in it.
    pub kept_with: Option<String>,
}

impl Store {
    /// One response that was not deleted and has not expired.
    pub async fn response(&self, id: &str, now: i64) -> Result<Option<Response>, StoreError> {
        self.settled_reads().await.first(Statement::new(ONE, cells![id, now]), Response::read).await
    }

    /// A response behind all that it followed, also what was deleted since: so many at most, and no more bytes than may be loaded
    /// at once. If the first of them names a previous one, the rest begins there. Where a time is given, the response itself
    /// must be one that can be seen then.
    pub async fn response_chain(&self, id: &str, most: i64, seen: Option<i64>) -> Result<ResponseChain, StoreError> {
        let cells = cells![id, seen, most, self.history_bytes()];
        let queries = vec![Statement::new(CHAIN, cells), Statement::new(KEPT_WITH, cells![id])];
        let mut rows = self.settled_reads().await.run(Work::Read(queries)).await?.rows.into_iter().map(Vec::into_iter);
        let (chain, mut kept) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        let said = chain.map(|mut row| Ok(Said::read(&mut row)?.0)).collect::<Result<_, StoreError>>()?;
        Ok(ResponseChain { said, kept_with: kept.next().map(|mut row| row.text()).transpose()? })
    }
}

/// Stores a response, or its new body. Where the outcome stays unknown, nothing depends on it: a client that gets an error makes another
/// one.
pub(super) fn put(response: Response) -> Statement {
    let Response { said, created_at, expires_at, body } = response;
    let Said { id, owner, conversation, previous, input, output } = said;
    let cells = cells![id, owner, conversation, created_at, expires_at, body, output, input];
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
        let (said, body) = Said::read(row)?;
        Ok(Self { said, body, created_at: row.integer()?, expires_at: row.optional_integer()? })
    }

    /// The whole object, as the client got it.
    pub fn to_text(&self) -> Result<String, StoreError> {
        let mut fields: Map<String, Value> = serde_json::from_str(&self.body).map_err(damaged)?;
        fields.insert("output".to_owned(), serde_json::from_str(&self.said.output).map_err(damaged)?);
        serde_json::to_string(&fields).map_err(damaged)
    }
}

impl Said {
    /// Bytes of its items.
    pub fn bytes(&self) -> u64 {
        (self.input.len() + self.output.len()) as u64
    }

    /// Also the body, where that was looked at.
    fn read(row: &mut Row) -> Result<(Self, String), StoreError> {
        let (id, owner, conversation, previous) =
            (row.text()?, row.text()?, row.optional_text()?, row.optional_text()?);
        let (input, output, body) = (row.text()?, row.optional_text()?, row.optional_text()?.unwrap_or_default());
        let output = output.map_or_else(|| output_in(&body), Ok)?;
        Ok((Self { id, owner, conversation, previous, input, output }, body))
    }
}

/// What came out of a response of an earlier version.
fn output_in(body: &str) -> Result<String, StoreError> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow, default)]
        output: Option<&'a RawValue>,
    }
    let Body { output } = serde_json::from_str(body).map_err(damaged)?;
    Ok(output.map_or("[]", RawValue::get).to_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a response: {error}"))
}
