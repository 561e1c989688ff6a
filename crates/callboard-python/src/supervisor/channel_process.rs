//! A process of the tree, with the channel to it and the output that it prints.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::ioctl_fionread;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::process_handle::Process;
use super::process_output::ProcessOutput;
use super::transport::{FrameReceiver, FrameSender, channel};
use crate::settings::HostSettings;

pub(crate) struct Child {
    pub(crate) process: Process,
    pub(crate) pipes: Pipes,
}

/// Our ends of a process's channel, standard output and standard error.
pub(crate) struct Pipes {
    pub(crate) sender: FrameSender,
    pub(crate) receiver: FrameReceiver,
    pub(crate) output: ProcessOutput,
    /// The process's end of the channel, kept for workers: it shows what the process has not read yet.
    pub(crate) unread: Option<OwnedFd>,
}

impl Pipes {
    /// Pipes for a new process that prints under `name`, and the process's ends: channel, stdout and stderr.
    pub(crate) fn new(name: &str, settings: &HostSettings, largest_frame: usize) -> io::Result<(Self, [OwnedFd; 3])> {
        let (sender, receiver, channel_end) = channel(largest_frame)?;
        let (output, [stdout, stderr]) = ProcessOutput::new(name, &settings.output, settings.limits.output)?;
        Ok((Self { sender, receiver, output, unread: None }, [channel_end, stdout, stderr]))
    }

    /// How many bytes the process has not read yet, where its end of the channel is kept.
    pub(crate) fn unread_bytes(&self) -> Option<u64> {
        self.unread.as_ref().and_then(|end| ioctl_fionread(end).ok())
    }

    /// The next frame, forwarding output meanwhile.
    pub(crate) async fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        tokio::select! {
            biased;
            frame = self.receiver.next() => frame,
            never = self.output.forward() => match never {},
        }
    }

    /// Sends frames and waits for one in return, forwarding output meanwhile.
    pub(crate) async fn exchange(
        &mut self,
        frames: &[&[u8]],
        limit: Duration,
    ) -> Result<io::Result<Option<Vec<u8>>>, Elapsed> {
        let Self { sender, receiver, output, .. } = self;
        let reply = async {
            for frame in frames {
                sender.send(frame).await?;
            }
            receiver.next().await
        };
        tokio::select! {
            biased;
            reply = timeout(limit, reply) => reply,
            never = output.forward() => match never {},
        }
    }
}
