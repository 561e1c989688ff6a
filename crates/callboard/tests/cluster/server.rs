//! A PostgreSQL for tests: the one that `LEDGER_TEST_POSTGRES` names, or a new cluster that ends with this process at
//! the latest. Where neither can be had the test fails and says why.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A name that no other test uses.
pub(crate) fn new_name(word: &str) -> String {
    format!("callboard_{word}_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A PostgreSQL.
pub(crate) struct Server {
    pub(crate) url: String,
    /// Where it lives, unless it is there for all tests.
    pub(crate) folder: Option<PathBuf>,
}

impl Server {
    /// The one that is there for all tests, or a new one.
    pub(crate) fn start() -> Self {
        match std::env::var("LEDGER_TEST_POSTGRES") {
            Ok(url) => Self { url, folder: None },
            Err(_) => Self::start_own(&[]),
        }
    }

    /// A new one with these settings, which the test may treat as it likes.
    pub(crate) fn start_own(settings: &[&str]) -> Self {
        let folder = std::env::temp_dir().join(new_name("cluster"));
        let mut start = Command::new(script());
        start.arg("start").arg(&folder).arg(std::process::id().to_string()).args(settings);
        let start = start.output().unwrap();
        assert!(start.status.success(), "{}", String::from_utf8_lossy(&start.stderr));
        Self { url: String::from_utf8(start.stdout).unwrap().trim().to_owned(), folder: Some(folder) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = Command::new(script()).arg("stop").arg(folder).stdout(Stdio::null()).status();
        }
    }
}

/// What starts and ends clusters.
pub(crate) fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres")
}
