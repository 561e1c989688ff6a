//! Responses: each with the input it was made from, what came out of it, and the one it followed.
//!
//! One that follows another can be written only as long as that one is there, and keeps it there. How responses go is in
//! `deletion`.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement, Work};

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
/// From the newest back, until so many responses or so many bytes were found. What was deleted or has expired stays for those
/// that follow it, but nobody begins with it. The first of all leads to a row without an id, which nothing joins. Were it kept out by a
/// condition, PostgreSQL would look through the index of followers for it, which is empty when the plan is made.
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
/// Ids are given once.
const IS_THERE: &str = "SELECT id FROM responses WHERE id = $1";
const KEPT_WITH: &str = "SELECT history FROM snapshots WHERE response_id = $1";

/// A stored response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// What those that follow it need.
    pub said: Said,
    /// When.
    pub created_at: i64,
    /// When it is to be forgotten.
    pub expires_at: Option<i64>,
    /// The response object as JSON. What came out of it stands apart, and may be missing here.
    pub body: String,
}

/// What was said in a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// `resp_…`.
    pub id: String,
    /// Whose it is, as the caller tells people apart; empty where it does not.
    pub owner: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// The response it followed.
    pub previous: Option<String>,
    /// The input items as a JSON array.
    pub input: String,
    /// What came out, as a JSON array.
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
        let rows = self.settled_reads().await.read(Statement::new(ONE, [id.into(), now.into()])).await?;
        rows.into_iter().next().as_mut().map(Response::read).transpose()
    }

    /// A response behind all that it followed, also what was deleted since: so many at most, and no more bytes than may be loaded
    /// at once. If the first of them names a previous one, the rest begins there. Where a time is given, the response itself
    /// must be one that can be seen then.
    pub async fn response_chain(&self, id: &str, most: i64, seen: Option<i64>) -> Result<ResponseChain, StoreError> {
        let cells = [id.into(), seen.into(), most.into(), self.history_bytes().into()];
        let queries = vec![Statement::new(CHAIN, cells), Statement::new(KEPT_WITH, [id.into()])];
        let mut rows = self.settled_reads().await.run(Work::Read(queries)).await?.rows.into_iter().map(Vec::into_iter);
        let (chain, mut kept) = (rows.next().unwrap_or_default(), rows.next().unwrap_or_default());
        let said = chain.map(|mut row| Ok(Said::read(&mut row)?.0)).collect::<Result<_, StoreError>>()?;
        Ok(ResponseChain { said, kept_with: kept.next().map(|mut row| row.text()).transpose()? })
    }
}

/// Stores a response, or its new body. Done again, it makes no difference; and should nobody find out whether it was done, nothing else
/// depends on it: whoever is told that it failed makes another one.
pub(super) fn put(response: Response) -> Statement {
    let Response { said, created_at, expires_at, body } = response;
    let cells: [Cell; 8] = [
        said.id.into(),
        said.owner.into(),
        said.conversation.into(),
        created_at.into(),
        expires_at.into(),
        body.into(),
        said.output.into(),
        said.input.into(),
    ];
    match said.previous {
        None => Statement::new(PUT, cells).idempotent_with_proof(IS_THERE),
        Some(previous) => {
            let cells: Vec<Cell> = cells.into_iter().chain([previous.into()]).collect();
            Statement::new(PUT_BEHIND, cells).or(Conflict::Base).idempotent()
        }
    }
}

impl Response {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        let (said, body) = Said::read(row)?;
        Ok(Self { said, body, created_at: row.integer()?, expires_at: row.optional_integer()? })
    }

    /// The whole object, as it was told.
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
