//! A connection to an SQLite database, made ready: settings, the newest version of the schema, a clock.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::super::error::StoreError;
use super::super::schema::{READ_VERSION, VERSION_TABLE, pending};
use super::identity::Identity;

/// How long a connection waits for another process.
const PATIENCE: Duration = Duration::from_secs(10);
const STATEMENTS_KEPT: usize = 128;
/// A page that changes often is copied back to the file once for so many pages that were written.
const PAGES_BEFORE_CHECKPOINT: i64 = 4000;
const CACHE_KIBIBYTES: i64 = 1_000;

/// What to open.
pub(crate) struct Opening<'a> {
    /// The file; none for memory.
    pub(crate) path: Option<&'a Path>,
    /// Whether a change is on the disk before it counts.
    pub(crate) synchronous_full: bool,
}

/// A connection, and the file behind it.
pub(crate) struct Open {
    pub(super) connection: Connection,
    pub(super) identity: Option<Identity>,
}

/// Opens a connection and brings the database to the newest version.
pub(crate) fn open(opening: &Opening<'_>) -> Result<Open, StoreError> {
    let mut connection = match opening.path {
        Some(path) => open_file(path)?,
        None => Connection::open_in_memory().map_err(failed)?,
    };
    let identity = opening.path.map(Identity::of);
    make_ready(&mut connection, opening).map_err(|error| match opening.path {
        Some(path) => in_words(error, path),
        None => error,
    })?;
    Ok(Open { connection, identity })
}

fn make_ready(connection: &mut Connection, opening: &Opening<'_>) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    refuse_what_is_not_ours(connection)?;
    settle(connection, opening).map_err(failed)?;
    add_clock(connection).map_err(failed)?;
    migrate(connection)
}

/// Before anything is changed: a database with tables, and without ours, belongs to another program.
fn refuse_what_is_not_ours(connection: &Connection) -> Result<(), StoreError> {
    const LOOK: &str = "SELECT count(*), count(*) FILTER (WHERE name = 'callboard_schema') FROM sqlite_master";
    let tables = with_patience(|| connection.query_row(LOOK, [], |row| Ok((row.get(0)?, row.get(1)?))));
    match tables {
        Ok((1_i64.., 0_i64)) => Err(StoreError::Foreign("holds the tables of another program".to_owned())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::Foreign("is no SQLite database".to_owned()))
        }
        outcome => outcome.map(drop).map_err(failed),
    }
}

/// What went wrong when a file was opened, with its name.
fn in_words(error: StoreError, path: &Path) -> StoreError {
    let name = path.display();
    match error {
        StoreError::Foreign(why) => StoreError::Foreign(format!("{name} {why}")),
        StoreError::Unwritable(why) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let folder = folder.display();
            StoreError::Unwritable(format!("{name}: {why}; the file and its folder {folder} must both be writable"))
        }
        other => other,
    }
}

fn open_file(path: &Path) -> Result<Connection, StoreError> {
    let name = path.display();
    keep_private(path).map_err(|error| StoreError::Unavailable(format!("{name} cannot be opened: {error}")))?;
    Connection::open(path).map_err(|error| StoreError::Unavailable(format!("{name} cannot be opened: {error}")))
}

/// Conversations are nobody else's business: a new file can be read by its owner only.
fn keep_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// With `synchronous = NORMAL` a committed change survives the death of the process, with `FULL` also that of the machine.
fn settle(connection: &Connection, opening: &Opening<'_>) -> rusqlite::Result<()> {
    // Two processes that open a new file at once: one of them switches, the other is told that the file is busy.
    with_patience(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
    connection.pragma_update(None, "synchronous", if opening.synchronous_full { "FULL" } else { "NORMAL" })?;
    connection.pragma_update(None, "wal_autocheckpoint", PAGES_BEFORE_CHECKPOINT)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
    // Plans do not depend on values, so a prepared statement is not prepared again whenever its values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Tries again while another process is in the way.
fn with_patience<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    const PAUSE: Duration = Duration::from_millis(20);
    let end = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < end => std::thread::park_timeout(PAUSE),
            outcome => return outcome,
        }
    }
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The clock that leases are measured with.
fn add_clock(connection: &Connection) -> rusqlite::Result<()> {
    connection.create_scalar_function("callboard_now", 0, FunctionFlags::SQLITE_UTF8, |_| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(i64::try_from(now.as_millis()).unwrap_or(i64::MAX))
    })
}

/// The transaction holds the file's write lock from its beginning, so of two processes one migrates and the other finds it done.
fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    transaction.execute_batch(VERSION_TABLE).map_err(failed)?;
    let version: Option<i64> = transaction.query_row(READ_VERSION, [], |row| row.get(0)).map_err(failed)?;
    if let Some(changes) = pending(version.unwrap_or_default(), "")? {
        transaction.execute_batch(&changes).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// A failure of SQLite in words.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unavailable(format!("another process holds the database: {error}"))
        }
        Some(ErrorCode::DiskFull | ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            StoreError::Unwritable(error.to_string())
        }
        Some(ErrorCode::SystemIoFailure) => StoreError::Unavailable(error.to_string()),
        _ => StoreError::Database(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_told_with_its_folder() {
        let readonly = failed(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(8), None));
        for (path, folder) in [("/data/a.db", "folder /data must"), ("a.db", "folder . must")] {
            let words = in_words(readonly.clone(), Path::new(path)).to_string();
            assert!(words.contains(path) && words.contains(folder), "{words}");
        }
    }
}
