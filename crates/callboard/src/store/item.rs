//! The items of conversations: what was said and done, in order.

use std::sync::LazyLock;

use super::error::StoreError;
use super::handle::Store;
use super::statement::{Cell, Conflict, Row, Statement};

/// So many items are inserted at once.
const TOGETHER: usize = 8;
/// The statements that insert one, two and more of them.
static INSERTS: LazyLock<Vec<String>> = LazyLock::new(|| (1..=TOGETHER).map(insert_so_many).collect());
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
    /// Where it stands.
    pub position: i64,
    /// Its id, unique in the conversation.
    pub id: String,
    /// The item as JSON.
    pub body: String,
}

/// Which items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemPage {
    /// Those behind this position; none for all.
    pub after: Option<i64>,
    /// Newest first.
    pub descending: bool,
    /// So many at most.
    pub limit: i64,
}

impl Store {
    /// Items of a conversation.
    pub async fn items(&self, conversation: &str, page: ItemPage) -> Result<Vec<Item>, StoreError> {
        Item::read_all(self.settled_reads().await.read(page.of(conversation)).await?)
    }

    /// One item.
    pub async fn item(&self, conversation: &str, id: &str) -> Result<Option<Item>, StoreError> {
        let rows = self.settled_reads().await.read(Statement::new(ONE, [conversation.into(), id.into()])).await?;
        rows.into_iter().next().as_mut().map(Item::read).transpose()
    }

    /// Deletes one item; false if there was none.
    pub async fn delete_item(&self, conversation: &str, id: &str) -> Result<bool, StoreError> {
        let change = |sql| Statement::new(sql, [conversation.into(), id.into()]).or(Conflict::Gone);
        Ok(self.writes().write(vec![change(SHRINK), change(DELETE)]).await?.is_none())
    }
}

/// Inserts items, as many as there are.
pub(super) fn insert(conversation: &str, mut items: Vec<Item>) -> Vec<Statement> {
    let mut statements = Vec::with_capacity(items.len().div_ceil(TOGETHER));
    while !items.is_empty() {
        let rest = items.split_off(items.len().min(TOGETHER));
        let Some(sql) = INSERTS.get(items.len() - 1) else { break };
        let cells = items.into_iter().flat_map(|item| [item.position.into(), item.id.into(), item.body.into()]);
        let cells: Vec<Cell> = std::iter::once(conversation.into()).chain(cells).collect();
        statements.push(Statement::new(sql, cells).independent());
        items = rest;
    }
    statements
}

fn insert_so_many(items: usize) -> String {
    let row = |number: usize| format!("($1, ${}, ${}, ${})", number * 3 + 2, number * 3 + 3, number * 3 + 4);
    let rows: Vec<String> = (0..items).map(row).collect();
    format!("INSERT INTO items (conversation_id, position, id, body) VALUES {}", rows.join(", "))
}

impl ItemPage {
    /// Looks for them.
    pub(super) fn of(self, conversation: &str) -> Statement {
        let (sql, start) = if self.descending { (DESCENDING, i64::MAX) } else { (ASCENDING, -1) };
        Statement::new(sql, [conversation.into(), self.after.unwrap_or(start).into(), self.limit.into()])
    }
}

impl Item {
    fn read_all(rows: Vec<Row>) -> Result<Vec<Self>, StoreError> {
        rows.into_iter().map(|mut row| Self::read(&mut row)).collect()
    }

    fn read(row: &mut Row) -> Result<Self, StoreError> {
        Ok(Self { position: row.integer()?, id: row.text()?, body: row.text()? })
    }
}
