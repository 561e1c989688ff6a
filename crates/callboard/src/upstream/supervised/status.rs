//! What a supervised server does at the moment, in words for operators.

use std::fmt;
use std::time::Instant;

use super::exit::ServerExit;

/// So many starts in a row that ended before the server was ready make waiting for it pointless.
const HOPELESS: u32 = 3;

/// The state of one server.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// What it does.
    pub phase: Phase,
    /// How often it was started again.
    pub restarts: u64,
    /// How it ended last.
    pub last_exit: Option<ServerExit>,
    /// Starts in a row that ended before it was ready.
    pub(super) failed_starts: u32,
    /// When the process that runs now was ready first.
    pub(super) ready_since: Option<Instant>,
}

/// What a server does.
#[derive(Debug, Clone)]
pub enum Phase {
    /// It was not started yet; true where the first request for it starts it.
    Unstarted(bool),
    /// It runs, and has not answered yet.
    Starting(RunningProcess),
    /// It runs and has answered.
    Ready(RunningProcess),
    /// It runs, and a connection to it has failed: it is asked whether it still answers.
    Checking(RunningProcess),
    /// It has ended and is started again at this time.
    Restarting(Instant),
    /// It ended with Callboard.
    Stopped,
}

/// A server that runs.
#[derive(Debug, Clone)]
pub struct RunningProcess {
    /// Its process id.
    pub pid: u32,
    /// Its base URL.
    pub url: String,
    /// When it was started.
    pub since: Instant,
    /// The same in seconds since 1970.
    pub started_at: u64,
}

impl ServerStatus {
    pub(super) fn new(on_demand: bool) -> Self {
        let phase = Phase::Unstarted(on_demand);
        Self { phase, restarts: 0, last_exit: None, failed_starts: 0, ready_since: None }
    }

    /// The process, where it runs.
    pub fn process(&self) -> Option<&RunningProcess> {
        match &self.phase {
            Phase::Starting(process) | Phase::Ready(process) | Phase::Checking(process) => Some(process),
            Phase::Unstarted(_) | Phase::Restarting(_) | Phase::Stopped => None,
        }
    }

    /// The word for what it does.
    pub fn as_str(&self) -> &'static str {
        match self.phase {
            Phase::Unstarted(true) => "on_demand",
            Phase::Unstarted(false) | Phase::Starting(_) => "starting",
            Phase::Ready(_) => "ready",
            Phase::Checking(_) => "checking",
            Phase::Restarting(_) => "restarting",
            Phase::Stopped => "stopped",
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready(_))
    }

    /// Whether waiting longer is pointless: it is ready, or will not be soon.
    pub(super) fn is_settled(&self) -> bool {
        self.is_ready() || matches!(self.phase, Phase::Stopped) || self.is_hopeless()
    }

    fn is_hopeless(&self) -> bool {
        self.failed_starts >= HOPELESS
    }

    /// Why a request gets no answer. What the server has printed is for operators only.
    pub(super) fn reason(&self) -> String {
        match (&self.phase, &self.last_exit) {
            (Phase::Stopped, _) => "it ends together with Callboard".to_owned(),
            (Phase::Unstarted(true), _) => "it has not been started yet".to_owned(),
            (_, Some(exit)) if self.is_hopeless() => {
                let times = self.failed_starts;
                format!(
                    "it {}, {times} times in a row before it answered; /v1/upstreams and the log have its output",
                    exit.words
                )
            }
            (Phase::Checking(_), _) => "it runs, and does not answer".to_owned(),
            (Phase::Restarting(_), _) => "it has ended and is started again".to_owned(),
            _ => "it is still starting".to_owned(),
        }
    }
}

/// A sentence without its subject.
impl fmt::Display for ServerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.phase {
            Phase::Unstarted(true) => f.write_str("is started by the first request for it")?,
            Phase::Unstarted(false) => f.write_str("is starting")?,
            Phase::Starting(process) => write!(f, "is starting, for {} now (pid {})", ago(process.since), process.pid)?,
            Phase::Ready(process) => {
                write!(f, "runs at {} for {} (pid {})", process.url, ago(process.since), process.pid)?;
            }
            Phase::Checking(process) => write!(f, "runs, and is asked whether it still answers (pid {})", process.pid)?,
            Phase::Restarting(at) => {
                let wait = at.saturating_duration_since(Instant::now());
                write!(f, "has ended and is started again in {:.1} s", wait.as_secs_f64())?;
            }
            Phase::Stopped => f.write_str("ended with Callboard")?,
        }
        match self.restarts {
            0 => {}
            1 => f.write_str(", restarted once")?,
            times => write!(f, ", restarted {times} times")?,
        }
        match &self.last_exit {
            Some(exit) => write!(f, "; {} ago it {}", ago(exit.at), exit.with_last_line()),
            None => Ok(()),
        }
    }
}

/// The time since then, in the unit that fits.
fn ago(then: Instant) -> String {
    match then.elapsed().as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn process() -> RunningProcess {
        let url = "http://127.0.0.1:4000/v1".to_owned();
        RunningProcess { pid: 7, url, since: Instant::now(), started_at: 0 }
    }

    #[test]
    fn states_in_words() {
        let exit = ServerExit { output: vec!["no such file".to_owned(), String::new()], ..ServerExit::unstarted("x") };
        let now = Instant::now();
        for (phase, restarts, last_exit, words) in [
            (Phase::Unstarted(true), 0, None, "is started by the first request for it"),
            (Phase::Starting(process()), 0, None, "is starting, for 0 s now (pid 7)"),
            (Phase::Ready(process()), 1, None, "runs at http://127.0.0.1:4000/v1 for 0 s (pid 7), restarted once"),
            (
                Phase::Restarting(now),
                2,
                Some(exit),
                "has ended and is started again in 0.0 s, restarted 2 times; 0 s ago it could not be started: x: no such file",
            ),
        ] {
            let status = ServerStatus { phase, restarts, last_exit, ..ServerStatus::new(false) };
            assert_eq!(status.to_string(), words);
        }
    }

    #[test]
    fn a_server_that_never_gets_ready_is_not_waited_for() {
        let mut status = ServerStatus::new(false);
        status.last_exit = Some(ServerExit { words: "exited with status 1".to_owned(), ..ServerExit::unstarted("") });
        for (failed_starts, settled) in [(0, false), (2, false), (3, true)] {
            status.failed_starts = failed_starts;
            assert_eq!(status.is_settled(), settled, "{failed_starts}");
        }
        let reason = status.reason();
        assert!(reason.starts_with("it exited with status 1, 3 times in a row before it answered"), "{reason}");
        status.phase = Phase::Ready(process());
        assert!(status.is_settled() && status.is_ready());
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        let now = Instant::now() + Duration::ZERO;
        for (seconds, expected) in [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (172_800, "2 days")] {
            if let Some(then) = now.checked_sub(Duration::from_secs(seconds)) {
                assert_eq!(ago(then), expected);
            }
        }
    }
}
