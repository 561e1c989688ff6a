//! Hot reload: changed character files are loaded again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::CharacterRegistry;

/// Editors write a file in several steps; events within this time are one change.
const SETTLE: Duration = Duration::from_millis(50);

/// Loads the folder again whenever something in it changes, until the future is dropped.
pub async fn reload_on_change(registry: Arc<CharacterRegistry>) {
    let (changed, mut changes) = mpsc::channel(1);
    let watcher = match watcher(registry.folder(), changed) {
        Ok(watcher) => watcher,
        Err(error) => {
            let folder = registry.folder().display();
            let remedy = "name a folder with --characters, or load changes with POST /v1/characters/reload";
            tracing::warn!(%folder, %error, "cannot watch the characters folder: {remedy}");
            return;
        }
    };
    // Catches changes made before the watcher was ready.
    reload(&registry).await;
    while changes.recv().await.is_some() {
        tokio::time::sleep(SETTLE).await;
        while changes.try_recv().is_ok() {}
        reload(&registry).await;
    }
    drop(watcher);
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
