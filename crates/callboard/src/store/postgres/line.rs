//! One connection: opened, brought to the newest version of the schema, and driven while work waits for it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{Either, FutureExt as _, select};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{Client, NoTls};

use super::super::error::StoreError;
use super::super::schema::{READ_VERSION, VERSION_TABLE, pending};
use super::access::Access;
use super::doubt::InDoubt;
use super::news::News;

/// Taken while the schema is changed, so that of two processes one does it and the other finds it done.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(4917225180339212)";
const HAS_VERSION: &str = "SELECT to_regclass('callboard_schema') IS NOT NULL";
/// The clock that leases are measured with: the server's, since those of several machines differ.
const CLOCK: &str = "CREATE OR REPLACE FUNCTION callboard_now() RETURNS BIGINT LANGUAGE sql VOLATILE \
     AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT'";
/// A server that hangs must not hang us: it gives up by itself. Whatever is asked is found by a key, so a plan is made once, and
/// never by reading a whole table, which is what the server prefers as long as it does not know how large a table has become.
const SESSION: &str = "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '30s'; \
     SET client_min_messages = 'warning'; SET plan_cache_mode = 'force_generic_plan'; \
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";

/// A connection is opened within this time, where the address says none.
const OPENING: Duration = Duration::from_secs(5);

/// The part of a connection that moves bytes. It ends when the connection does.
type Wire = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// An open connection.
pub(super) struct Line {
    session: Session,
    wire: Option<Wire>,
    generation: u64,
}

/// The part of a connection that is asked.
pub(super) struct Session {
    pub(super) client: Client,
    /// What was prepared.
    pub(super) statements: HashMap<&'static str, tokio_postgres::Statement>,
    /// What was prepared as one, by its parts.
    pub(super) joined: HashMap<Vec<&'static str>, tokio_postgres::Statement>,
    /// A change whose COMMIT was sent and not answered.
    pub(super) in_doubt: Option<InDoubt>,
    /// Whether the server has shown that this connection is of no more use.
    is_spoiled: bool,
}

impl Line {
    /// Connects, in the time that is set for it: who takes a connection need not be a PostgreSQL, nor be awake.
    pub(super) async fn open(access: &Access) -> Result<Self, StoreError> {
        let within = time_to_open(access);
        let opened = tokio::time::timeout(within, Self::open_at_leisure(access)).await;
        opened.unwrap_or_else(|_| Err(silent(within)))
    }

    async fn open_at_leisure(access: &Access) -> Result<Self, StoreError> {
        let generation = access.news.generation();
        let (client, wire) = connect(access).await.map_err(|error| failed(&error))?;
        let (statements, joined) = (HashMap::new(), HashMap::new());
        let session = Session { client, statements, joined, in_doubt: None, is_spoiled: false };
        let mut line = Self { session, wire: Some(wire), generation };
        let settled = line.drive(async |session| session.client.batch_execute(SESSION).await).await?;
        settled.map_err(|error| failed(&error))?;
        Ok(line)
    }

    /// Brings the database to the newest version.
    pub(super) async fn migrate(&mut self) -> Result<(), StoreError> {
        self.drive(async |session| migrate(&mut session.client).await).await?
    }

    /// Does something with the connection while its bytes move.
    pub(super) async fn drive<T>(&mut self, work: impl AsyncFnOnce(&mut Session) -> T) -> Result<T, StoreError> {
        let Some(wire) = self.wire.take() else { return Err(lost()) };
        let work = std::pin::pin!(work(&mut self.session));
        match select(work, wire).await {
            Either::Left((outcome, wire)) => {
                self.wire = Some(wire);
                Ok(outcome)
            }
            // What the wire has brought may already be the answer, so the work has the last word.
            Either::Right((_, work)) => work.now_or_never().ok_or_else(lost),
        }
    }

    /// A change of which it is not known whether it was made.
    pub(super) fn take_doubt(&mut self) -> Option<InDoubt> {
        self.session.in_doubt.take()
    }

    /// Takes note of a failure: some last as long as the connection does, and end with a new one; some are its end, which is told a
    /// little before it comes.
    pub(super) fn note(&mut self, error: &tokio_postgres::Error) {
        self.session.is_spoiled |= error.code().is_some_and(|code| is_of(code, SPOILING));
        if error.as_db_error().is_some_and(|said| !is_refusal(said)) {
            self.wire = None;
        }
    }

    /// Whether it has ended, or work on it was given up halfway.
    pub(super) fn is_lost(&self) -> bool {
        self.wire.is_none()
    }

    /// Where a new connection would do better than this one, it would do better than all that were opened before.
    pub(super) fn tell(&self, news: &News) {
        if self.session.is_spoiled {
            news.end_generation(self.generation);
        }
    }

    /// The line, unless the server has closed it, work on it was given up halfway, or a new one would do better.
    pub(super) fn if_open(mut self, news: &News) -> Option<Self> {
        let wire = self.wire.as_mut().filter(|_| self.generation == news.generation())?;
        // A look at what the server has sent since the last work: its end, perhaps.
        if wire.as_mut().now_or_never().is_some() || self.session.client.is_closed() { None } else { Some(self) }
    }
}

/// The address names the time for each host.
fn time_to_open(access: &Access) -> Duration {
    let hosts = u32::try_from(access.config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
    access.config.get_connect_timeout().copied().unwrap_or(OPENING).saturating_mul(hosts)
}

fn silent(within: Duration) -> StoreError {
    StoreError::Unavailable(format!("no PostgreSQL answered within {within:?}; is one at this address, and awake?"))
}

async fn connect(access: &Access) -> Result<(Client, Wire), tokio_postgres::Error> {
    match &access.tls {
        Some(tls) => {
            let (client, connection) = access.config.connect(tls.clone()).await?;
            Ok((client, Box::pin(connection)))
        }
        None => {
            let (client, connection) = access.config.connect(NoTls).await?;
            Ok((client, Box::pin(connection)))
        }
    }
}

/// A database that is whole is only looked at, so that a user with no right to change its tables can use it.
async fn migrate(client: &mut Client) -> Result<(), StoreError> {
    let failed = |error: tokio_postgres::Error| failed(&error);
    if pending(version(client).await?, "UNLOGGED")?.is_none() {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(MIGRATION_LOCK).await.map_err(failed)?;
    // Also has the server look anew for what others have made meanwhile.
    transaction.batch_execute(VERSION_TABLE).await.map_err(failed)?;
    if let Some(changes) = pending(read_version(transaction.client()).await?, "UNLOGGED")? {
        transaction.batch_execute(CLOCK).await.map_err(failed)?;
        transaction.batch_execute(&changes).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

/// The version of the database; zero where it has none.
async fn version(client: &Client) -> Result<i64, StoreError> {
    let failed = |error: tokio_postgres::Error| failed(&error);
    let row = client.query_one(HAS_VERSION, &[]).await.map_err(failed)?;
    if row.try_get(0).map_err(failed)? { read_version(client).await } else { Ok(0) }
}

async fn read_version(client: &Client) -> Result<i64, StoreError> {
    let failed = |error: tokio_postgres::Error| failed(&error);
    let row = client.query_one(READ_VERSION, &[]).await.map_err(failed)?;
    Ok(row.try_get::<_, Option<i64>>(0).map_err(failed)?.unwrap_or_default())
}

/// The server answered this statement, and goes on. A connection that it ends may end behind a change that was made.
pub(super) fn is_refusal(said: &DbError) -> bool {
    said.parsed_severity() == Some(Severity::Error)
}

/// A failure of PostgreSQL in words.
pub(super) fn failed(error: &tokio_postgres::Error) -> StoreError {
    match error.as_db_error() {
        Some(said) if is_of(said.code(), PASSING) => StoreError::Unavailable(said.message().to_owned()),
        Some(said) => StoreError::Database(format!("{} ({})", said.message(), said.code().code())),
        None => StoreError::Unavailable(full_words(error)),
    }
}

/// Classes of errors that pass: the server shuts down, starts up, is full, does not write now, or gave up waiting.
const PASSING: &[&str] = &["57", "53", "08", "55", "25", "40", "58"];
/// Classes of errors that stay with a connection: it may only read, since it was opened when the server was a standby or was told so;
/// what was prepared is gone or has changed; or the server is ending it.
const SPOILING: &[&str] = &["25", "26", "0A", "57", "08"];

fn is_of(code: &SqlState, classes: &[&str]) -> bool {
    classes.iter().any(|class| code.code().starts_with(class))
}

fn full_words(error: &tokio_postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("the connection to the database was lost".to_owned())
}
