//! Work on one connection: statements are sent together, and their answers are awaited together.

use std::error::Error;

use bytes::BytesMut;
use futures_util::future::{join, join_all, try_join_all};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

use super::super::statement::{Answer, Cell, Delivery, Row, Statement, Work, for_postgres};
use super::combined_statement::combined;
use super::commit_outcome::{PendingCommit, TransactionId};
use super::connection::{PgSession, is_refusal};

type PgResult<T> = Result<T, tokio_postgres::Error>;

/// The most statements in flight at once.
const IN_FLIGHT: usize = 16;
/// Also returns the transaction id, with which the status can be queried later, and when the server last lost its statistics: a crash
/// resets them, and after a crash an id may be given to another transaction.
const BEGIN: &str = "BEGIN; SELECT txid_current(), EXTRACT(EPOCH FROM pg_stat_get_bgwriter_stat_reset_time())";

/// A prepared statement with its values.
struct BoundStatement<'a> {
    statement: tokio_postgres::Statement,
    cells: Vec<&'a Cell>,
}

/// Does a piece of work: a change either as one statement, or as a transaction.
pub(super) async fn perform(session: &mut PgSession, work: &Work) -> PgResult<Answer> {
    match work.delivery() {
        _ if work.change.is_empty() => {
            let queries = prepare_all(session, &work.queries).await?;
            Ok(Answer { rows: query_all(session, &queries).await?, conflict: None })
        }
        Delivery::Transaction => write_transaction(session, &work.change, &work.queries).await,
        _ => write_statement(session, &work.change, &work.queries).await,
    }
}

/// One statement is a transaction of its own, and its queries are pipelined behind it: on a conflict their rows are discarded.
async fn write_statement(session: &mut PgSession, statements: &[Statement], queries: &[Statement]) -> PgResult<Answer> {
    let statement = prepare_combined(session, statements).await?;
    let change = BoundStatement { statement, cells: statements.iter().flat_map(|part| &part.cells).collect() };
    let queries = prepare_all(session, queries).await?;
    let (touched, rows) = join(execute(session, &change), query_all(session, &queries)).await;
    let touched = match touched {
        Err(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => 0,
        touched => touched?,
    };
    match statements.first().and_then(|first| first.conflict(touched)) {
        None => Ok(Answer { rows: rows?, conflict: None }),
        conflict => Ok(Answer { rows: Vec::new(), conflict }),
    }
}

async fn write_transaction(
    session: &mut PgSession,
    statements: &[Statement],
    queries: &[Statement],
) -> PgResult<Answer> {
    let (changes, queries) = (prepare_all(session, statements).await?, prepare_all(session, queries).await?);
    let [commit, rollback] = [prepare(session, "COMMIT").await?, prepare(session, "ROLLBACK").await?];
    // All are sent before any is answered.
    match join(begin(session), execute_all(session, statements, &changes, &queries)).await {
        (Ok(transaction), Ok(answer)) if answer.conflict.is_none() => {
            end(session, commit, PendingCommit { transaction, answer }).await
        }
        (begun, outcome) => {
            let ended = execute(session, &BoundStatement { statement: rollback, cells: Vec::new() }).await;
            begun?;
            let answer = outcome?;
            ended.map(|_| answer)
        }
    }
}

/// Begins a transaction and returns its id, if the server gives one.
async fn begin(session: &PgSession) -> PgResult<Option<TransactionId>> {
    let messages = session.client.simple_query(BEGIN).await?;
    Ok(messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => {
            Some(TransactionId { number: row.get(0)?.parse().ok()?, statistics_since: row.get(1).map(str::to_owned) })
        }
        _ => None,
    }))
}

/// The commit stays pending until the server answers it, also when this future is dropped.
async fn end(session: &mut PgSession, commit: tokio_postgres::Statement, pending: PendingCommit) -> PgResult<Answer> {
    session.pending_commit = Some(pending);
    match execute(session, &BoundStatement { statement: commit, cells: Vec::new() }).await {
        Err(error) if !error.as_db_error().is_some_and(is_refusal) => Err(error),
        ended => {
            let answer = session.pending_commit.take().map(|pending| pending.answer).unwrap_or_default();
            ended.map(|_| answer)
        }
    }
}

async fn execute_all(
    session: &PgSession,
    statements: &[Statement],
    changes: &[BoundStatement<'_>],
    queries: &[BoundStatement<'_>],
) -> PgResult<Answer> {
    let mut conflict = None;
    for (statements, changes) in statements.chunks(IN_FLIGHT).zip(changes.chunks(IN_FLIGHT)) {
        let touched = join_all(changes.iter().map(|change| execute(session, change))).await;
        for (statement, touched) in statements.iter().zip(touched) {
            match touched {
                Ok(touched) => conflict = conflict.or(statement.conflict(touched)),
                // What follows a conflict may fail, since it was sent before the conflict was known; all of it is rolled back.
                Err(_) if conflict.is_some() => return Ok(Answer { rows: Vec::new(), conflict }),
                Err(error) => return Err(error),
            }
        }
    }
    let rows = if conflict.is_none() { query_all(session, queries).await? } else { Vec::new() };
    Ok(Answer { rows, conflict })
}

async fn query_all(session: &PgSession, queries: &[BoundStatement<'_>]) -> PgResult<Vec<Vec<Row>>> {
    try_join_all(queries.iter().map(|query| query_rows(session, query))).await
}

async fn prepare_all<'a>(session: &mut PgSession, statements: &'a [Statement]) -> PgResult<Vec<BoundStatement<'a>>> {
    let mut all = Vec::with_capacity(statements.len());
    for Statement { sql, cells, .. } in statements {
        all.push(BoundStatement { statement: prepare(session, sql).await?, cells: cells.iter().collect() });
    }
    Ok(all)
}

async fn prepare(session: &mut PgSession, sql: &'static str) -> PgResult<tokio_postgres::Statement> {
    prepare_parts(session, &[sql], || for_postgres(sql)).await
}

async fn prepare_combined(session: &mut PgSession, statements: &[Statement]) -> PgResult<tokio_postgres::Statement> {
    match statements {
        [only] => prepare(session, only.sql).await,
        _ => {
            let parts: Vec<&'static str> = statements.iter().map(|statement| statement.sql).collect();
            prepare_parts(session, &parts, || combined(statements)).await
        }
    }
}

/// Prepares a statement once per connection.
async fn prepare_parts(
    session: &mut PgSession,
    parts: &[&'static str],
    sql: impl FnOnce() -> String,
) -> PgResult<tokio_postgres::Statement> {
    if let Some(prepared) = session.prepared.get(parts) {
        return Ok(prepared.clone());
    }
    let prepared = session.client.prepare(&sql()).await?;
    session.prepared.insert(parts.to_vec(), prepared.clone());
    Ok(prepared)
}

async fn execute(session: &PgSession, change: &BoundStatement<'_>) -> PgResult<u64> {
    session.client.execute_raw(&change.statement, change.cells.iter().copied()).await
}

async fn query_rows(session: &PgSession, query: &BoundStatement<'_>) -> PgResult<Vec<Row>> {
    let cells: Vec<&(dyn ToSql + Sync)> = query.cells.iter().map(|cell| *cell as &(dyn ToSql + Sync)).collect();
    session.client.query(&query.statement, &cells).await?.iter().map(row).collect()
}

fn row(row: &tokio_postgres::Row) -> PgResult<Row> {
    let cell = |column: usize| match row.columns().get(column).map(tokio_postgres::Column::type_) {
        Some(&Type::INT8) => row.try_get::<_, Option<i64>>(column).map(Cell::from),
        _ => row.try_get::<_, Option<String>>(column).map(Cell::from),
    };
    (0..row.len()).map(cell).collect::<PgResult<Vec<_>>>().map(Row::new)
}

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            // PostgreSQL texts cannot hold this character. No id of ours does, so such an id matches nothing.
            Self::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        <String as ToSql>::accepts(kind) || <i64 as ToSql>::accepts(kind)
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Binary
    }

    to_sql_checked!();
}
