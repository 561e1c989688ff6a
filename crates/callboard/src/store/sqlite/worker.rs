//! The loop of a thread that holds an SQLite connection: take what waits, read, write all changes in one transaction, answer.
//!
//! While one transaction is on its way to the disk, the next changes gather; the busier the store, the less each costs.

use rusqlite::types::{FromSqlError, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, TransactionBehavior, params_from_iter};
use tokio::sync::oneshot;

use super::super::error::StoreError;
use super::super::health::Health;
use super::super::queue::Jobs;
use super::super::statement::{Answer, Cell, Job, Row, Statement, Work};
use super::connection::{Open, failed, is_busy};
use super::identity::Identity;
use crate::telemetry::seldom::SeldomWords;

/// So many changes at most share a transaction, so that none waits long for the others.
const TOGETHER: usize = 64;

static FAILED: SeldomWords = SeldomWords::new();

type Reply = oneshot::Sender<Result<Answer, StoreError>>;

/// A change that waits for its transaction.
struct Change {
    statements: Vec<Statement>,
    then: Vec<Statement>,
    reply: Reply,
}

/// Works until the queue is closed and empty.
pub(crate) fn serve(open: Open, health: &Health, mut jobs: Jobs) {
    let Open { mut connection, mut identity } = open;
    while let Some(first) = jobs.blocking_recv() {
        if let Some(Err(error)) = identity.as_mut().map(Identity::check) {
            health.answer(first, Err(error));
            continue;
        }
        let mut changes = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            take(&connection, job, &mut changes);
            next = if changes.len() < TOGETHER { jobs.try_recv().ok() } else { None };
        }
        if !changes.is_empty() {
            write(&mut connection, health, changes);
        }
    }
}

fn take(connection: &Connection, job: Job, changes: &mut Vec<Change>) {
    match job.work {
        Work::Read(queries) => {
            let answer = look(connection, &queries).map(|looked| Answer { looked, missed: None });
            // Whoever asked may have left.
            let _ = job.reply.send(answer.map_err(failed));
        }
        Work::Write(statements, then) => changes.push(Change { statements, then, reply: job.reply }),
    }
}

/// All changes in one transaction. When that fails as a whole, none of them was made.
fn write(connection: &mut Connection, health: &Health, changes: Vec<Change>) {
    let mut answers = Vec::new();
    let performed = perform_all(connection, &changes, &mut answers);
    health.note(performed.is_ok());
    match performed {
        Ok(()) => {
            for (change, answer) in changes.into_iter().zip(answers) {
                let _ = change.reply.send(answer.map_err(failed));
            }
        }
        Err(error) => {
            let error = failed(error);
            if FAILED.is_due(&error.to_string()) {
                tracing::error!(%error, changes = changes.len(), "changes could not be stored");
            }
            for change in changes {
                let _ = change.reply.send(Err(error.clone()));
            }
        }
    }
}

type Answers = Vec<rusqlite::Result<Answer>>;

fn perform_all(connection: &mut Connection, changes: &[Change], answers: &mut Answers) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if let [only] = changes {
        let answer = perform(&transaction, only)?;
        let keep = answer.missed.is_none();
        answers.push(Ok(answer));
        return if keep { transaction.commit() } else { transaction.rollback() };
    }
    for change in changes {
        let savepoint = transaction.savepoint()?;
        let answer = perform(&savepoint, change);
        match &answer {
            Ok(Answer { missed: None, .. }) => savepoint.commit()?,
            // Some failures end the whole transaction, and with it all changes.
            Err(error) if is_busy(error) || savepoint.is_autocommit() => return answer.map(drop),
            _ => drop(savepoint),
        }
        answers.push(answer);
    }
    transaction.commit()
}

fn perform(connection: &Connection, change: &Change) -> rusqlite::Result<Answer> {
    for statement in &change.statements {
        let touched = connection.prepare_cached(statement.sql)?.execute(params_from_iter(&statement.cells))?;
        let missed = statement.missed(touched as u64);
        if missed.is_some() {
            return Ok(Answer { looked: Vec::new(), missed });
        }
    }
    Ok(Answer { looked: look(connection, &change.then)?, missed: None })
}

fn look(connection: &Connection, queries: &[Statement]) -> rusqlite::Result<Vec<Vec<Row>>> {
    queries.iter().map(|query| rows(connection, query)).collect()
}

fn rows(connection: &Connection, query: &Statement) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(query.sql)?;
    let columns = statement.column_count();
    let mut found = statement.query(params_from_iter(&query.cells))?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let cells = (0..columns).map(|column| row.get_ref(column).and_then(cell)).collect::<Result<_, _>>()?;
        rows.push(Row::new(cells));
    }
    Ok(rows)
}

fn cell(value: ValueRef<'_>) -> rusqlite::Result<Cell> {
    match value {
        ValueRef::Integer(number) => Ok(Cell::Integer(number)),
        ValueRef::Text(_) => Ok(Cell::Text(value.as_str()?.to_owned())),
        ValueRef::Null => Ok(Cell::Null),
        ValueRef::Real(_) | ValueRef::Blob(_) => Err(FromSqlError::InvalidType.into()),
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}
