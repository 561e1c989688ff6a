//! The TCP connection of a client. Hyper reads and writes it; handlers can see whether the client is still there.

use std::io;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::socket_input::SocketInput;

/// An interim response. Clients skip it, and the system of a client that has closed its connection answers with a reset.
const PROBE: &[u8] = b"HTTP/1.1 102 Processing\r\n\r\n";

/// A client's connection.
pub struct ClientConnection {
    stream: TcpStream,
    /// Hyper has bytes that are not written yet.
    unflushed: AtomicBool,
    opened: Instant,
    /// When bytes were last read or written, in milliseconds since it was opened.
    active: AtomicU64,
    to_close: Notify,
    /// What arrives on a WebSocket.
    input: Mutex<Option<SocketInput>>,
}

impl ClientConnection {
    /// The connection of an accepted stream.
    pub fn new(stream: TcpStream) -> Arc<Self> {
        Arc::new(Self {
            stream,
            unflushed: AtomicBool::new(false),
            opened: Instant::now(),
            active: AtomicU64::new(0),
            to_close: Notify::new(),
            input: Mutex::default(),
        })
    }

    /// Waits until the connection is reset: the client is gone.
    pub async fn reset(&self) {
        // An error of the wait itself says the same.
        let _ = self.stream.ready(Interest::ERROR).await;
    }

    /// Waits until the connection is to be closed to make room for others.
    pub async fn close_requested(&self) {
        self.to_close.notified().await;
    }

    /// Waits for the end of what the client sends, after the body of a request. It may have closed the connection, or only its own
    /// side: [`Self::probe`] finds out.
    pub(super) async fn half_closed(&self) {
        match self.stream.peek(&mut [0]).await {
            Ok(0) | Err(_) => {}
            // The next request; its end is found when that one is read.
            Ok(_) => std::future::pending().await,
        }
    }

    /// Sends an interim response before the head of a response, so that a client that is gone is noticed by [`Self::reset`].
    pub(super) fn probe(&self) {
        if self.unflushed.load(Ordering::Relaxed) {
            return;
        }
        if self.stream.try_write(PROBE).is_ok_and(|written| written < PROBE.len()) {
            let _ = SockRef::from(&self.stream).shutdown(Shutdown::Both);
        }
    }

    /// What arrives, once the connection is a WebSocket.
    pub(super) fn input(&self) -> MutexGuard<'_, Option<SocketInput>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.active.store(now, Ordering::Relaxed);
    }

    fn idle_millis(&self) -> u128 {
        self.opened.elapsed().as_millis().saturating_sub(u128::from(self.active.load(Ordering::Relaxed)))
    }

    fn received(&self, bytes: usize) -> io::Result<()> {
        self.touch();
        self.input().as_mut().map_or(Ok(()), |input| input.received(bytes))
    }
}

/// The connections of a thread. The longest idle one is closed where there are too many, or no file handles left.
pub struct OpenConnections {
    connections: Vec<Weak<ClientConnection>>,
    /// More than these are closed while they are idle.
    most: usize,
}

impl OpenConnections {
    /// No connections yet.
    pub fn new(most: usize) -> Self {
        Self { connections: Vec::new(), most }
    }

    /// Adds a connection.
    pub fn add(&mut self, connection: &Arc<ClientConnection>) {
        if self.connections.len() >= self.most {
            self.connections.retain(|connection| connection.strong_count() > 0);
        }
        if self.connections.len() >= self.most {
            self.close_idlest();
        }
        self.connections.push(Arc::downgrade(connection));
    }

    /// Closes the connection that has been idle for longest. One with a request in flight is closed after its reply.
    pub fn close_idlest(&mut self) {
        let idle = |connection: &Weak<ClientConnection>| {
            let open = connection.upgrade().filter(|connection| connection.input().is_none());
            open.map(|connection| connection.idle_millis())
        };
        let idle_times = self.connections.iter().enumerate();
        let idlest = idle_times.filter_map(|(index, connection)| Some((idle(connection)?, index))).max();
        let idlest = idlest.and_then(|(_, index)| self.connections.swap_remove(index).upgrade());
        if let Some(connection) = idlest {
            connection.to_close.notify_one();
        }
    }
}

/// The connection as hyper reads and writes it.
pub struct ClientStream(pub Arc<ClientConnection>);

impl AsyncRead for ClientStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let connection = &self.0;
        loop {
            ready!(connection.stream.poll_read_ready(cx))?;
            match connection.stream.try_read_buf(buffer) {
                Ok(bytes) => return Poll::Ready(connection.received(bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl ClientStream {
    fn poll_try_write(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let connection = &self.0;
        connection.unflushed.store(true, Ordering::Relaxed);
        loop {
            ready!(connection.stream.poll_write_ready(cx))?;
            match write(&connection.stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    connection.touch();
                    return Poll::Ready(written);
                }
            }
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_try_write(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_try_write(cx, |stream| stream.try_write_vectored(pieces))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.unflushed.store(false, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&self.0.stream).shutdown(Shutdown::Write))
    }
}
