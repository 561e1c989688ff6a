//! Statements on a connection: they are sent together, and their answers are awaited together.

use std::error::Error;

use futures_util::future::{join, join_all, try_join_all};
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::error::Severity;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};

use super::super::statement::{Answer, Cell, Row, Statement, for_postgres, single_repeatable};
use super::doubt::InDoubt;
use super::line::Session;

type Outcome<T> = Result<T, tokio_postgres::Error>;

/// So many statements at most are under way at once.
const TOGETHER: usize = 16;
/// The number of the transaction, by which its outcome can be asked for later, comes with its beginning.
const BEGIN: &str = "BEGIN; SELECT txid_current()";

/// Looks.
pub(super) async fn read(session: &mut Session, queries: &[Statement]) -> Outcome<Answer> {
    for query in queries {
        prepare(session, query.sql).await?;
    }
    Ok(Answer { looked: look(session, queries).await?, missed: None })
}

/// Changes, in one transaction.
pub(super) async fn write(session: &mut Session, statements: &[Statement], then: &[Statement]) -> Outcome<Answer> {
    match single_repeatable(statements) {
        Some(only) => write_one(session, only, then).await,
        None => write_all(session, statements, then).await,
    }
}

/// A statement is a transaction of its own. One that may be done again needs no other, and what is looked at can be sent right behind
/// it: behind a miss it was looked at for nothing.
async fn write_one(session: &mut Session, statement: &Statement, then: &[Statement]) -> Outcome<Answer> {
    for sql in std::iter::once(statement).chain(then).map(|statement| statement.sql) {
        prepare(session, sql).await?;
    }
    let (touched, looked) = join(execute(session, statement), look(session, then)).await;
    match statement.missed(touched?) {
        None => Ok(Answer { looked: looked?, missed: None }),
        missed => Ok(Answer { looked: Vec::new(), missed }),
    }
}

async fn write_all(session: &mut Session, statements: &[Statement], then: &[Statement]) -> Outcome<Answer> {
    let ours = ["COMMIT", "ROLLBACK"];
    for sql in statements.iter().chain(then).map(|statement| statement.sql).chain(ours) {
        prepare(session, sql).await?;
    }
    // All are sent before any is answered.
    match join(begin(session), perform(session, statements, then)).await {
        (Ok(number), Ok(answer)) if answer.missed.is_none() => commit(session, number, answer).await,
        (begun, outcome) => {
            let ended = execute(session, &Statement::new("ROLLBACK", [])).await;
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
async fn commit(session: &mut Session, number: Option<i64>, answer: Answer) -> Outcome<Answer> {
    let commit = Statement::new("COMMIT", []);
    session.in_doubt = Some(InDoubt::new(number, answer));
    match execute(session, &commit).await {
        Err(error) if !is_refusal(&error) => Err(error),
        ended => {
            let answer = session.in_doubt.take().map(|change| change.answer).unwrap_or_default();
            ended.map(|_| answer)
        }
    }
}

/// The server answered this statement, and goes on. A connection that it ends may end behind a COMMIT that was done.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|said| said.parsed_severity() == Some(Severity::Error))
}

async fn perform(session: &Session, statements: &[Statement], then: &[Statement]) -> Outcome<Answer> {
    let mut missed = None;
    for some in statements.chunks(TOGETHER) {
        let touched = join_all(some.iter().map(|statement| execute(session, statement))).await;
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

async fn look(session: &Session, queries: &[Statement]) -> Outcome<Vec<Vec<Row>>> {
    try_join_all(queries.iter().map(|query| rows(session, query))).await
}

async fn prepare(session: &mut Session, sql: &'static str) -> Outcome<()> {
    if !session.statements.contains_key(sql) {
        let prepared = session.client.prepare(&for_postgres(sql)).await?;
        session.statements.insert(sql, prepared);
    }
    Ok(())
}

async fn execute(session: &Session, statement: &Statement) -> Outcome<u64> {
    match session.statements.get(statement.sql) {
        Some(prepared) => session.client.execute_raw(prepared, &statement.cells).await,
        None => session.client.execute_raw(&for_postgres(statement.sql), &statement.cells).await,
    }
}

async fn rows(session: &Session, query: &Statement) -> Outcome<Vec<Row>> {
    let cells: Vec<&(dyn ToSql + Sync)> = query.cells.iter().map(|cell| cell as &(dyn ToSql + Sync)).collect();
    let found = match session.statements.get(query.sql) {
        Some(prepared) => session.client.query(prepared, &cells).await?,
        None => session.client.query(&for_postgres(query.sql), &cells).await?,
    };
    found.iter().map(row).collect()
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
