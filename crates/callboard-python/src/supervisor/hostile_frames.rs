//! Frames from a process, read as the supervisor reads them: for the fuzz target `worker_protocol` only.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::os::unix::net::UnixStream as BlockingStream;

use tokio::net::UnixStream;
use tokio::runtime::Builder;
use tokio::task::yield_now;

use super::protocol::{HostEvent, WorkerReply};
use super::transport::{FrameReceiver, channel};

/// The limit of a frame: small, so that inputs pass it.
const LARGEST_FRAME: usize = 4 << 10;

/// What these bytes are read as: one line per frame, and one for the end of the channel. Each piece is received by itself.
pub fn read_worker_frames(pieces: &[&[u8]]) -> Vec<String> {
    let runtime = Builder::new_current_thread().enable_io().build();
    runtime.map(|runtime| runtime.block_on(receive(pieces))).unwrap_or_default()
}

async fn receive(pieces: &[&[u8]]) -> Vec<String> {
    let Ok((_sender, receiver, process_end)) = channel(LARGEST_FRAME) else { return Vec::new() };
    tokio::select! {
        biased;
        messages = read(receiver) => messages,
        never = write(process_end.into(), pieces) => match never {},
    }
}

async fn read(mut receiver: FrameReceiver) -> Vec<String> {
    let mut messages = Vec::new();
    loop {
        match receiver.next().await {
            Ok(Some(body)) => messages.push(message(&body)),
            Ok(None) => return messages,
            Err(error) => {
                messages.push(error.to_string());
                return messages;
            }
        }
    }
}

/// Writes the pieces and closes the channel.
async fn write(channel: BlockingStream, pieces: &[&[u8]]) -> Infallible {
    if channel.set_nonblocking(true).is_ok()
        && let Ok(channel) = UnixStream::from_std(channel)
    {
        for piece in pieces {
            let _ = write_piece(&channel, piece).await;
            yield_now().await;
        }
    }
    pending().await
}

async fn write_piece(channel: &UnixStream, piece: &[u8]) -> io::Result<()> {
    let mut rest = piece;
    while !rest.is_empty() {
        match channel.try_write(rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => channel.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A frame as a worker's reply, and as an event of a fork server.
fn message(body: &[u8]) -> String {
    let reply = serde_json::from_slice::<WorkerReply>(body).map_err(|error| error.to_string());
    let event = serde_json::from_slice::<HostEvent>(body).map(|_| "an event").map_err(|error| error.to_string());
    format!("{reply:?} {event:?}")
}
