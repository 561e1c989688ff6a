//! Whether the file that is open is still the one that its name leads to. A file that was deleted or replaced can be written to for as
//! long as it is open, and is gone when the program ends: nobody must be told that something was stored there.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::error::StoreError;

/// What was seen counts so long.
const MOMENT: Duration = Duration::from_secs(1);

/// An open file, as the system tells it from all others.
#[derive(Debug)]
pub(crate) struct Identity {
    path: PathBuf,
    file: Option<(u64, u64)>,
    looked: Instant,
    is_same: bool,
}

impl Identity {
    /// The file that a name leads to now.
    pub(crate) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), file: numbers(path), looked: Instant::now(), is_same: true }
    }

    /// Looks again, now and then.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if self.looked.elapsed() >= MOMENT {
            self.look();
        }
        if self.is_same { Ok(()) } else { Err(StoreError::Removed(self.path.display().to_string())) }
    }

    fn look(&mut self) {
        let was_same = std::mem::replace(&mut self.is_same, numbers(&self.path) == self.file);
        self.looked = Instant::now();
        let file = self.path.display();
        if was_same && !self.is_same {
            tracing::error!(%file, "the store's file was removed or replaced: nothing is stored until it is back, or Callboard is restarted");
        } else if !was_same && self.is_same {
            tracing::info!(%file, "the store's file is back");
        }
    }
}

/// The numbers of its device and of the file on it. They are not used again while it is open.
#[cfg(unix)]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn numbers(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_moved_away_or_replaced_is_not_the_same() {
        let folder = std::env::temp_dir().join(format!("callboard_identity_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, aside) = (folder.join("a.db"), folder.join("b.db"));
        std::fs::write(&path, "").unwrap();
        let mut identity = Identity::of(&path);
        let mut is_same = || {
            identity.look();
            identity.check().is_ok()
        };
        assert!(is_same());
        std::fs::rename(&path, &aside).unwrap();
        assert!(!is_same());
        std::fs::write(&path, "").unwrap();
        assert!(!is_same());
        std::fs::rename(&aside, &path).unwrap();
        assert!(is_same());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
