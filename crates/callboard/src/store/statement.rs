//! What is asked of a database, as data: statements with their values, and the rows that come back.
//!
//! A change is a list of statements that are done in one transaction or not at all. What must hold is said with the
//! statement: one that touches no row where it should have touched one undoes the whole list.
//!
//! What is read to be built upon has to stay until the change is made. SQLite has one writer at a time; on PostgreSQL such rows are
//! locked, by words that stand in a comment which only PostgreSQL is shown the inside of: `/*postgres: FOR SHARE*/`.

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::error::StoreError;

/// So many statements at most become one: a database plans each combination of them once.
const JOINED: usize = 6;

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
    pub(super) otherwise: Option<Miss>,
    /// Whether it makes no difference if it is done once more.
    pub(super) is_repeatable: bool,
    /// Whether it has nothing to do with the rows that other statements of its change touch.
    is_apart: bool,
    /// Finds a row, by the first value, once this was done, and never before.
    proof: Option<&'static str>,
}

/// What must hold for a change, and did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Miss {
    /// The conversation is at another version.
    Version,
    /// The id is in use.
    Taken,
    /// There is no such row.
    Gone,
    /// The chain of messages went on elsewhere, or is gone.
    Chain,
    /// The response that this one follows is gone.
    Base,
    /// Another holds the lease.
    Leased,
}

/// Something to do for the database.
#[derive(Debug)]
pub(super) enum Work {
    /// Only looks.
    Read(Vec<Statement>),
    /// Changes something, and looks at the outcome before it is committed, unless something was missed.
    Write(Vec<Statement>, Vec<Statement>),
}

impl Work {
    /// Whether it makes no difference if it is done once more.
    pub(super) fn is_repeatable(&self) -> bool {
        match self {
            Self::Read(_) => true,
            Self::Write(statements, _) => single_repeatable(statements).is_some(),
        }
    }

    /// Looks whether it was done, where that can be told.
    pub(super) fn proof(&self) -> Option<Statement> {
        let Self::Write(statements, then) = self else { return None };
        let proven = proven(statements, then)?;
        Some(Statement::new(proven.proof?, [proven.cells.first()?.clone()]))
    }
}

/// The statement, where there is only one and it makes no difference if it is done once more.
pub(super) fn single_repeatable(statements: &[Statement]) -> Option<&Statement> {
    match statements {
        [only] if only.is_repeatable => Some(only),
        _ => None,
    }
}

/// The statement that proves a change, where the change can be made as one statement of its own, and tried again when its answer
/// was lost: the first part of it holds once only, none of the others has to wait for another, and each of them is undone when
/// one misses something.
pub(super) fn proven<'a>(statements: &'a [Statement], then: &[Statement]) -> Option<&'a Statement> {
    let holds_once = statements.first().is_some_and(|first| first.otherwise == Some(Miss::Version));
    let is_one = then.is_empty() && statements.len() <= JOINED && statements.iter().all(|part| part.is_apart);
    statements.iter().find(|part| part.proof.is_some() && holds_once && is_one)
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The rows of each look.
    pub(super) looked: Vec<Vec<Row>>,
    /// Why nothing was changed, if nothing was.
    pub(super) missed: Option<Miss>,
}

/// Work with the place where its answer goes.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) work: Work,
    pub(super) reply: oneshot::Sender<Result<Answer, StoreError>>,
    /// When it was left.
    pub(super) left: Instant,
}

impl Statement {
    pub(super) fn new(sql: &'static str, cells: impl Into<Vec<Cell>>) -> Self {
        debug_assert!(is_numbered_in_order(sql), "{sql}");
        Self { sql, cells: cells.into(), otherwise: None, is_repeatable: false, is_apart: false, proof: None }
    }

    /// It must touch a row.
    pub(super) fn or(mut self, miss: Miss) -> Self {
        self.otherwise = Some(miss);
        self
    }

    /// Done once more, it makes no difference: nobody has to know whether it was done.
    pub(super) fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    /// It has nothing to do with the rows that other statements of its change touch, so it does not matter which is done first.
    pub(super) fn apart(mut self) -> Self {
        self.is_apart = true;
        self
    }

    /// Whoever looks like this, with the first value, finds a row once it was done, and never before.
    pub(super) fn proven_by(mut self, look: &'static str) -> Self {
        self.proof = Some(look);
        self
    }

    /// What follows from the number of touched rows.
    pub(super) fn missed(&self, touched: u64) -> Option<Miss> {
        self.otherwise.filter(|_| touched == 0)
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

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
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
