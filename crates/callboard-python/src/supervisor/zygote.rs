//! A zygote: the process that has imported one version of a character file, and forks its workers.
//!
//! A file that exits, loops, floods or crashes at import ends only its own zygote, and this is reported like any other
//! problem of the file.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::time::timeout;

use super::channel_process::Child;
use super::exit_reports::ExitReport;
use super::fork_server::ForkServer;
use super::protocol::{HostEvent, LoadFile};
use super::rest::RootUser;
use super::shared_by_pools::ProcessTree;
use super::transport::json_frame;
use super::worker_pool::{MAX_START_RETRIES, START_BACKOFF};
use crate::error::HostError;
use crate::manifest::Manifest;
use crate::problem::{LoadError, Problem, ProblemKind};

/// How long an import that timed out has to write a traceback.
const ABORT_TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Debug, Clone)]
pub(crate) struct CharacterFile {
    pub(crate) id: String,
    pub(crate) path: String,
    /// The text of the file and of the modules that it imports from its folder, as its zygote has sent it. One that is
    /// lost or at rest is replaced by an identical one.
    pub(crate) source: Option<Box<RawValue>>,
}

/// A zygote that is ready to fork workers.
pub(crate) struct Zygote {
    pub(crate) server: ForkServer,
    pub(crate) manifest: Box<Manifest>,
    pub(crate) source: Box<RawValue>,
    pub(crate) root_user: RootUser,
}

/// Forks a zygote and has it load the file.
pub(crate) async fn load(tree: &Rc<ProcessTree>, file: &CharacterFile) -> Result<Zygote, LoadError> {
    let _permit = tree.imports.acquire().await.map_err(|_| HostError::Closed)?;
    let root_user = tree.root_use.register();
    let mut child = fork(tree, file).await?;
    let exit_report = tree.exit_reports.subscribe(child.process.pid());
    let limit = tree.settings.limits.import;
    let message = LoadFile { id: &file.id, path: &file.path, source: file.source.as_deref() };
    let frame = json_frame(&message).map_err(|error| HostError::Protocol(error.to_string()))?;
    let event = match child.pipes.exchange(&[&frame], limit).await {
        Ok(Ok(Some(body))) => serde_json::from_slice(&body),
        Ok(Ok(None) | Err(_)) => return Err(crashed(&child, exit_report, file).await),
        Err(_) => return Err(timed_out(&child, file, limit).await),
    };
    child.pipes.output.flush();
    match event.map_err(|error| HostError::Protocol(format!("a zygote's report: {error}")))? {
        HostEvent::Loaded { mut manifest, source } => {
            manifest.id.clone_from(&file.id);
            manifest.file = file.path.clone().into();
            let server = ForkServer::start(child, Rc::clone(&tree.exit_reports));
            Ok(Zygote { server, manifest, source, root_user })
        }
        HostEvent::Invalid { mut problems } => {
            problems.iter_mut().for_each(|problem| problem.file = file.path.clone().into());
            Err(LoadError::Invalid(problems))
        }
        _ => Err(HostError::Protocol("a zygote sent an unexpected report".to_owned()).into()),
    }
}

/// The root process may just have been lost, and be replaced by the next attempt.
async fn fork(tree: &ProcessTree, file: &CharacterFile) -> Result<Child, HostError> {
    let mut retries = 0;
    loop {
        let root = tree.root().await.map_err(|error| HostError::NotStarted(error.to_string()));
        let forked = match root {
            Ok(root) => tree.fork(&root, &file.id, None).await,
            Err(error) => Err(error),
        };
        match forked {
            Err(HostError::NotStarted(_)) if retries < MAX_START_RETRIES => {
                retries += 1;
                tokio::time::sleep(START_BACKOFF * retries).await;
            }
            result => return result,
        }
    }
}

async fn crashed(child: &Child, mut exit_report: ExitReport, file: &CharacterFile) -> LoadError {
    child.process.kill();
    let how = exit_report.describe().await;
    child.pipes.output.flush();
    let tail = child.pipes.output.stderr_tail();
    let line = line_in_traceback(&tail, &file.path);
    let wrote = if tail.is_empty() { String::new() } else { format!("; it wrote: {tail}") };
    let what = format!("the interpreter {how} while it imported the file{wrote}");
    let remedy = "find what ends it: os._exit, a signal, or an extension module that crashes";
    invalid(file, ProblemKind::Crash, line, what, remedy)
}

async fn timed_out(child: &Child, file: &CharacterFile, limit: Duration) -> LoadError {
    let output = &child.pipes.output;
    output.flush();
    output.mute();
    output.reset();
    child.process.abort();
    let _ = timeout(ABORT_TIMEOUT, child.process.ended()).await;
    child.process.kill();
    output.flush();
    let line = line_in_traceback(&output.stderr_tail(), &file.path);
    let what = format!("importing the file took longer than {} ms", limit.as_millis());
    invalid(file, ProblemKind::Timeout, line, what, "move what takes long out of the import, into a tool")
}

fn invalid(file: &CharacterFile, kind: ProblemKind, line: Option<u32>, what: String, remedy: &str) -> LoadError {
    Problem { file: file.path.clone().into(), line, what, remedy: remedy.to_owned(), kind }.into()
}

/// The innermost line of a file in a traceback of Python's fault handler: `  File "path", line 3 in name`.
fn line_in_traceback(text: &str, path: &str) -> Option<u32> {
    let mark = format!("File \"{}\", line ", Path::new(path).display());
    let (_, rest) = text.split_once(&mark)?;
    rest.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_tracebacks() {
        let text = "Fatal Python error: Aborted\n  File \"/a/lib.py\", line 9 in f\n  File \"/a/loop.py\", line 12 in g\n  \
                    File \"/a/loop.py\", line 30 in <module>";
        assert_eq!(line_in_traceback(text, "/a/loop.py"), Some(12));
        assert_eq!(line_in_traceback(text, "/a/other.py"), None);
    }
}
