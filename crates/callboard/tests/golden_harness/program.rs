//! The real program as a child process, in front of the scripted model server; it ends with its owner.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many were started by this process; each has a folder of its own.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// A running Callboard.
pub(super) struct Program {
    child: Child,
    folder: PathBuf,
    /// `HOST:PORT`.
    pub(super) address: String,
}

impl Program {
    /// Starts Callboard with the text of a settings file, in front of a model server on loopback.
    pub(super) fn start(settings: &str, upstream_port: u16) -> Self {
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("golden-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("characters")).expect("a folder for the program");
        std::fs::write(folder.join("callboard.toml"), settings).expect("a settings file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_callboard"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("CALLBOARD_")) {
            command.env_remove(name);
        }
        command.args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--store",
            "sqlite::memory:",
            "--characters",
            "characters",
            "--log",
            "error",
        ]);
        command.args(["--upstream", &format!("http://127.0.0.1:{upstream_port}/v1")]);
        let mut child = command.current_dir(&folder).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = lines.find_map(|line| {
            line.ok()?.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        });
        Self { child, folder, address: address.expect("the program says where it listens") }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
