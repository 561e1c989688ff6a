//! Hot reload: a changed file is loaded by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::Cast;

/// Editors write a file in several steps; what follows within this time belongs together.
const SETTLE: Duration = Duration::from_millis(50);

/// Loads the folder again whenever something in it changes, until the future is dropped.
pub async fn watch(cast: Arc<Cast>) {
    let (changed, mut changes) = mpsc::channel(1);
    let watcher = match watcher(cast.folder(), changed) {
        Ok(watcher) => watcher,
        Err(error) => {
            let folder = cast.folder().display();
            let remedy = "name a folder with --characters, or load changes with POST /v1/characters/reload";
            tracing::warn!(%folder, %error, "the folder of characters cannot be watched: {remedy}");
            return;
        }
    };
    // What changed before the watcher was there is noticed as well.
    reload(&cast).await;
    while changes.recv().await.is_some() {
        tokio::time::sleep(SETTLE).await;
        while changes.try_recv().is_ok() {}
        reload(&cast).await;
    }
    drop(watcher);
}

async fn reload(cast: &Cast) {
    if let Err(error) = cast.load(false).await {
        tracing::error!(%error, "characters cannot be loaded");
    }
}

fn watcher(folder: &Path, changed: mpsc::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let matters = event.is_ok_and(|event| !event.kind.is_access());
        if matters {
            // A full channel means that a reload is due anyway.
            let _ = changed.try_send(());
        }
    })?;
    watcher.watch(folder, RecursiveMode::NonRecursive)?;
    Ok(watcher)
}
