//! The end of the program, as everything that runs sees it.

use tokio::sync::watch;

/// Waits until the program is to end.
pub async fn shutdown_requested(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
