//! The loop of a thread that holds an SQLite connection: take what waits, read, write all changes in one transaction, answer.
//!
//! Changes that arrive during a transaction share the next one; the busier the store, the less each costs.

use rusqlite::types::{FromSqlError, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Transaction, TransactionBehavior, params_from_iter};

use super::super::error::StoreError;
use super::super::queue::Jobs;
use super::super::statement::{Answer, Cell, Job, Row, Statement, Work};
use super::super::write_health::WriteHealth;
use super::connection::{Database, failed, is_busy};
use super::file_identity::FileIdentity;
use crate::telemetry::log_throttle::LogThrottle;

/// Limit of changes per transaction, so that none waits long for the others.
const BATCH: usize = 64;

static FAILED: LogThrottle = LogThrottle::new();

/// Works until the queue is closed and empty.
pub(crate) fn serve(database: Database, health: &WriteHealth, mut jobs: Jobs) {
    let Database { connection, mut identity } = database;
    while let Some(first) = jobs.blocking_recv() {
        if let Some(Err(error)) = identity.as_mut().map(FileIdentity::check) {
            health.answer(first, Err(error));
            continue;
        }
        let mut changes = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            take(&connection, job, &mut changes);
            next = if changes.len() < BATCH { jobs.try_recv().ok() } else { None };
        }
        if !changes.is_empty() {
            write(&connection, health, changes);
        }
    }
}

/// Reads are answered at once; a change waits for its transaction.
fn take(connection: &Connection, job: Job, changes: &mut Vec<Job>) {
    if !job.work.change.is_empty() {
        return changes.push(job);
    }
    // The receiver may be gone.
    let _ = job.reply.send(perform(connection, &job.work).map_err(|error| failed(&error)));
}

/// All changes in one transaction. When that fails as a whole, none of them was made.
fn write(connection: &Connection, health: &WriteHealth, changes: Vec<Job>) {
    let answers = perform_all(connection, &changes).unwrap_or_else(|error| {
        let message = failed(&error).to_string();
        if FAILED.is_due(&message) {
            tracing::error!(error = message, changes = changes.len(), "changes could not be stored");
        }
        changes.iter().map(|_| Err(failed(&error))).collect()
    });
    for (change, answer) in changes.into_iter().zip(answers) {
        health.answer(change, answer);
    }
}

type Answers = Vec<Result<Answer, StoreError>>;

/// Conflicts are rare. So all changes run without savepoints first, and again with one savepoint each where one of them failed.
fn perform_all(connection: &Connection, changes: &[Job]) -> rusqlite::Result<Answers> {
    let transaction = begin(connection)?;
    let mut answers = Vec::with_capacity(changes.len());
    for change in changes {
        let answer = perform(connection, &change.work);
        if let Ok(answer @ Answer { conflict: None, .. }) = answer {
            answers.push(Ok(answer));
            continue;
        }
        drop(transaction);
        // A single change that could not be made at all is a failure of the whole.
        return if changes.len() == 1 { Ok(vec![Ok(answer?)]) } else { perform_with_savepoints(connection, changes) };
    }
    transaction.commit()?;
    Ok(answers)
}

fn perform_with_savepoints(connection: &Connection, changes: &[Job]) -> rusqlite::Result<Answers> {
    let transaction = begin(connection)?;
    let mut answers = Vec::with_capacity(changes.len());
    for change in changes {
        execute(connection, "SAVEPOINT change")?;
        let answer = perform(connection, &change.work);
        match &answer {
            Ok(Answer { conflict: None, .. }) => {}
            // Some failures end the whole transaction, and with it all changes.
            Err(error) if is_busy(error) || connection.is_autocommit() => return answer.map(|_| Vec::new()),
            _ => execute(connection, "ROLLBACK TO change")?,
        }
        execute(connection, "RELEASE change")?;
        answers.push(answer.map_err(|error| failed(&error)));
    }
    transaction.commit()?;
    Ok(answers)
}

/// A transaction that may write. Dropped, it is rolled back.
fn begin(connection: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

fn perform(connection: &Connection, work: &Work) -> rusqlite::Result<Answer> {
    for statement in &work.change {
        let touched = connection.prepare_cached(statement.sql)?.execute(params_from_iter(&statement.cells))?;
        let conflict = statement.conflict(touched as u64);
        if conflict.is_some() {
            return Ok(Answer { rows: Vec::new(), conflict });
        }
    }
    let rows = work.queries.iter().map(|query| rows(connection, query)).collect::<Result<_, _>>()?;
    Ok(Answer { rows, conflict: None })
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

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    use super::super::super::statement::Conflict;
    use super::*;

    const TABLE: &str = "CREATE TABLE things (id INTEGER PRIMARY KEY)";
    const INSERT: &str = "INSERT INTO things (id) VALUES ($1)";
    const TOUCH: &str = "UPDATE things SET id = id WHERE id = $1";

    fn change(statements: impl IntoIterator<Item = Statement>) -> Job {
        let work = Work::write(statements.into_iter().collect());
        Job { work, reply: oneshot::channel().0, queued_at: Instant::now() }
    }

    fn insert(id: i64) -> Statement {
        Statement::new(INSERT, [id.into()])
    }

    fn ids(connection: &Connection) -> Vec<i64> {
        let mut statement = connection.prepare("SELECT id FROM things ORDER BY id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_failed_change_does_not_roll_back_the_others() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(TABLE).unwrap();
        let missing = Statement::new(TOUCH, [9.into()]).or(Conflict::Missing);
        let changes = [
            change([insert(1)]),
            change([insert(2), missing.clone()]),
            change([insert(3), insert(1)]),
            change([insert(4)]),
        ];
        let answers = perform_all(&connection, &changes).unwrap();
        let outcomes: Vec<_> =
            answers.iter().map(|answer| answer.as_ref().map(|answer| answer.conflict).ok()).collect();
        assert_eq!(outcomes, [Some(None), Some(Some(Conflict::Missing)), None, Some(None)]);
        assert_eq!(ids(&connection), [1, 4]);

        let alone = perform_all(&connection, &[change([insert(5), missing])]).unwrap();
        assert_eq!(alone[0].as_ref().unwrap().conflict, Some(Conflict::Missing));
        assert!(perform_all(&connection, &[change([insert(6), insert(1)])]).is_err());
        assert_eq!(ids(&connection), [1, 4]);
    }
}
