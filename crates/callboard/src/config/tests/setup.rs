//! The inputs of one program start: a working directory, an environment, a command line.

use crate::cli::{Command, parse_from};
use crate::config::{ConfigError, Environment, Flags, Loaded, load};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The settings of each layer.
#[derive(Default)]
pub(super) struct Start<'text> {
    /// The text of `callboard.toml`; without any there is no such file.
    pub(super) file: &'text str,
    pub(super) environment: &'text [(&'text str, &'text str)],
    pub(super) flags: &'text [&'text str],
}

impl Start<'_> {
    pub(super) fn load(&self) -> Result<Loaded, ConfigError> {
        let folder = Folder::new();
        if !self.file.is_empty() {
            folder.write("callboard.toml", self.file);
        }
        let environment = Environment::new(self.environment.iter().copied());
        load(&flags(self.flags), &environment, &folder.0)
    }

    pub(super) fn message(&self) -> String {
        self.load().map(|loaded| loaded.to_toml()).unwrap_err().to_string()
    }
}

pub(super) fn flags(words: &[&str]) -> Flags {
    match parse_from(["callboard", "config"].iter().chain(words)).unwrap() {
        Command::Config(flags) => flags,
        other => panic!("{other:?}"),
    }
}

/// The value of a key in TOML and its origin, as `callboard config` prints them.
pub(super) fn in_effect(loaded: &Loaded, path: &str) -> (String, String) {
    let (section, name) = path.split_once('.').unwrap_or(("", path));
    let entries = loaded.entries.iter().chain(loaded.upstreams.iter().flatten());
    let found = entries.filter(|entry| entry.section == section && entry.name == name).collect::<Vec<_>>();
    let [entry] = found.as_slice() else { panic!("{path} is listed {} times", found.len()) };
    (entry.written.clone(), entry.origin.to_string())
}

/// What [`in_effect`] is expected to give.
pub(super) fn pair(value: &str, origin: &str) -> (String, String) {
    (value.to_owned(), origin.to_owned())
}

/// A folder of its own for one test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("callboard-settings-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover folder in the system's temporary folder is harmless.
        std::fs::remove_dir_all(&self.0).ok();
    }
}
