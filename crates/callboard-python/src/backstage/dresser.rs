//! A dresser: the process that has imported one version of a file, and forks its workers.
//!
//! A file that exits, loops, floods or crashes at import ends its own dresser and nothing else; what became of it is
//! reported like any other problem of the file.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::member::Role;
use super::member::{MOST_MISSES, PAUSE};
use super::obituaries::Obituary;
use super::process::Process;
use super::protocol::{Dress, Event, FoundProblem};
use super::relay::Relay;
use super::stage::{Lines, Stage};
use super::transport::{Receiver, Sender, frame};
use crate::fault::StageFailure;
use crate::manifest::Manifest;
use crate::problem::{LoadFailure, Problem, ProblemKind};

/// How long a fork and a hello may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a file that took too long is given to say where it is.
const LAST_WORDS: Duration = Duration::from_millis(200);

pub(crate) struct Dresser {
    process: Process,
    obituary: Obituary,
    sender: Sender,
    receiver: Receiver,
    relay: Relay,
    stage: Rc<Stage>,
}

/// A dresser that is ready, and what it found.
pub(crate) struct Dressed {
    pub(crate) dresser: Dresser,
    pub(crate) manifest: Box<Manifest>,
    pub(crate) source: String,
}

/// Forks a dresser and has it load the file.
pub(crate) async fn dress(stage: &Rc<Stage>, role: &Role) -> Result<Dressed, LoadFailure> {
    let closed = |_| StageFailure::Closed;
    let _turn = stage.imports.acquire().await.map_err(closed)?;
    let mut dresser = forked(stage, role).await?;
    let limit = stage.settings.limits.import;
    let order = Dress { id: &role.id, path: &role.path, source: role.source.as_deref() };
    let loading = async {
        let order = frame(|bytes| serde_json::to_writer(bytes, &order))?;
        dresser.sender.send(&order).await?;
        dresser.receiver.next().await
    };
    let report = tokio::select! {
        biased;
        report = timeout(limit, loading) => report,
        () = dresser.relay.run() => return Err(StageFailure::Closed.into()),
    };
    match report {
        Ok(Ok(Some(body))) => dresser.read_report(&body, role),
        Ok(Ok(None) | Err(_)) => Err(dresser.crashed(role).await),
        Err(_) => Err(dresser.timed_out(role, limit).await),
    }
}

/// A new process for the file. The root may just have been lost, and be replaced by the time it is asked again.
async fn forked(stage: &Rc<Stage>, role: &Role) -> Result<Dresser, StageFailure> {
    let mut misses = 0;
    loop {
        match try_to_fork(stage, role).await {
            Err(StageFailure::NotStarted(_)) if misses < MOST_MISSES => {
                misses += 1;
                tokio::time::sleep(PAUSE * misses).await;
            }
            result => return result,
        }
    }
}

async fn try_to_fork(stage: &Rc<Stage>, role: &Role) -> Result<Dresser, StageFailure> {
    let root = stage.root().await.map_err(|error| StageFailure::NotStarted(error.to_string()))?;
    let lines = stage.fork(&root, &role.id, None).await?;
    Dresser::meet(stage, lines).await
}

impl Dresser {
    async fn meet(stage: &Rc<Stage>, mut lines: Lines) -> Result<Self, StageFailure> {
        let process = meet(&mut lines).await?;
        let obituary = stage.obituaries.expect(process.pid());
        let Lines { sender, receiver, relay } = lines;
        Ok(Self { process, obituary, sender, receiver, relay, stage: Rc::clone(stage) })
    }

    /// The way to it.
    pub(crate) fn sender(&self) -> Sender {
        self.sender.clone()
    }

    /// Notes what it says, until it ends or is told to leave.
    pub(crate) async fn serve(mut self, mut told_to_leave: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                frame = self.receiver.next() => match frame {
                    Ok(Some(body)) => self.note(&body),
                    _ => break,
                },
                _ = &mut told_to_leave => break,
                () = self.process.ended() => break,
                () = self.relay.run() => {}
            }
        }
    }

    fn note(&self, body: &[u8]) {
        match serde_json::from_slice(body) {
            Ok(Event::Exited { pid, status }) => self.stage.obituaries.note(pid, status),
            Ok(Event::NotForked { number, why }) => tracing::error!(number, why, "no worker could be forked"),
            _ => tracing::error!("a dresser said something unexpected"),
        }
    }

    fn read_report(self, body: &[u8], role: &Role) -> Result<Dressed, LoadFailure> {
        self.relay.close_account();
        match serde_json::from_slice(body) {
            Ok(Event::Loaded { mut manifest, source }) => {
                manifest.id.clone_from(&role.id);
                manifest.file = role.path.clone().into();
                Ok(Dressed { dresser: self, manifest, source })
            }
            Ok(Event::Refused { problems }) => {
                Err(LoadFailure::Refused(problems.into_iter().map(|problem| place(problem, role)).collect()))
            }
            Ok(_) => Err(StageFailure::Protocol("a dresser reports something else".to_owned()).into()),
            Err(error) => Err(StageFailure::Protocol(format!("a dresser's report: {error}")).into()),
        }
    }

    async fn crashed(&self, role: &Role) -> LoadFailure {
        self.process.kill();
        let how = self.obituary.words().await;
        self.relay.close_account();
        let tail = self.relay.tail();
        let line = line_in_traceback(&tail, &role.path);
        let said = if tail.is_empty() { String::new() } else { format!("; it wrote: {tail}") };
        let what = format!("the interpreter {how} while it imported the file{said}");
        let remedy = "find what ends it: os._exit, a signal, or an extension module that crashes";
        refused(role, ProblemKind::Crash, line, what, remedy)
    }

    async fn timed_out(&self, role: &Role, limit: Duration) -> LoadFailure {
        self.relay.close_account();
        self.relay.mute();
        self.relay.open_account();
        self.process.abort();
        let _ = timeout(LAST_WORDS, self.process.ended()).await;
        self.process.kill();
        self.relay.close_account();
        let line = line_in_traceback(&self.relay.tail(), &role.path);
        let what = format!("importing the file took longer than {} ms", limit.as_millis());
        refused(role, ProblemKind::Timeout, line, what, "move what takes long out of the import, into a tool")
    }
}

/// Waits for the hello of a new process.
pub(crate) async fn meet(lines: &mut Lines) -> Result<Process, StageFailure> {
    let not_started = |why: &str| StageFailure::NotStarted(why.to_owned());
    let hello = tokio::select! {
        hello = timeout(PATIENCE, lines.receiver.next()) => hello,
        () = lines.relay.run() => return Err(StageFailure::Closed),
    };
    let body = match hello {
        Ok(Ok(Some(body))) => body,
        Ok(_) => return Err(not_started("it ended before it said hello")),
        Err(_) => return Err(not_started("it did not say hello")),
    };
    match serde_json::from_slice(&body) {
        Ok(Event::Hello { pid, .. }) => Process::adopt(pid).map_err(|error| not_started(&error.to_string())),
        _ => Err(StageFailure::Protocol("a process did not begin with hello".to_owned())),
    }
}

fn place(found: FoundProblem, role: &Role) -> Problem {
    let FoundProblem { kind, line, what, remedy } = found;
    Problem { file: role.path.clone().into(), line, what, remedy, kind }
}

fn refused(role: &Role, kind: ProblemKind, line: Option<u32>, what: String, remedy: &str) -> LoadFailure {
    place(FoundProblem { kind, line, what, remedy: remedy.to_owned() }, role).into()
}

impl From<Problem> for LoadFailure {
    fn from(problem: Problem) -> Self {
        Self::Refused(vec![problem])
    }
}

/// The innermost line of a file in what Python's fault handler wrote: `  File "path", line 3 in name`.
fn line_in_traceback(text: &str, path: &str) -> Option<u32> {
    let mark = format!("File \"{}\", line ", Path::new(path).display());
    let (_, rest) = text.split_once(&mark)?;
    rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fault_handlers_lines_are_found() {
        let text = "Fatal Python error: Aborted\n  File \"/a/lib.py\", line 9 in f\n  File \"/a/loop.py\", line 12 in g\n  \
                    File \"/a/loop.py\", line 30 in <module>";
        assert_eq!(line_in_traceback(text, "/a/loop.py"), Some(12));
        assert_eq!(line_in_traceback(text, "/a/other.py"), None);
    }
}
