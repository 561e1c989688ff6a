//! Hot reload: changed character files are loaded again.
//!
//! The folder may come into being while the program runs, go, and come back: until it exists, its nearest existing ancestor is watched.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::CharacterRegistry;

/// Editors write a file in several steps; events within this time are one change.
const SETTLE: Duration = Duration::from_millis(50);

/// Loads the folder again whenever something in it changes, until the future is dropped.
pub async fn reload_on_change(registry: Arc<CharacterRegistry>) {
    loop {
        let place = WatchedPlace::of(registry.folder());
        let (changed, changes) = mpsc::channel(1);
        match watcher(&place.path, changed) {
            Ok(watcher) => {
                reload_while_there(&registry, &place, changes).await;
                drop(watcher);
            }
            Err(_) if WatchedPlace::of(registry.folder()) != place => {}
            Err(error) => {
                let (folder, remedy) = (registry.folder().display(), "load changes with POST /v1/characters/reload");
                tracing::warn!(%folder, %error, "cannot watch the characters folder: {remedy}");
                return;
            }
        }
    }
}

/// Loads the folder at each change, until something else is to be watched.
async fn reload_while_there(registry: &CharacterRegistry, place: &WatchedPlace, mut changes: mpsc::Receiver<()>) {
    // Catches changes made before the watcher was ready.
    reload(registry).await;
    while WatchedPlace::of(registry.folder()) == *place {
        if changes.recv().await.is_none() {
            return;
        }
        // The folder may have come, been loaded, and gone again before it was watched.
        if place.path != registry.folder() && registry.is_empty() {
            continue;
        }
        tokio::time::sleep(SETTLE).await;
        while changes.try_recv().is_ok() {}
        reload(registry).await;
    }
}

/// What is watched: the folder, or its nearest ancestor that exists. A new folder of the same name is another place.
#[derive(PartialEq, Eq)]
struct WatchedPlace {
    path: PathBuf,
    /// Device and inode.
    identity: Option<(u64, u64)>,
}

impl WatchedPlace {
    fn of(folder: &Path) -> Self {
        let existing = folder.ancestors().find(|path| path.is_dir());
        let path = existing.unwrap_or_else(|| if folder.is_absolute() { Path::new("/") } else { Path::new(".") });
        let identity = std::fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
        Self { path: path.to_owned(), identity }
    }
}

async fn reload(registry: &CharacterRegistry) {
    if let Err(error) = registry.load(false).await {
        tracing::error!(%error, "characters cannot be loaded");
    }
}

fn watcher(folder: &Path, changed: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let matters = event.is_ok_and(|event| !event.kind.is_access());
        if matters {
            // A full channel means that a reload is pending anyway.
            let _ = changed.try_send(());
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
