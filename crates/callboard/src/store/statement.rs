//! Database work as data: statements with their parameters, and the rows that come back.
//!
//! A change is a list of statements that run in one transaction. A statement may require that it affects a row; when it affects
//! none, the whole list is rolled back.
//!
//! Rows that a change depends on must exist until it commits. SQLite has one writer at a time; on PostgreSQL such rows are locked by
//! a clause in a comment that only PostgreSQL executes: `/*postgres: FOR SHARE*/`.

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::StoreError;

/// Limit of statements combined into one: PostgreSQL plans each combination once.
const MAX_COMBINED: usize = 6;

/// A value in a statement or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Text(String),
}

/// One statement with its parameters `$1`, `$2` and so on.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: &'static str,
    pub(super) cells: Vec<Cell>,
    /// The conflict when no row was affected; none where that is fine.
    pub(super) required: Option<Conflict>,
    effect: Effect,
}

/// How a statement depends on the others of its change, and whether it can be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It may affect rows that others of its change affect, so the order matters.
    Ordered,
    /// It affects rows that no other statement of its change affects.
    Independent,
    /// Independent, and a second execution makes no difference. The proof is a query by the first parameter that finds a row only after
    /// the statement was executed.
    Idempotent { proof: Option<&'static str> },
}

/// Why a change was rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The conversation is at another version.
    Version,
    /// The id is in use.
    Taken,
    /// There is no such row.
    Missing,
    /// Another writer appended to the chain of messages, or it was deleted.
    Chain,
    /// The response that this one follows was deleted.
    Base,
    /// Another process holds the lease.
    Leased,
}

/// A change, and queries that run after it unless there was a conflict. Reads have no change.
#[derive(Debug, Default)]
pub(super) struct Work {
    pub(super) change: Vec<Statement>,
    pub(super) queries: Vec<Statement>,
}

/// How work is sent to PostgreSQL, which decides how it is recovered when the answer is lost.
#[derive(Debug)]
pub(super) enum Delivery {
    /// Without BEGIN and COMMIT: it can be resent.
    Idempotent,
    /// As one statement that applies to one version of a conversation, so resending applies it at most once. The proof finds a row
    /// if it was applied.
    AtMostOnce { proof: Statement },
    /// Between BEGIN and COMMIT: the server is asked for the status of the transaction.
    Transaction,
}

impl Work {
    pub(super) fn read(queries: Vec<Statement>) -> Self {
        Self { queries, ..Self::default() }
    }

    pub(super) fn write(change: Vec<Statement>) -> Self {
        Self { change, ..Self::default() }
    }

    pub(super) fn delivery(&self) -> Delivery {
        match self.change.as_slice() {
            [] | [Statement { effect: Effect::Idempotent { .. }, .. }] => Delivery::Idempotent,
            [first, rest @ ..]
                if first.required == Some(Conflict::Version)
                    && self.queries.is_empty()
                    && rest.len() < MAX_COMBINED
                    && rest.iter().all(|part| part.effect != Effect::Ordered && part.required.is_none()) =>
            {
                let proof = rest.iter().find_map(Statement::proof);
                proof.map_or(Delivery::Transaction, |proof| Delivery::AtMostOnce { proof })
            }
            _ => Delivery::Transaction,
        }
    }
}

/// The result of work.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The rows of each query.
    pub(super) rows: Vec<Vec<Row>>,
    /// Why the change was rolled back, if it was.
    pub(super) conflict: Option<Conflict>,
}

/// Receives the answer of work.
pub(super) type PendingAnswer = oneshot::Receiver<Result<Answer, StoreError>>;

/// Work in a queue, with the sender for its answer.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
    pub(super) queued_at: Instant,
}

impl Statement {
    pub(super) fn new(sql: &'static str, cells: impl Into<Vec<Cell>>) -> Self {
        debug_assert!(is_numbered_in_order(sql), "{sql}");
        Self { sql, cells: cells.into(), required: None, effect: Effect::Ordered }
    }

    /// Without an affected row the change is rolled back with this conflict.
    pub(super) fn or(mut self, conflict: Conflict) -> Self {
        self.required = Some(conflict);
        self
    }

    /// It affects rows that no other statement of its change affects.
    pub(super) fn independent(mut self) -> Self {
        self.effect = Effect::Independent;
        self
    }

    /// Independent, and a second execution makes no difference.
    pub(super) fn idempotent(mut self) -> Self {
        self.effect = Effect::Idempotent { proof: None };
        self
    }

    /// Idempotent, and this query by the first parameter finds a row only after the statement was executed.
    pub(super) fn idempotent_with_proof(mut self, query: &'static str) -> Self {
        self.effect = Effect::Idempotent { proof: Some(query) };
        self
    }

    /// The conflict that follows from the number of affected rows.
    pub(super) fn conflict(&self, affected: u64) -> Option<Conflict> {
        self.required.filter(|_| affected == 0)
    }

    fn proof(&self) -> Option<Self> {
        let Effect::Idempotent { proof: Some(sql) } = self.effect else { return None };
        Some(Self::new(sql, [self.cells.first()?.clone()]))
    }
}

/// The SQL that PostgreSQL executes.
pub(super) fn for_postgres(sql: &str) -> String {
    sql.replace("/*postgres:", "").replace("*/", "")
}

/// SQLite numbers parameters in order of appearance, PostgreSQL by their digits: the two must agree.
fn is_numbered_in_order(sql: &str) -> bool {
    let mut highest = 0;
    sql.split('$').skip(1).all(|after| {
        let digits = after.split(|character: char| !character.is_ascii_digit()).next().unwrap_or_default();
        let number: usize = digits.parse().unwrap_or_default();
        let in_order = number <= highest + 1;
        highest = highest.max(number);
        in_order
    })
}

/// The parameters of a statement.
macro_rules! cells {
    ($($value:expr),* $(,)?) => {
        [$($crate::store::statement::Cell::from($value)),*]
    };
}
pub(super) use cells;

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row, read from left to right.
#[derive(Debug)]
pub(super) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    /// The next column. A column that was not selected reads as NULL.
    pub(super) fn get<T: FromCell>(&mut self) -> Result<T, StoreError> {
        T::from_cell(self.0.next().unwrap_or(Cell::Null))
    }
}

/// A type of a column.
pub(super) trait FromCell: Sized {
    fn from_cell(cell: Cell) -> Result<Self, StoreError>;
}

impl FromCell for String {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        if let Cell::Text(text) = cell { Ok(text) } else { Err(unexpected("text", &cell)) }
    }
}

impl FromCell for i64 {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        if let Cell::Integer(number) = cell { Ok(number) } else { Err(unexpected("an integer", &cell)) }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell) -> Result<Self, StoreError> {
        if cell == Cell::Null { Ok(None) } else { T::from_cell(cell).map(Some) }
    }
}

fn unexpected(expected: &str, found: &Cell) -> StoreError {
    StoreError::Damaged(format!("expected {expected} in a column, found {found:?}"))
}
