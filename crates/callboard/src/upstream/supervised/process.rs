//! A running server with its guardian, as Callboard holds them. Dropping this ends both: the guardian does it by itself.
//!
//! The guardian's standard input is a socket: it reports what happens to the server, and ends it once our end is closed.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use callboard_python::{describe_exit, open_child};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::guardian::{GRACE, Report};
use super::launch::Launch;
use super::output::{OutputPipe, ServerOutput};
use super::status::RunningProcess;
use crate::clock;

/// How long the rest of the output is waited for, once the server has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(1);
/// How much longer than the grace period a guardian may take.
const GUARDIAN_TIME: Duration = Duration::from_secs(5);

pub(super) struct GuardedProcess {
    guardian: Child,
    reports: Lines<BufReader<OwnedReadHalf>>,
    /// The guardian ends the server once this is closed.
    lifeline: Option<OwnedWriteHalf>,
    stdout: OutputPipe,
    stderr: OutputPipe,
    server: Server,
    url: String,
}

/// The server itself.
struct Server {
    pid: u32,
    /// None where it ended before it could be opened.
    handle: Option<(Pid, OwnedFd)>,
}

impl GuardedProcess {
    /// Starts a server at a free port.
    pub(super) async fn start(launch: &Launch) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let ((stdout, stdout_end), (stderr, stderr_end)) = (OutputPipe::new()?, OutputPipe::new()?);
        let (mut command, url) = launch.guarded_command()?;
        let mut guardian = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(stdout_end))
            .stderr(Stdio::from(stderr_end))
            // Signals of a terminal are for Callboard, which ends the server after its last request.
            .process_group(0)
            .spawn()?;
        // The command has the guardian's ends of the pipes.
        drop(command);
        ours.set_nonblocking(true)?;
        let (reader, lifeline) = UnixStream::from_std(ours)?.into_split();
        let mut reports = BufReader::new(reader).lines();
        let pid = reported_pid(&mut reports).await.inspect_err(|_| reap(&mut guardian))?;
        let server = Server { pid, handle: open_child(pid, guardian.id()).ok() };
        Ok(Self { guardian, reports, lifeline: Some(lifeline), stdout, stderr, server, url })
    }

    /// What is known of it.
    pub(super) fn running(&self) -> RunningProcess {
        let (pid, url) = (self.server.pid, self.url.clone());
        RunningProcess { pid, url, since: Instant::now(), started_at: clock::seconds() }
    }

    /// Forwards output until the server has ended; says how it ended.
    pub(super) async fn run(&mut self, output: &mut ServerOutput<'_>) -> String {
        let report = loop {
            tokio::select! {
                report = self.reports.next_line() => break report,
                () = self.stdout.readable() => self.stdout.read(output),
                () = self.stderr.readable() => self.stderr.read(output),
            }
        };
        for pipe in [&mut self.stdout, &mut self.stderr] {
            let _ = timeout(LAST_OUTPUT, pipe.read_to_end(output)).await;
            pipe.flush(output);
        }
        reap(&mut self.guardian);
        match report.ok().flatten().as_deref().and_then(Report::read) {
            Some(Report::Ended(status)) => describe_exit(status),
            _ => {
                self.server.kill();
                "was killed, because its guardian was".to_owned()
            }
        }
    }

    /// Ends the server and waits for its end.
    pub(super) async fn end(mut self, output: &mut ServerOutput<'_>) {
        self.lifeline = None;
        if timeout(GRACE + GUARDIAN_TIME, self.run(output)).await.is_err() {
            self.server.kill();
        }
    }
}

/// Waits for the end of a guardian that has reported it, and has nothing left to do.
fn reap(guardian: &mut Child) {
    let ended = guardian.kill().and_then(|()| guardian.wait());
    if let Err(error) = ended {
        tracing::debug!(%error, "cannot wait for the guardian of a model server");
    }
}

/// The process id of the server that the guardian has started.
async fn reported_pid(reports: &mut Lines<BufReader<OwnedReadHalf>>) -> io::Result<u32> {
    let report = reports.next_line().await?;
    match report.as_deref().and_then(Report::read) {
        Some(Report::Started(pid)) => Ok(pid),
        Some(Report::Failed(reason)) => Err(io::Error::other(reason)),
        Some(Report::Ended(_)) | None => Err(io::Error::other("its guardian ended at once")),
    }
}

impl Server {
    /// Kills its process group, while it is certain that it is still this one.
    fn kill(&self) {
        let Some((pid, handle)) = &self.handle else { return };
        let mut watched = [PollFd::new(handle, PollFlags::IN)];
        let has_ended = poll(&mut watched, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
        if !has_ended {
            let _ = kill_process_group(*pid, Signal::KILL);
        }
    }
}
