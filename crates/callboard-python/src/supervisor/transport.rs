//! Frames over a Unix socket: a length of four bytes, little endian, then the body. Descriptors may be attached.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use serde::Serialize;
use tokio::io::Interest;
use tokio::net::UnixStream;

const LENGTH_BYTES: usize = 4;
const READ_AT_ONCE: usize = 16 << 10;
const MAX_DESCRIPTORS: usize = 4;

/// A new channel: both directions of our end, and the child's end.
pub(crate) fn channel(largest_frame: usize) -> io::Result<(FrameSender, FrameReceiver, OwnedFd)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let stream = Rc::new(UnixStream::from_std(ours)?);
    let receiver = FrameReceiver { stream: Rc::clone(&stream), buffer: Vec::new(), largest_frame };
    Ok((FrameSender { stream }, receiver, theirs.into()))
}

/// A message as JSON, in a frame.
pub(crate) fn json_frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - LENGTH_BYTES).map_err(|_| invalid("the frame is too large"))?;
    if let Some(head) = bytes.first_chunk_mut() {
        *head = length.to_le_bytes();
    }
    Ok(bytes)
}

/// The direction to the child. Frames must not be sent concurrently.
#[derive(Clone)]
pub(crate) struct FrameSender {
    stream: Rc<UnixStream>,
}

impl FrameSender {
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

    /// Closes both directions of the channel, also for other handles to it.
    pub(crate) fn close(&self) {
        let _ = rustix::net::shutdown(self.stream.as_fd(), rustix::net::Shutdown::Both);
    }

    /// Sends a small frame with descriptors attached.
    pub(crate) async fn send_with_descriptors(&self, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let send = || send_message(&self.stream, frame, descriptors);
        let written = self.stream.async_io(Interest::WRITABLE, send).await?;
        if written == frame.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

fn send_message(stream: &UnixStream, frame: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(invalid("too many descriptors"));
    }
    Ok(rustix::net::sendmsg(stream.as_fd(), &[IoSlice::new(frame)], &mut control, SendFlags::NOSIGNAL)?)
}

/// The direction from the child.
pub(crate) struct FrameReceiver {
    stream: Rc<UnixStream>,
    buffer: Vec<u8>,
    largest_frame: usize,
}

impl FrameReceiver {
    /// The body of the next frame, or `None` when the channel is closed. Cancel safe.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(body) = self.take_frame()? {
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

    /// The body of the next frame, if all of it has arrived.
    pub(crate) fn try_next(&mut self) -> Option<Vec<u8>> {
        while matches!(self.fill(), Ok(1..)) {}
        self.take_frame().ok().flatten()
    }

    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.reserve(READ_AT_ONCE);
        let Self { stream, buffer, .. } = self;
        stream.try_io(Interest::READABLE, || {
            Ok(rustix::net::recv(stream.as_fd(), spare_capacity(buffer), RecvFlags::empty())?.0)
        })
    }

    fn take_frame(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((head, rest)) = self.buffer.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*head) as usize;
        if length > self.largest_frame {
            return Err(invalid("the frame is larger than expected"));
        }
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let body = body.to_vec();
        self.buffer.drain(..LENGTH_BYTES + length);
        self.buffer.shrink_to(READ_AT_ONCE);
        Ok(Some(body))
    }
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
