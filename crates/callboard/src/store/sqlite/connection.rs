//! A connection to an SQLite database: opened, configured, migrated to the newest schema, with a clock.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::super::error::StoreError;
use super::super::schema::{READ_VERSION, VERSION_TABLE, pending};
use super::file_identity::FileIdentity;

/// How long a connection waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENTS_KEPT: usize = 128;
/// Pages in the WAL before a checkpoint. A page that changes often is then copied back once.
const PAGES_BEFORE_CHECKPOINT: i64 = 4000;
const CACHE_KIBIBYTES: i64 = 1_000;

/// Which database, and how durable its writes are.
pub(crate) struct OpenOptions<'a> {
    /// The file; none for memory.
    pub(crate) path: Option<&'a Path>,
    /// Whether a commit waits for the disk.
    pub(crate) synchronous_full: bool,
}

/// A connection, and the file behind it.
pub(crate) struct Database {
    pub(super) connection: Connection,
    pub(super) identity: Option<FileIdentity>,
}

/// Opens a connection and migrates the database to the newest version.
pub(crate) fn open(options: &OpenOptions<'_>) -> Result<Database, StoreError> {
    let mut connection = match options.path {
        Some(path) => open_file(path)?,
        None => Connection::open_in_memory().map_err(|error| failed(&error))?,
    };
    let identity = options.path.map(FileIdentity::of);
    prepare(&mut connection, options).map_err(|error| match options.path {
        Some(path) => with_path(error, path),
        None => error,
    })?;
    Ok(Database { connection, identity })
}

fn prepare(connection: &mut Connection, options: &OpenOptions<'_>) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| failed(&error))?;
    refuse_foreign_database(connection)?;
    configure(connection, options).map_err(|error| failed(&error))?;
    add_clock(connection).map_err(|error| failed(&error))?;
    migrate(connection)
}

/// Before anything is changed: a database with tables, and without ours, belongs to another program.
fn refuse_foreign_database(connection: &Connection) -> Result<(), StoreError> {
    const LOOK: &str = "SELECT count(*), count(*) FILTER (WHERE name = 'callboard_schema') FROM sqlite_master";
    let tables = retry_while_busy(|| connection.query_row(LOOK, [], |row| Ok((row.get(0)?, row.get(1)?))));
    match tables {
        Ok((1_i64.., 0_i64)) => Err(StoreError::Foreign("holds the tables of another program".to_owned())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::Foreign("is no SQLite database".to_owned()))
        }
        outcome => outcome.map(drop).map_err(|error| failed(&error)),
    }
}

/// An error of opening a file, with its name.
fn with_path(error: StoreError, path: &Path) -> StoreError {
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
    create_private(path).map_err(|error| StoreError::Unavailable(format!("{name} cannot be opened: {error}")))?;
    Connection::open(path).map_err(|error| StoreError::Unavailable(format!("{name} cannot be opened: {error}")))
}

/// A new file can be read by its owner only.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// With `synchronous = NORMAL` a committed change survives the death of the process, with `FULL` also that of the machine.
fn configure(connection: &Connection, options: &OpenOptions<'_>) -> rusqlite::Result<()> {
    // When two processes open a new file at once, one switches to WAL and the other gets SQLITE_BUSY.
    retry_while_busy(|| connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())))?;
    connection.pragma_update(None, "synchronous", if options.synchronous_full { "FULL" } else { "NORMAL" })?;
    connection.pragma_update(None, "wal_autocheckpoint", PAGES_BEFORE_CHECKPOINT)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIBIBYTES)?;
    // Plans do not depend on values, so a changed value does not prepare a statement again.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Retries while another process has locked the file.
fn retry_while_busy<T>(mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    const PAUSE: Duration = Duration::from_millis(20);
    let end = Instant::now() + BUSY_TIMEOUT;
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
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(|error| failed(&error))?;
    transaction.execute_batch(VERSION_TABLE).map_err(|error| failed(&error))?;
    let version: Option<i64> =
        transaction.query_row(READ_VERSION, [], |row| row.get(0)).map_err(|error| failed(&error))?;
    if let Some(changes) = pending(version.unwrap_or_default(), "")? {
        transaction.execute_batch(&changes).map_err(|error| failed(&error))?;
    }
    transaction.commit().map_err(|error| failed(&error))
}

/// A failure of SQLite as the store reports it.
pub(super) fn failed(error: &rusqlite::Error) -> StoreError {
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
        let readonly = failed(&rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(8), None));
        for (path, folder) in [("/data/a.db", "folder /data must"), ("a.db", "folder . must")] {
            let words = with_path(readonly.clone(), Path::new(path)).to_string();
            assert!(words.contains(path) && words.contains(folder), "{words}");
        }
    }
}
