//! The company: the handle through which files are loaded.

use std::path::Path;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::backstage::{Backstage, Casting, Role, StartError};
use crate::character::Character;
use crate::fault::StageFailure;
use crate::problem::{LoadFailure, Problem, ProblemKind};
use crate::settings::CompanySettings;

/// Runs characters. Handles are cheap to clone and work from any thread; processes end with the last handle.
#[derive(Debug, Clone)]
pub struct Company {
    backstage: Backstage,
    prompt_limit: Duration,
}

impl Company {
    /// Starts the interpreter. Blocks for the moment that this takes.
    pub fn start(settings: CompanySettings) -> Result<Self, StartError> {
        let prompt_limit = settings.limits.prompt;
        Ok(Self { backstage: Backstage::start(settings)?, prompt_limit })
    }

    /// Loads a file as the character `id`. Loading it again gives another character and leaves this one as it is.
    pub async fn load(&self, path: &Path, id: &str) -> Result<Character, LoadFailure> {
        let role = Role { id: id.to_owned(), path: absolute(path)?, source: None };
        let (answer, told) = oneshot::channel();
        self.backstage.cast(Casting { role, answer })?;
        let (manifest, orders) = told.await.map_err(|_| StageFailure::Closed)??;
        Ok(Character::new(self.clone(), *manifest, orders, self.prompt_limit))
    }

    /// Ends every process at once, also those that are in the middle of a call.
    pub async fn shutdown(&self) {
        self.backstage.close().await;
    }
}

fn absolute(path: &Path) -> Result<String, Problem> {
    let found = std::path::absolute(path).ok().and_then(|path| path.into_os_string().into_string().ok());
    found.ok_or_else(|| Problem {
        file: path.to_owned(),
        line: None,
        what: "the path is not text".to_owned(),
        remedy: "use a path of Unicode characters".to_owned(),
        kind: ProblemKind::ImportError,
    })
}
