//! What is asked of a database, as data: statements with their values, and the rows that come back.
//!
//! A change is a list of statements that run in one transaction. A statement may require that it touches a row; when it touches
//! none, the whole list is rolled back.
//!
//! Rows that a change builds upon must stay until it commits. SQLite has one writer at a time; on PostgreSQL such rows are locked, by
//! words in a comment that only PostgreSQL is shown the inside of: `/*postgres: FOR SHARE*/`.

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::StoreError;

/// At most so many statements are combined into one: PostgreSQL plans each combination once.
const COMBINED_AT_MOST: usize = 6;

/// A value in a statement or a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Text(String),
}

/// One statement with its values for `$1`, `$2` and so on.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) sql: &'static str,
    pub(super) cells: Vec<Cell>,
    /// What it means when no row was touched; none where that is fine.
    pub(super) otherwise: Option<Conflict>,
    effect: Effect,
}

/// How a statement gets on with others of its change, and with being sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It may touch rows that others of its change touch, so the order counts.
    Ordered,
    /// It touches rows that no other statement of its change touches.
    Independent,
    /// The same, and a second execution makes no difference. The query finds a row, by the first value, once it was executed and never
    /// before.
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
    Gone,
    /// The chain of messages was continued by another, or is gone.
    Chain,
    /// The response that this one follows is gone.
    Base,
    /// Another process holds the lease.
    Leased,
}

/// Something to do for the database.
#[derive(Debug)]
pub(super) enum Work {
    Read(Vec<Statement>),
    /// A change, and queries that run after it, unless there was a conflict.
    Write(Vec<Statement>, Vec<Statement>),
}

/// How work is sent to PostgreSQL, which decides what is done when its answer is lost.
#[derive(Debug)]
pub(super) enum Delivery {
    /// Without BEGIN and COMMIT: it can be sent again.
    Idempotent,
    /// As one statement that applies to one version of a conversation: sent again, it is applied at most once. The query finds a row
    /// if it was applied.
    AtMostOnce { proof: Statement },
    /// Between BEGIN and COMMIT: the server is asked for the status of the transaction.
    Transaction,
}

impl Work {
    pub(super) fn delivery(&self) -> Delivery {
        match self {
            Self::Read(_) => Delivery::Idempotent,
            Self::Write(statements, queries) => delivery(statements, queries),
        }
    }
}

fn delivery(statements: &[Statement], queries: &[Statement]) -> Delivery {
    match statements {
        [Statement { effect: Effect::Idempotent { .. }, .. }] => Delivery::Idempotent,
        [first, rest @ ..]
            if first.otherwise == Some(Conflict::Version)
                && queries.is_empty()
                && rest.len() < COMBINED_AT_MOST
                && rest.iter().all(|part| part.effect != Effect::Ordered && part.otherwise.is_none()) =>
        {
            let proof = rest.iter().find_map(Statement::proof);
            proof.map_or(Delivery::Transaction, |proof| Delivery::AtMostOnce { proof })
        }
        _ => Delivery::Transaction,
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The rows of each query.
    pub(super) rows: Vec<Vec<Row>>,
    /// Why nothing was changed, if nothing was.
    pub(super) conflict: Option<Conflict>,
}

/// Where the answer of work arrives.
pub(super) type PendingAnswer = oneshot::Receiver<Result<Answer, StoreError>>;

/// Work with the place where its answer goes.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
    pub(super) queued_at: Instant,
}

impl Statement {
    pub(super) fn new(sql: &'static str, cells: impl Into<Vec<Cell>>) -> Self {
        debug_assert!(is_numbered_in_order(sql), "{sql}");
        Self { sql, cells: cells.into(), otherwise: None, effect: Effect::Ordered }
    }

    /// It must touch a row.
    pub(super) fn or(mut self, conflict: Conflict) -> Self {
        self.otherwise = Some(conflict);
        self
    }

    /// It touches rows that no other statement of its change touches.
    pub(super) fn independent(mut self) -> Self {
        self.effect = Effect::Independent;
        self
    }

    /// The same, and a second execution makes no difference.
    pub(super) fn idempotent(mut self) -> Self {
        self.effect = Effect::Idempotent { proof: None };
        self
    }

    /// The same, and this query finds a row, by the first value, once it was executed and never before.
    pub(super) fn idempotent_with_proof(mut self, query: &'static str) -> Self {
        self.effect = Effect::Idempotent { proof: Some(query) };
        self
    }

    /// The conflict that follows from the number of touched rows.
    pub(super) fn conflict(&self, touched: u64) -> Option<Conflict> {
        self.otherwise.filter(|_| touched == 0)
    }

    fn proof(&self) -> Option<Self> {
        let Effect::Idempotent { proof: Some(sql) } = self.effect else { return None };
        Some(Self::new(sql, [self.cells.first()?.clone()]))
    }
}

/// The text as PostgreSQL gets it.
pub(super) fn for_postgres(sql: &str) -> String {
    sql.replace("/*postgres:", "").replace("*/", "")
}

/// SQLite numbers `$1` and `$2` as they first appear, PostgreSQL by their digits: the two must agree.
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

/// The values of a statement.
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

/// A row, taken apart from left to right.
#[derive(Debug)]
pub(super) struct Row(std::vec::IntoIter<Cell>);

impl Row {
    pub(super) fn new(cells: Vec<Cell>) -> Self {
        Self(cells.into_iter())
    }

    pub(super) fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or_else(|| unexpected("a text", &Cell::Null))
    }

    pub(super) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.0.next() {
            Some(Cell::Text(text)) => Ok(Some(text)),
            Some(Cell::Null) | None => Ok(None),
            Some(other) => Err(unexpected("a text", &other)),
        }
    }

    pub(super) fn integer(&mut self) -> Result<i64, StoreError> {
        self.optional_integer()?.ok_or_else(|| unexpected("a number", &Cell::Null))
    }

    pub(super) fn optional_integer(&mut self) -> Result<Option<i64>, StoreError> {
        match self.0.next() {
            Some(Cell::Integer(number)) => Ok(Some(number)),
            Some(Cell::Null) | None => Ok(None),
            Some(other) => Err(unexpected("a number", &other)),
        }
    }
}

fn unexpected(wanted: &str, found: &Cell) -> StoreError {
    StoreError::Damaged(format!("{wanted} was expected in a column, found {found:?}"))
}
