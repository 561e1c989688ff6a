//! Options of the sockets that clients connect to.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// Small pieces go out at once. A client that reads nothing, or cannot be reached, is disconnected after the timeout, so that its turn
/// does not wait for ever.
pub(crate) fn set(stream: &TcpStream, timeout: Duration) {
    if let Err(error) = stream.set_nodelay(true).and_then(|()| set_timeouts(stream, timeout)) {
        tracing::debug!(%error, "a socket option cannot be set");
    }
}

fn set_timeouts(stream: &TcpStream, timeout: Duration) -> std::io::Result<()> {
    let socket = SockRef::from(stream);
    // Systems take whole seconds here, and not arbitrarily many.
    let probes = (timeout / 4).clamp(Duration::from_secs(1), Duration::from_secs(10_000));
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(probes).with_interval(probes).with_retries(3))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(timeout))?;
    Ok(())
}
