//! The process between Callboard and a model server: it ends the server, and all that the server has started, when Callboard is gone.
//!
//! It is Callboard's own program with another job. No unsafe call is needed for it, and it also finds processes that left the
//! server's process group, as orphans become its children.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream as StdStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{
    Pid, Signal as ProcessSignal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, wait,
};
use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

/// The first argument of the program when it is to be a guardian; the server's command follows.
pub const GUARDIAN: &str = "guard-model-server";

/// How long a server may take to end after SIGTERM; then it is killed.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// What the guardian writes to Callboard, one per line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The server runs, with this process id.
    Started(u32),
    /// It cannot be started.
    Failed(String),
    /// It has ended: with a status, or by a signal, given as a negative number.
    Ended(i32),
}

impl Report {
    pub(super) fn read(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        Some(match word {
            "started" => Self::Started(rest.parse().ok()?),
            "failed" => Self::Failed(rest.to_owned()),
            "ended" => Self::Ended(rest.parse().ok()?),
            _ => return None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => writeln!(f, "started {pid}"),
            Self::Failed(reason) => writeln!(f, "failed {}", reason.replace('\n', " ")),
            Self::Ended(status) => writeln!(f, "ended {status}"),
        }
    }
}

/// Runs a command until it ends, or until standard input is closed.
pub fn guard(command: &[OsString]) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let channel = StdStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut reports = channel.try_clone()?;
    runtime.block_on(async {
        // What ends all processes of a service must not end this one before the server.
        let _ignored = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        let mut exits = signal(SignalKind::child())?;
        set_child_subreaper(Some(getpid()))?;
        let server = match start(command) {
            Ok(server) => server,
            Err(error) => return reports.write_all(Report::Failed(error.to_string()).to_string().as_bytes()),
        };
        reports.write_all(Report::Started(server.as_raw_nonzero().get().unsigned_abs()).to_string().as_bytes())?;
        let status = tokio::select! {
            status = ended(server, &mut exits) => status,
            () = closed(channel) => terminate(server, &mut exits).await,
        };
        kill_descendants();
        reports.write_all(Report::Ended(status).to_string().as_bytes())
    })
}

fn start(command: &[OsString]) -> io::Result<Pid> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let server = Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn()?;
    i32::try_from(server.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Waits until Callboard has closed its end, or is gone.
async fn closed(channel: StdStream) {
    let listened = channel.set_nonblocking(true).and_then(|()| UnixStream::from_std(channel));
    let Ok(channel) = listened else { return };
    // Nothing is ever sent, so readable means closed.
    let _ = channel.readable().await;
}

/// Waits for the end of the server, reaping whatever else has ended: a status, or a signal as a negative number.
async fn ended(server: Pid, exits: &mut Signal) -> i32 {
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == server {
                return status.exit_status().or_else(|| status.terminating_signal().map(|signal| -signal)).unwrap_or(0);
            }
        }
        exits.recv().await;
    }
}

async fn terminate(server: Pid, exits: &mut Signal) -> i32 {
    let _ = kill_process_group(server, ProcessSignal::TERM);
    if let Ok(status) = timeout(GRACE, ended(server, exits)).await {
        return status;
    }
    let _ = kill_process_group(server, ProcessSignal::KILL);
    ended(server, exits).await
}

/// Kills what the server has left behind. Orphans of killed processes become children of this one, so it is repeated until none is left.
fn kill_descendants() {
    loop {
        let found = children_of(getpid());
        if found.is_empty() {
            return;
        }
        for pid in &found {
            kill_with_descendants(*pid);
        }
        for _ in &found {
            let _ = wait(WaitOptions::empty());
        }
    }
}

fn kill_with_descendants(pid: Pid) {
    let below = children_of(pid);
    let _ = kill_process(pid, ProcessSignal::KILL);
    below.into_iter().for_each(kill_with_descendants);
}

/// The children of a process; none where the kernel does not list them.
fn children_of(pid: Pid) -> Vec<Pid> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(pid_of).collect::<Vec<_>>()).collect()
}

fn pid_of(word: &str) -> Option<Pid> {
    word.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_are_written() {
        for report in [Report::Started(7), Report::Failed("no such file".to_owned()), Report::Ended(-9)] {
            assert_eq!(Report::read(report.to_string().trim_end()), Some(report));
        }
        assert_eq!(Report::read("nonsense"), None);
        assert_eq!(Report::Failed("a\nb".to_owned()).to_string(), "failed a b\n");
    }
}
