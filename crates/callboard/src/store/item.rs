//! The items of conversations, in order.

use std::sync::LazyLock;

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement, cells};

/// The most items that one statement inserts.
const MAX_ROWS: usize = 8;
/// The statements that insert one, two and more rows.
static INSERTS: LazyLock<Vec<String>> = LazyLock::new(|| (1..=MAX_ROWS).map(insert_rows).collect());
const ASCENDING: &str = "SELECT position, id, body FROM items WHERE conversation_id = $1 AND position > $2 \
     ORDER BY position LIMIT $3";
const DESCENDING: &str = "SELECT position, id, body FROM items WHERE conversation_id = $1 AND position < $2 \
     ORDER BY position DESC LIMIT $3";
const ONE: &str = "SELECT position, id, body FROM items WHERE conversation_id = $1 AND id = $2";
const SHRINK: &str = "UPDATE conversations SET bytes = bytes - COALESCE((SELECT sum(octet_length(i.body)) FROM items i \
     WHERE i.conversation_id = $1 AND i.id = $2), 0) WHERE id = $1";
const DELETE: &str = "DELETE FROM items WHERE conversation_id = $1 AND id = $2";

/// An item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its position.
    pub position: i64,
    /// Its id, unique in the conversation.
    pub id: String,
    /// The item as JSON.
    pub body: String,
}

/// A page of the items of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemPage {
    /// Only items after this position, in the order of the page; none for all.
    pub after: Option<i64>,
    /// Newest first.
    pub descending: bool,
    /// The most items on the page.
    pub limit: i64,
}

impl Store {
    /// Items of a conversation.
    pub async fn items(&self, conversation: &str, page: ItemPage) -> Result<Vec<Item>, StoreError> {
        let (sql, start) = if page.descending { (DESCENDING, i64::MAX) } else { (ASCENDING, -1) };
        let query = Statement::new(sql, cells![conversation, page.after.unwrap_or(start), page.limit]);
        self.settled_reads().await.all(query, Item::read).await
    }

    /// One item.
    pub async fn item(&self, conversation: &str, id: &str) -> Result<Option<Item>, StoreError> {
        self.settled_reads().await.first(Statement::new(ONE, cells![conversation, id]), Item::read).await
    }

    /// Deletes one item; false if there was none.
    pub async fn delete_item(&self, conversation: &str, id: &str) -> Result<bool, StoreError> {
        let change = |sql| Statement::new(sql, cells![conversation, id]).or(Conflict::Missing);
        Ok(self.writes.write(vec![change(SHRINK), change(DELETE)]).await?.is_none())
    }
}

/// Inserts items, several per statement.
pub(super) fn insert(conversation: &str, mut items: Vec<Item>) -> Vec<Statement> {
    let mut statements = Vec::with_capacity(items.len().div_ceil(MAX_ROWS));
    while !items.is_empty() {
        let rest = items.split_off(items.len().min(MAX_ROWS));
        let Some(sql) = INSERTS.get(items.len() - 1) else { break };
        let cells = items.into_iter().flat_map(|item| cells![item.position, item.id, item.body]);
        let cells: Vec<Cell> = std::iter::once(conversation.into()).chain(cells).collect();
        statements.push(Statement::new(sql, cells).independent());
        items = rest;
    }
    statements
}

fn insert_rows(items: usize) -> String {
    let row = |number: usize| format!("($1, ${}, ${}, ${})", number * 3 + 2, number * 3 + 3, number * 3 + 4);
    let rows: Vec<String> = (0..items).map(row).collect();
    format!("INSERT INTO items (conversation_id, position, id, body) VALUES {}", rows.join(", "))
}

impl Item {
    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { position: row.get()?, id: row.get()?, body: row.get()? })
    }
}
