//! One connection: opened, migrated to the newest schema, and driven while work runs on it.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{Either, FutureExt as _, select};
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::{Client, NoTls};

use super::super::error::StoreError;
use super::super::schema::{READ_VERSION, VERSION_TABLE, pending};
use super::commit_outcome::PendingCommit;
use super::shared_server_state::Server;

/// Held during a migration, so that only one process migrates.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(4917225180339212)";
const HAS_VERSION: &str = "SELECT to_regclass('callboard_schema') IS NOT NULL";
/// The clock that leases are measured with: the server's, since those of several machines differ.
const CLOCK: &str = "CREATE OR REPLACE FUNCTION callboard_now() RETURNS BIGINT LANGUAGE sql VOLATILE \
     AS 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT'";
/// Statements time out on a server that hangs. All queries use an index, so a plan is made once, and never scans a whole table, which
/// the planner prefers as long as it does not know how large a table has become.
const SESSION: &str = "SET statement_timeout = '20s'; SET idle_in_transaction_session_timeout = '30s'; \
     SET client_min_messages = 'warning'; SET plan_cache_mode = 'force_generic_plan'; \
     SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off";

/// The future that drives the I/O of a connection. It ends when the connection does.
type Transport = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// An open connection.
pub(super) struct Connection {
    session: PgSession,
    /// None once the connection has ended, or work on it was abandoned halfway.
    transport: Option<Transport>,
    generation: u64,
}

/// The part of a connection that statements are sent to.
pub(super) struct PgSession {
    pub(super) client: Client,
    /// Prepared statements, by the parts that they combine.
    pub(super) prepared: HashMap<Vec<&'static str>, tokio_postgres::Statement>,
    pub(super) pending_commit: Option<PendingCommit>,
    /// Whether an error has shown that this connection cannot be reused.
    is_stale: bool,
}

impl Connection {
    /// Connects within the connect timeout: a peer that accepts the connection may hang, or not be PostgreSQL.
    pub(super) async fn open(server: &Server) -> Result<Self, StoreError> {
        let within = server.options.connect_timeout();
        let opened = tokio::time::timeout(within, Self::open_without_timeout(server)).await;
        opened.unwrap_or_else(|_| Err(no_answer(within)))
    }

    async fn open_without_timeout(server: &Server) -> Result<Self, StoreError> {
        let generation = server.generation();
        let (client, transport) = connect(server).await.map_err(|error| failed(&error))?;
        let session = PgSession { client, prepared: HashMap::new(), pending_commit: None, is_stale: false };
        let mut connection = Self { session, transport: Some(transport), generation };
        let ready = connection.drive(async |session| session.client.batch_execute(SESSION).await).await?;
        ready.map_err(|error| failed(&error))?;
        Ok(connection)
    }

    /// Brings the database to the newest version.
    pub(super) async fn migrate(&mut self) -> Result<(), StoreError> {
        self.drive(async |session| migrate(&mut session.client).await).await?
    }

    /// Runs work on the connection while driving its I/O.
    pub(super) async fn drive<T>(&mut self, work: impl AsyncFnOnce(&mut PgSession) -> T) -> Result<T, StoreError> {
        let Some(transport) = self.transport.take() else { return Err(lost()) };
        let work = std::pin::pin!(work(&mut self.session));
        match select(work, transport).await {
            Either::Left((outcome, transport)) => {
                self.transport = Some(transport);
                Ok(outcome)
            }
            // The last bytes may have brought the answer, so the work is polled once more.
            Either::Right((_, work)) => work.now_or_never().ok_or_else(lost),
        }
    }

    pub(super) fn take_pending_commit(&mut self) -> Option<PendingCommit> {
        self.session.pending_commit.take()
    }

    /// Marks the connection as stale or lost, if the error says so.
    pub(super) fn note(&mut self, error: &tokio_postgres::Error) {
        self.session.is_stale |= error.code().is_some_and(|code| is_of(code, STALE));
        if error.as_db_error().is_some_and(|error| !is_refusal(error)) {
            self.transport = None;
        }
    }

    /// Whether it has ended, or work on it was abandoned halfway.
    pub(super) fn is_lost(&self) -> bool {
        self.transport.is_none()
    }

    /// The connection, if it can be used again. One that is stale makes all of its generation stale.
    pub(super) fn if_usable(mut self, server: &Server) -> Option<Self> {
        if self.session.is_stale {
            server.end_generation(self.generation);
        }
        let transport = self.transport.as_mut().filter(|_| self.generation == server.generation())?;
        // Reads what the server has sent since the last job, such as the end of the connection.
        if transport.as_mut().now_or_never().is_some() || self.session.client.is_closed() { None } else { Some(self) }
    }
}

fn no_answer(within: Duration) -> StoreError {
    StoreError::Unavailable(format!("no PostgreSQL answered within {within:?}; is one at this address, and awake?"))
}

async fn connect(server: &Server) -> Result<(Client, Transport), tokio_postgres::Error> {
    let config = &server.options.config;
    match &server.options.tls {
        Some(tls) => {
            let (client, connection) = config.connect(tls.clone()).await?;
            Ok((client, Box::pin(connection)))
        }
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            Ok((client, Box::pin(connection)))
        }
    }
}

/// A database of the newest version is only read, so that a user without the right to change its tables can use it.
async fn migrate(client: &mut Client) -> Result<(), StoreError> {
    let failed = |error: tokio_postgres::Error| failed(&error);
    if pending(version(client).await?, "UNLOGGED")?.is_none() {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(failed)?;
    transaction.batch_execute(MIGRATION_LOCK).await.map_err(failed)?;
    // Also makes the server see what another process has migrated meanwhile.
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

/// Whether the server refused a statement and keeps the connection. If it closes the connection, the change may be committed.
pub(super) fn is_refusal(error: &DbError) -> bool {
    error.parsed_severity() == Some(Severity::Error)
}

/// A failure of PostgreSQL as the store reports it.
pub(super) fn failed(error: &tokio_postgres::Error) -> StoreError {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) if is_of(error.code(), TRANSIENT) => StoreError::Unavailable(error.message().to_owned()),
        (Some(error), _) => StoreError::Database(format!("{} ({})", error.message(), error.code().code())),
        (None, Some(source)) => StoreError::Unavailable(format!("{error}: {source}")),
        (None, None) => StoreError::Unavailable(error.to_string()),
    }
}

/// Classes of transient errors: the server shuts down, starts up, is full, is read-only, or timed out.
const TRANSIENT: &[&str] = &["57", "53", "08", "55", "25", "40", "58"];
/// Classes of errors that make a connection stale: it is read-only, since it was opened when the server was a standby; what was
/// prepared is gone or has changed; or the server is ending it.
const STALE: &[&str] = &["25", "26", "0A", "57", "08"];

fn is_of(code: &SqlState, classes: &[&str]) -> bool {
    classes.iter().any(|class| code.code().starts_with(class))
}

fn lost() -> StoreError {
    StoreError::Unavailable("the connection to the database was lost".to_owned())
}
