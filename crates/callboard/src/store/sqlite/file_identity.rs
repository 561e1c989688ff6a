//! Whether the open file is still the one at its path. A file that was deleted or replaced can be written to as long as it is open, and
//! is gone when the program ends: no write to it may be reported as stored.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::error::StoreError;

/// How long a check is valid.
const VALID_FOR: Duration = Duration::from_secs(1);

/// An open file, by its device and inode.
#[derive(Debug)]
pub(crate) struct FileIdentity {
    path: PathBuf,
    device_and_inode: Option<(u64, u64)>,
    checked_at: Instant,
    is_same: bool,
}

impl FileIdentity {
    /// The file that is at a path now.
    pub(crate) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            device_and_inode: device_and_inode(path),
            checked_at: Instant::now(),
            is_same: true,
        }
    }

    /// Checks the file, if the last check is too old.
    pub(super) fn check(&mut self) -> Result<(), StoreError> {
        if self.checked_at.elapsed() >= VALID_FOR {
            self.check_now();
        }
        if self.is_same { Ok(()) } else { Err(StoreError::Removed(self.path.display().to_string())) }
    }

    fn check_now(&mut self) {
        let was_same = std::mem::replace(&mut self.is_same, device_and_inode(&self.path) == self.device_and_inode);
        self.checked_at = Instant::now();
        let file = self.path.display();
        if was_same && !self.is_same {
            tracing::error!(%file, "the store's file was removed or replaced: nothing is stored until it is back, or Callboard is restarted");
        } else if !was_same && self.is_same {
            tracing::info!(%file, "the store's file is back");
        }
    }
}

#[cfg(unix)]
fn device_and_inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// On other systems a file that is open cannot be removed.
#[cfg(not(unix))]
fn device_and_inode(_: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_or_replaced_file_is_detected() {
        let folder = std::env::temp_dir().join(format!("callboard_identity_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (path, aside) = (folder.join("a.db"), folder.join("b.db"));
        std::fs::write(&path, "").unwrap();
        let mut identity = FileIdentity::of(&path);
        let mut is_same = || {
            identity.check_now();
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
