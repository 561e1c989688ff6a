//! The end of the program, as all that runs hears of it.

use tokio::sync::watch;

/// Waits until the program is to end.
pub async fn stop_asked(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
