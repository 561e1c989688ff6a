//! Whether other processes use the same SQLite file: each holds a lock on a small file beside it, as long as it lives.
//!
//! A process that is alone writes no leases: its own queue decides. The system releases the locks of a killed process. A turn that was
//! running when another process started has no lease in the database; if that process runs a turn of the same conversation, the
//! version of the conversation decides.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::StoreError;

const MAX_PROCESSES: usize = 8;
/// How long a check is valid.
const VALID_FOR: Duration = Duration::from_millis(20);

/// The lock that this process holds.
#[derive(Debug)]
pub(super) struct ProcessLock {
    database: PathBuf,
    slot: usize,
    last_check: Mutex<Check>,
    /// Locked as long as it is open.
    _file: File,
}

#[derive(Debug)]
struct Check {
    at: Instant,
    is_alone: bool,
}

impl ProcessLock {
    /// Locks the first free slot.
    pub(super) fn acquire(database: &Path) -> Result<Self, StoreError> {
        for slot in 0..MAX_PROCESSES {
            let path = path(database, slot);
            let mut options = File::options();
            options.create(true).truncate(false).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path);
            let file = file.map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))?;
            match file.try_lock() {
                Ok(()) => return Ok(Self::new(database, slot, file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::Unavailable(format!("{} cannot be locked: {error}", path.display())));
                }
            }
        }
        let message = format!("{MAX_PROCESSES} Callboards use the file already; let them share a PostgreSQL instead");
        Err(StoreError::Unavailable(message))
    }

    fn new(database: &Path, slot: usize, file: File) -> Self {
        let last_check = Mutex::new(Check { at: Instant::now(), is_alone: false });
        let mut lock = Self { database: database.to_owned(), slot, last_check, _file: file };
        let is_alone = lock.check();
        if !is_alone {
            // Until the other processes have detected this one, too.
            std::thread::park_timeout(VALID_FOR);
        }
        lock.last_check = Mutex::new(Check { at: Instant::now(), is_alone });
        lock
    }

    /// Whether no other process uses the file, or used it a moment ago.
    pub(super) fn is_alone(&self) -> bool {
        let mut last = self.last_check.lock().unwrap_or_else(PoisonError::into_inner);
        if last.at.elapsed() >= VALID_FOR {
            *last = Check { at: Instant::now(), is_alone: self.check() };
        }
        last.is_alone
    }

    fn check(&self) -> bool {
        (0..MAX_PROCESSES).filter(|slot| *slot != self.slot).all(|slot| self.is_free(slot))
    }

    fn is_free(&self, slot: usize) -> bool {
        match File::open(path(&self.database, slot)) {
            Ok(file) => file.try_lock_shared().is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

fn path(database: &Path, slot: usize) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-process-{slot}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_see_each_other_come_and_go() {
        let folder = std::env::temp_dir().join(format!("callboard_process_lock_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let database = folder.join("a.db");
        let first = ProcessLock::acquire(&database).unwrap();
        assert!(first.check());
        let second = ProcessLock::acquire(&database).unwrap();
        assert!(!first.check() && !second.check());
        drop(first);
        assert!(second.check());
        let others: Vec<ProcessLock> = (1..MAX_PROCESSES).map(|_| ProcessLock::acquire(&database).unwrap()).collect();
        assert!(ProcessLock::acquire(&database).is_err());
        drop(others);
        assert!(second.check());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
