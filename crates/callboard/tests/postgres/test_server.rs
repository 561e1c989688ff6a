//! A PostgreSQL server for tests: the one named by `TEST_POSTGRES`, or a new cluster that ends with this process at
//! the latest. If neither is available, the test fails with the reason.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A name that no other test uses.
pub(crate) fn new_name(word: &str) -> String {
    format!("callboard_{word}_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// A PostgreSQL server.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The folder of the cluster; none for the shared server.
    pub(crate) folder: Option<PathBuf>,
}

impl Server {
    /// The shared server, or a new one.
    pub(crate) fn start() -> Self {
        match std::env::var("TEST_POSTGRES") {
            Ok(url) => Self { url, folder: None },
            Err(_) => Self::start_own(&[]),
        }
    }

    /// A new server with these settings, which the test may stop or break.
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

/// The script that starts and stops clusters.
pub(crate) fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres")
}
