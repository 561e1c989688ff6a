//! Frames over a stream socket: a length of four bytes, little endian, then that many bytes; descriptors may go along.
//!
//! Bytes only: what is in a frame is not looked at here.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use tokio::io::Interest;
use tokio::net::UnixStream;

const LENGTH_BYTES: usize = 4;
const READ_AT_ONCE: usize = 16 << 10;
const DESCRIPTORS_AT_MOST: usize = 4;

/// A new channel: both directions of our end, and the other end, for a child.
pub(crate) fn channel(largest_frame: usize) -> io::Result<(Sender, Receiver, OwnedFd)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let stream = Rc::new(UnixStream::from_std(ours)?);
    let piece = vec![0; READ_AT_ONCE].into_boxed_slice();
    let receiver = Receiver { stream: Rc::clone(&stream), buffer: Vec::new(), start: 0, piece, largest_frame };
    Ok((Sender { stream }, receiver, theirs.into()))
}

/// A frame around a body that `write` produces.
pub(crate) fn frame(write: impl FnOnce(&mut Vec<u8>) -> serde_json::Result<()>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; LENGTH_BYTES];
    write(&mut bytes)?;
    let length = u32::try_from(bytes.len() - LENGTH_BYTES).map_err(|_| invalid("a frame is too large"))?;
    if let Some(head) = bytes.first_chunk_mut() {
        *head = length.to_le_bytes();
    }
    Ok(bytes)
}

/// The direction to the child. Frames must be sent one after another.
#[derive(Clone)]
pub(crate) struct Sender {
    stream: Rc<UnixStream>,
}

impl Sender {
    /// Sends a frame.
    pub(crate) async fn send(&self, frame: &[u8]) -> io::Result<()> {
        let mut rest = frame;
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.stream.writable().await?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends a small frame with descriptors.
    pub(crate) async fn send_with(&self, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let send = || send_message(&self.stream, frame, descriptors);
        let written = self.stream.async_io(Interest::WRITABLE, send).await?;
        if written == frame.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

fn send_message(stream: &UnixStream, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_AT_MOST))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(invalid("too many descriptors"));
    }
    Ok(rustix::net::sendmsg(stream.as_fd(), &[IoSlice::new(frame)], &mut control, SendFlags::NOSIGNAL)?)
}

/// The direction from the child.
pub(crate) struct Receiver {
    stream: Rc<UnixStream>,
    buffer: Vec<u8>,
    start: usize,
    /// Where a read puts its bytes; kept, so that it need not be cleared for each.
    piece: Box<[u8]>,
    largest_frame: usize,
}

impl Receiver {
    /// The next frame's body, or nothing when the channel is closed. Nothing is lost when this is dropped.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(body) = self.take()? {
                return Ok(Some(body));
            }
            match self.fill() {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.stream.readable().await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// The next frame's body, if all of it has come already.
    pub(crate) fn next_now(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.take() {
                Ok(None) => {}
                Ok(body) => return body,
                Err(_) => return None,
            }
            if !matches!(self.fill(), Ok(1..)) {
                return None;
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let length = self.stream.try_read(&mut self.piece)?;
        self.buffer.extend_from_slice(self.piece.get(..length).unwrap_or_default());
        Ok(length)
    }

    fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        let waiting = self.buffer.get(self.start..).unwrap_or_default();
        let Some((head, rest)) = waiting.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*head) as usize;
        if length > self.largest_frame {
            return Err(invalid("a frame is larger than any that is expected"));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let body = body.to_vec();
        self.start += LENGTH_BYTES + length;
        if self.start == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(READ_AT_ONCE);
            self.start = 0;
        }
        Ok(Some(body))
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
