//! Responses: each with the input it was made from and the one it followed.
//!
//! One that follows another can be written only as long as that one is there, and keeps it there. How responses go is in
//! `deletion`.

use super::error::StoreError;
use super::ledger::Store;
use super::statement::{Cell, Miss, Row, Statement};

const PUT: &str = "INSERT INTO responses (id, owner, conversation_id, created_at, expires_at, body, input) \
     VALUES ($1, $2, $3, $4, $5, $6, $7) \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at";
const PUT_BEHIND: &str = "INSERT INTO responses (id, owner, conversation_id, created_at, expires_at, body, input, previous_id) \
     SELECT $1, $2, $3, CAST($4 AS BIGINT), CAST($5 AS BIGINT), $6, $7, id FROM responses WHERE id = $8 \
     /*postgres: FOR SHARE*/ \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at";
const ONE: &str = "SELECT id, owner, conversation_id, previous_id, created_at, expires_at, body, input FROM responses \
     WHERE id = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $2)";
/// From the newest back, until so many responses or so many bytes were found. What was deleted or has expired stays for those
/// that follow it, but nobody begins with it. The first of all leads to a row without an id, which nothing joins. Were it kept out by a
/// condition, PostgreSQL would look through the index of followers for it, which is empty when the plan is made.
const CHAIN: &str = "WITH RECURSIVE chain (id, depth, bytes) AS ( \
         SELECT id, CAST(1 AS BIGINT), CAST(0 AS BIGINT) FROM responses WHERE id = $1 AND (CAST($2 AS BIGINT) IS NULL \
         OR (deleted_at IS NULL AND (expires_at IS NULL OR expires_at > CAST($2 AS BIGINT)))) UNION ALL \
         SELECT later.previous_id, chain.depth + 1, chain.bytes + octet_length(later.body) + octet_length(later.input) \
         FROM chain JOIN responses later ON later.id = chain.id \
         WHERE chain.depth < $3 \
         AND chain.bytes + octet_length(later.body) + octet_length(later.input) < $4) \
     SELECT r.id, r.owner, r.conversation_id, r.previous_id, r.created_at, r.expires_at, r.body, r.input \
     FROM chain JOIN responses r ON r.id = chain.id ORDER BY chain.depth DESC";

/// A stored response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// `resp_…`.
    pub id: String,
    /// Whose it is, as the caller tells people apart; empty where it does not.
    pub owner: String,
    /// The conversation it belongs to.
    pub conversation: Option<String>,
    /// The response it followed.
    pub previous: Option<String>,
    /// When.
    pub created_at: i64,
    /// When it is to be forgotten.
    pub expires_at: Option<i64>,
    /// The response object as JSON.
    pub body: String,
    /// The input items as a JSON array.
    pub input: String,
}

impl Store {
    /// One response that was not deleted and has not expired.
    pub async fn response(&self, id: &str, now: i64) -> Result<Option<Response>, StoreError> {
        let rows = self.settled_reads().await?.read(Statement::new(ONE, [id.into(), now.into()])).await?;
        rows.into_iter().next().as_mut().map(Response::read).transpose()
    }

    /// A response behind all that it followed, also what was deleted since, oldest first: so many at most, and no more bytes
    /// than may be loaded at once. If the first of them names a previous one, the rest begins there. Where a time is given, the
    /// response itself must be one that can be seen then.
    pub async fn response_chain(&self, id: &str, most: i64, seen: Option<i64>) -> Result<Vec<Response>, StoreError> {
        let cells = [id.into(), seen.into(), most.into(), self.history_bytes().into()];
        let rows = self.settled_reads().await?.read(Statement::new(CHAIN, cells)).await?;
        rows.into_iter().map(|mut row| Response::read(&mut row)).collect()
    }
}

/// Stores a response, or its new body.
pub(super) fn put(response: Response) -> Statement {
    let cells: [Cell; 7] = [
        response.id.into(),
        response.owner.into(),
        response.conversation.into(),
        response.created_at.into(),
        response.expires_at.into(),
        response.body.into(),
        response.input.into(),
    ];
    match response.previous {
        None => Statement::new(PUT, cells),
        Some(previous) => {
            let cells: Vec<Cell> = cells.into_iter().chain([previous.into()]).collect();
            Statement::new(PUT_BEHIND, cells).or(Miss::Base)
        }
    }
}

impl Response {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.text()?,
            owner: row.text()?,
            conversation: row.optional_text()?,
            previous: row.optional_text()?,
            created_at: row.integer()?,
            expires_at: row.optional_integer()?,
            body: row.text()?,
            input: row.text()?,
        })
    }
}
