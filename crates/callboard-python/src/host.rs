//! The handle through which character files are loaded.

use std::path::Path;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::character::Character;
use crate::error::{HostError, StartError};
use crate::problem::{LoadError, Problem, ProblemKind};
use crate::sandbox::KernelSupport;
use crate::settings::HostSettings;
use crate::supervisor::{CharacterFile, LoadRequest, Request, start};

/// Runs characters. Handles are cheap to clone and work from any thread; processes end with the last handle.
#[derive(Debug, Clone)]
pub struct PythonHost {
    requests: mpsc::UnboundedSender<Request>,
    prompt_limit: Duration,
    kernel: KernelSupport,
}

impl PythonHost {
    /// Starts the interpreter. Blocks until it runs.
    pub fn start(settings: HostSettings) -> Result<Self, StartError> {
        let prompt_limit = settings.limits.prompt;
        let (requests, kernel) = start(settings)?;
        Ok(Self { requests, prompt_limit, kernel })
    }

    /// What the kernel offers for the sandbox.
    pub fn kernel(&self) -> KernelSupport {
        self.kernel
    }

    /// Loads a file as the character `id`. Characters loaded from an earlier version of the file are not affected.
    pub async fn load(&self, path: &Path, id: &str) -> Result<Character, LoadError> {
        let file = CharacterFile { id: id.to_owned(), path: absolute(path)?, source: None };
        let (reply, loaded) = oneshot::channel();
        self.requests.send(Request::Load(LoadRequest { file, reply })).map_err(|_| HostError::Closed)?;
        let loaded = loaded.await.map_err(|_| HostError::Closed)??;
        Ok(Character::new(self.requests.clone(), self.prompt_limit, loaded))
    }

    /// Kills every process, including those that are running a call.
    pub async fn shutdown(&self) {
        let (done, is_done) = oneshot::channel();
        if self.requests.send(Request::Shutdown(done)).is_ok() {
            // The sender is dropped once every process has been killed.
            let _ = is_done.await;
        }
    }
}

fn absolute(path: &Path) -> Result<String, Problem> {
    let found = std::path::absolute(path).ok().and_then(|path| path.into_os_string().into_string().ok());
    found.ok_or_else(|| Problem {
        file: path.to_owned(),
        line: None,
        what: "the path is not valid Unicode".to_owned(),
        remedy: "use a path of Unicode characters".to_owned(),
        kind: ProblemKind::ImportError,
    })
}
