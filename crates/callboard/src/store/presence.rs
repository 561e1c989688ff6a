//! Whether other processes use the same file: each holds a lock on a small file beside it, as long as it lives.
//!
//! A process that is alone need not write down whose turn it is: its own queue decides. The system lets go of the locks of a
//! process that was killed, so nobody waits for the dead. A turn that was under way when another process came is not in the
//! database; should that process play the same conversation meanwhile, the version of the conversation decides.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::StoreError;

/// So many processes may use one file.
const MOST: usize = 8;
/// What was seen counts so long.
const MOMENT: Duration = Duration::from_millis(20);

/// This process among those that use a file.
#[derive(Debug)]
pub(super) struct Presence {
    database: PathBuf,
    place: usize,
    seen: Mutex<Seen>,
    /// Locked as long as it is open.
    _held: File,
}

/// What was seen last, and when.
#[derive(Debug)]
struct Seen {
    at: Instant,
    alone: bool,
}

impl Presence {
    /// Takes the first free place.
    pub(super) fn take(database: &Path) -> Result<Self, StoreError> {
        for place in 0..MOST {
            let path = path(database, place);
            let mut options = File::options();
            options.create(true).truncate(false).write(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path);
            let file = file.map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))?;
            match file.try_lock() {
                Ok(()) => return Ok(Self::new(database, place, file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::Unavailable(format!("{} cannot be locked: {error}", path.display())));
                }
            }
        }
        let words = format!("{MOST} Callboards use the file already; let them share a PostgreSQL instead");
        Err(StoreError::Unavailable(words))
    }

    fn new(database: &Path, place: usize, held: File) -> Self {
        let mut presence = Self {
            database: database.to_owned(),
            place,
            seen: Mutex::new(Seen { at: Instant::now(), alone: false }),
            _held: held,
        };
        let alone = presence.look();
        if !alone {
            // Until the others have seen us too.
            std::thread::park_timeout(MOMENT);
        }
        presence.seen = Mutex::new(Seen { at: Instant::now(), alone });
        presence
    }

    /// Whether nobody else is there, or was a moment ago.
    pub(super) fn is_alone(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.at.elapsed() >= MOMENT {
            *seen = Seen { at: Instant::now(), alone: self.look() };
        }
        seen.alone
    }

    fn look(&self) -> bool {
        (0..MOST).filter(|place| *place != self.place).all(|place| self.is_free(place))
    }

    fn is_free(&self, place: usize) -> bool {
        match File::open(path(&self.database, place)) {
            Ok(file) => file.try_lock_shared().is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }
}

fn path(database: &Path, place: usize) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(format!("-process-{place}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_see_each_other_come_and_go() {
        let folder = std::env::temp_dir().join(format!("callboard_presence_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let database = folder.join("a.db");
        let first = Presence::take(&database).unwrap();
        assert!(first.look());
        let second = Presence::take(&database).unwrap();
        assert!(!first.look() && !second.look());
        drop(first);
        assert!(second.look());
        let others: Vec<Presence> = (1..MOST).map(|_| Presence::take(&database).unwrap()).collect();
        assert!(Presence::take(&database).is_err());
        drop(others);
        assert!(second.look());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
