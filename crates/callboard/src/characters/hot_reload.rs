//! Hot reload: changed character files are loaded again.
//!
//! The folder may come into being while the program runs, go, and come back: until it exists, its path is polled. Its parent is
//! not watched, since that may be where the store and the log are written all the time.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::CharacterRegistry;

/// Editors write a file in several steps; events within this time are one change.
const SETTLE: Duration = Duration::from_millis(50);
/// How often a folder that does not exist is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Loads the folder again whenever something in it changes, until the future is dropped.
pub async fn reload_on_change(registry: Arc<CharacterRegistry>) {
    loop {
        let Some(identity) = identity(registry.folder()) else {
            // It may have come, been loaded, and gone again before it was watched.
            if !registry.is_empty() {
                reload(&registry).await;
            }
            sleep(POLL_INTERVAL).await;
            continue;
        };
        let (changed, changes) = mpsc::channel(1);
        match watcher(registry.folder(), changed) {
            Ok(watcher) => {
                reload_while_there(&registry, identity, changes).await;
                drop(watcher);
            }
            Err(_) if self::identity(registry.folder()) != Some(identity) => {}
            Err(error) => {
                let (folder, remedy) = (registry.folder().display(), "load changes with POST /v1/characters/reload");
                tracing::warn!(%folder, %error, "cannot watch the characters folder: {remedy}");
                return;
            }
        }
    }
}

/// Loads the folder at each change, until it is gone or another one.
async fn reload_while_there(registry: &CharacterRegistry, identity: FolderIdentity, mut changes: mpsc::Receiver<()>) {
    // Catches changes made before the watcher was ready.
    reload(registry).await;
    while self::identity(registry.folder()) == Some(identity) {
        if changes.recv().await.is_none() {
            return;
        }
        sleep(SETTLE).await;
        while changes.try_recv().is_ok() {}
        reload(registry).await;
    }
}

/// Device and inode: a new folder of the same name is another one.
type FolderIdentity = (u64, u64);

fn identity(folder: &Path) -> Option<FolderIdentity> {
    let data = std::fs::metadata(folder).ok().filter(std::fs::Metadata::is_dir)?;
    Some((data.dev(), data.ino()))
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
