//! Statements on a connection: they are sent together, and their answers are awaited together.

use std::error::Error;

use futures_util::future::{join, join_all, try_join_all};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

use super::super::statement::{Answer, Cell, Row, Statement, for_postgres, proven, single_repeatable};
use super::doubt::InDoubt;
use super::joined::joined;
use super::line::{Session, is_refusal};

type Outcome<T> = Result<T, tokio_postgres::Error>;

/// So many statements at most are under way at once.
const TOGETHER: usize = 16;
/// The number of the transaction, by which its outcome can be asked for later, comes with its beginning.
const BEGIN: &str = "BEGIN; SELECT txid_current()";

/// A statement that is ready to be sent.
struct Ready<'a> {
    prepared: tokio_postgres::Statement,
    cells: Vec<&'a Cell>,
}

/// Looks.
pub(super) async fn read(session: &mut Session, queries: &[Statement]) -> Outcome<Answer> {
    let queries = ready_all(session, queries).await?;
    Ok(Answer { looked: look(session, &queries).await?, missed: None })
}

/// Changes, in one transaction.
pub(super) async fn write(session: &mut Session, statements: &[Statement], then: &[Statement]) -> Outcome<Answer> {
    if let Some(only) = single_repeatable(statements) {
        return write_one(session, only, then).await;
    }
    if proven(statements, then).is_some() {
        match write_joined(session, statements).await {
            // Nothing was changed. One by one they tell what was missed.
            Err(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => {}
            outcome => return outcome,
        }
    }
    write_all(session, statements, then).await
}

/// A statement is a transaction of its own. One that may be done again needs no other, and what is looked at can be sent right behind
/// it: behind a miss it was looked at for nothing.
async fn write_one(session: &mut Session, statement: &Statement, then: &[Statement]) -> Outcome<Answer> {
    let (change, then) = (ready(session, statement).await?, ready_all(session, then).await?);
    let (touched, looked) = join(execute(session, &change), look(session, &then)).await;
    match statement.missed(touched?) {
        None => Ok(Answer { looked: looked?, missed: None }),
        missed => Ok(Answer { looked: Vec::new(), missed }),
    }
}

/// Where this is refused, nothing was changed. Where its answer is lost, it is not known whether it was done.
async fn write_joined(session: &mut Session, statements: &[Statement]) -> Outcome<Answer> {
    let parts: Vec<&'static str> = statements.iter().map(|statement| statement.sql).collect();
    let prepared = match session.joined.get(&parts) {
        Some(prepared) => prepared.clone(),
        None => {
            let prepared = session.client.prepare(&joined(statements)).await?;
            session.joined.insert(parts, prepared.clone());
            prepared
        }
    };
    let cells = statements.iter().flat_map(|statement| &statement.cells).collect();
    execute(session, &Ready { prepared, cells }).await?;
    Ok(Answer::default())
}

async fn write_all(session: &mut Session, statements: &[Statement], then: &[Statement]) -> Outcome<Answer> {
    let (changes, then) = (ready_all(session, statements).await?, ready_all(session, then).await?);
    let [commit, rollback] = [prepared(session, "COMMIT").await?, prepared(session, "ROLLBACK").await?];
    // All are sent before any is answered.
    match join(begin(session), perform(session, statements, &changes, &then)).await {
        (Ok(number), Ok(answer)) if answer.missed.is_none() => end(session, commit, number, answer).await,
        (begun, outcome) => {
            let ended = execute(session, &Ready { prepared: rollback, cells: Vec::new() }).await;
            begun?;
            let answer = outcome?;
            ended.map(|_| answer)
        }
    }
}

/// The number of the transaction; none where the server tells none.
async fn begin(session: &Session) -> Outcome<Option<i64>> {
    let told = session.client.simple_query(BEGIN).await?;
    Ok(told.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse().ok(),
        _ => None,
    }))
}

/// From the moment that COMMIT is sent until it is answered the change is in doubt.
async fn end(
    session: &mut Session,
    commit: tokio_postgres::Statement,
    number: Option<i64>,
    answer: Answer,
) -> Outcome<Answer> {
    session.in_doubt = Some(InDoubt::new(number, answer));
    match execute(session, &Ready { prepared: commit, cells: Vec::new() }).await {
        Err(error) if !error.as_db_error().is_some_and(is_refusal) => Err(error),
        ended => {
            let answer = session.in_doubt.take().map(|change| change.answer).unwrap_or_default();
            ended.map(|_| answer)
        }
    }
}

async fn perform(
    session: &Session,
    statements: &[Statement],
    changes: &[Ready<'_>],
    then: &[Ready<'_>],
) -> Outcome<Answer> {
    let mut missed = None;
    for (some, changes) in statements.chunks(TOGETHER).zip(changes.chunks(TOGETHER)) {
        let touched = join_all(changes.iter().map(|change| execute(session, change))).await;
        for (statement, touched) in some.iter().zip(touched) {
            match touched {
                Ok(touched) => missed = missed.or(statement.missed(touched)),
                // What follows a miss may well fail, since it was sent before the miss was known; nothing of it stays.
                Err(_) if missed.is_some() => return Ok(Answer { looked: Vec::new(), missed }),
                Err(error) => return Err(error),
            }
        }
    }
    let looked = if missed.is_none() { look(session, then).await? } else { Vec::new() };
    Ok(Answer { looked, missed })
}

async fn look(session: &Session, queries: &[Ready<'_>]) -> Outcome<Vec<Vec<Row>>> {
    try_join_all(queries.iter().map(|query| rows(session, query))).await
}

async fn ready_all<'a>(session: &mut Session, statements: &'a [Statement]) -> Outcome<Vec<Ready<'a>>> {
    let mut all = Vec::with_capacity(statements.len());
    for statement in statements {
        all.push(ready(session, statement).await?);
    }
    Ok(all)
}

async fn ready<'a>(session: &mut Session, statement: &'a Statement) -> Outcome<Ready<'a>> {
    Ok(Ready { prepared: prepared(session, statement.sql).await?, cells: statement.cells.iter().collect() })
}

async fn prepared(session: &mut Session, sql: &'static str) -> Outcome<tokio_postgres::Statement> {
    if let Some(prepared) = session.statements.get(sql) {
        return Ok(prepared.clone());
    }
    let prepared = session.client.prepare(&for_postgres(sql)).await?;
    session.statements.insert(sql, prepared.clone());
    Ok(prepared)
}

async fn execute(session: &Session, change: &Ready<'_>) -> Outcome<u64> {
    session.client.execute_raw(&change.prepared, change.cells.iter().copied()).await
}

async fn rows(session: &Session, query: &Ready<'_>) -> Outcome<Vec<Row>> {
    let cells: Vec<&(dyn ToSql + Sync)> = query.cells.iter().map(|cell| *cell as &(dyn ToSql + Sync)).collect();
    session.client.query(&query.prepared, &cells).await?.iter().map(row).collect()
}

fn row(row: &tokio_postgres::Row) -> Outcome<Row> {
    let cell = |column: usize| match row.columns().get(column).map(tokio_postgres::Column::type_) {
        Some(&Type::INT8) => row.try_get::<_, Option<i64>>(column).map(Cell::from),
        _ => row.try_get::<_, Option<String>>(column).map(Cell::from),
    };
    (0..row.len()).map(cell).collect::<Outcome<Vec<_>>>().map(Row::new)
}

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            // A text cannot hold this character here. None of our ids does, so such an id is found by nobody.
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
