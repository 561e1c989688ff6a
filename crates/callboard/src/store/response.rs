//! Responses: each with the input it was made from and the one it followed.

use super::error::StoreError;
use super::ledger::Store;
use super::statement::{Cell, Miss, Row, Statement};

const PUT: &str = "INSERT INTO responses (id, owner, conversation_id, previous_id, created_at, expires_at, body, input) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at";
const ONE: &str = "SELECT id, owner, conversation_id, previous_id, created_at, expires_at, body, input FROM responses \
     WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)";
const CHAIN: &str = "WITH RECURSIVE chain (id, depth) AS ( \
         SELECT CAST($1 AS TEXT), CAST(1 AS BIGINT) UNION ALL \
         SELECT earlier.previous_id, chain.depth + 1 FROM chain JOIN responses earlier ON earlier.id = chain.id \
         WHERE earlier.previous_id IS NOT NULL AND chain.depth < $2) \
     SELECT r.id, r.owner, r.conversation_id, r.previous_id, r.created_at, r.expires_at, r.body, r.input \
     FROM chain JOIN responses r ON r.id = chain.id WHERE r.expires_at IS NULL OR r.expires_at > $3 \
     ORDER BY chain.depth DESC";
const DELETE: &str = "DELETE FROM responses WHERE id = $1";

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
    /// One response that has not expired.
    pub async fn response(&self, id: &str, now: i64) -> Result<Option<Response>, StoreError> {
        let rows = self.settled_reads().await?.read(Statement::new(ONE, [id.into(), now.into()])).await?;
        rows.into_iter().next().as_mut().map(Response::read).transpose()
    }

    /// A response behind all that it followed, oldest first, so many at most. If the first of them names a previous one,
    /// that one is gone or too far back.
    pub async fn response_chain(&self, id: &str, most: i64, now: i64) -> Result<Vec<Response>, StoreError> {
        let rows =
            self.settled_reads().await?.read(Statement::new(CHAIN, [id.into(), most.into(), now.into()])).await?;
        rows.into_iter().map(|mut row| Response::read(&mut row)).collect()
    }

    /// Deletes a response; false if there was none.
    pub async fn delete_response(&self, id: &str) -> Result<bool, StoreError> {
        let change = Statement::new(DELETE, [id.into()]).or(Miss::Gone);
        Ok(self.writes()?.write(vec![change]).await?.is_none())
    }
}

/// Stores a response, or its new body.
pub(super) fn put(response: Response) -> Statement {
    let cells: [Cell; 8] = [
        response.id.into(),
        response.owner.into(),
        response.conversation.into(),
        response.previous.into(),
        response.created_at.into(),
        response.expires_at.into(),
        response.body.into(),
        response.input.into(),
    ];
    Statement::new(PUT, cells)
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
