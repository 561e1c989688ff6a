//! The end of the program, as all that runs hears of it: first that it is to end, and when it has waited long enough, that it does.

use tokio::sync::watch;

/// Waits until the program is to end.
pub async fn stop_asked(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
