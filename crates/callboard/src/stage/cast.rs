//! All characters of a folder: who is on stage, and which files could not be loaded and why.
//!
//! The folder is the configuration. A file that fails to load leaves its last good version on stage, and no other file is
//! touched by it. Python is started when there is a file to load, not before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use callboard_core::wire::ApiError;
use callboard_python::{HostSettings, LoadError, Problem, ProblemKind, PythonHost, StartError};
use futures_util::future::join_all;

use super::Role;
use crate::telemetry::stage as counters;

/// What tells two versions of a file apart: the time of its last change, and its size.
type Version = (SystemTime, u64);

/// What is wrong with one file.
#[derive(Debug, Clone)]
pub struct FileProblem {
    /// The file's character id.
    pub id: String,
    /// What is wrong, where, and what to write instead.
    pub problems: Vec<Problem>,
    /// True when an earlier version of the file is still on stage.
    pub earlier_on_stage: bool,
}

/// The characters of one folder.
pub struct Cast {
    folder: PathBuf,
    settings: HostSettings,
    company: tokio::sync::Mutex<Option<PythonHost>>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    roles: BTreeMap<String, Arc<Role>>,
    problems: BTreeMap<String, FileProblem>,
    versions: BTreeMap<String, Version>,
}

impl Cast {
    /// The cast of a folder, nobody loaded yet.
    pub fn new(folder: PathBuf, settings: HostSettings) -> Self {
        Self { folder, settings, company: tokio::sync::Mutex::default(), known: Mutex::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The character of this id.
    pub fn role(&self, id: &str) -> Option<Arc<Role>> {
        self.known().roles.get(id).cloned()
    }

    /// The character of this id, for whoever asks for it to play; none for the name of a plain model.
    pub fn playing(&self, id: &str) -> Result<Option<Arc<Role>>, ApiError> {
        let known = self.known();
        match known.roles.get(id) {
            None if known.problems.contains_key(id) => Err(ApiError::character_not_loaded(id)),
            role => Ok(role.cloned()),
        }
    }

    /// All characters, by id.
    pub fn roles(&self) -> Vec<Arc<Role>> {
        self.known().roles.values().cloned().collect()
    }

    /// All files that could not be loaded.
    pub fn problems(&self) -> Vec<FileProblem> {
        self.known().problems.values().cloned().collect()
    }

    /// Loads what is new or changed, and takes off stage what is gone. With `all`, every file is loaded again.
    pub async fn load(&self, all: bool) -> Result<(), StartError> {
        let begun = Instant::now();
        let files = character_files(&self.folder);
        let changed: Vec<(String, PathBuf, Version)> =
            files.iter().filter(|file| all || self.is_changed(file)).cloned().collect();
        self.forget_missing(&files);
        if !changed.is_empty() {
            let company = self.company().await?;
            let loads = changed.into_iter().map(|(id, path, version)| self.load_file(&company, id, path, version));
            join_all(loads).await;
        }
        self.refuse_duplicate_names();
        counters::folder_loaded(self.known().roles.len(), begun.elapsed());
        Ok(())
    }

    async fn company(&self) -> Result<PythonHost, StartError> {
        let mut kept = self.company.lock().await;
        if let Some(company) = kept.as_ref() {
            return Ok(company.clone());
        }
        let company = PythonHost::start(self.settings.clone())?;
        *kept = Some(company.clone());
        Ok(company)
    }

    async fn load_file(&self, company: &PythonHost, id: String, path: PathBuf, version: Version) {
        let loaded = company.load(&path, &id).await;
        let mut known = self.known();
        known.versions.insert(id.clone(), version);
        match loaded {
            Ok(character) => {
                let manifest = character.manifest();
                let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
                tracing::info!("Character {} loaded with {}", manifest.name, told(&names));
                counters::character_loaded(&manifest.name, names.len());
                known.problems.remove(&id);
                known.roles.insert(id, Arc::new(Role::new(character)));
            }
            Err(failure) => {
                let earlier_on_stage = known.roles.contains_key(&id);
                let problems = problems_of(&path, failure);
                report(&id, &problems, earlier_on_stage);
                known.problems.insert(id.clone(), FileProblem { id, problems, earlier_on_stage });
            }
        }
    }

    /// Loads one character by its id, for those who need no other.
    pub async fn load_one(&self, id: &str) -> anyhow::Result<Arc<Role>> {
        let files = character_files(&self.folder);
        let Some((id, path, version)) = files.iter().find(|(known, ..)| known == id).cloned() else {
            let known: Vec<&str> = files.iter().map(|(id, ..)| id.as_str()).collect();
            anyhow::bail!("there is no character {id:?} in {}; there are: {}", self.folder.display(), known.join(", "));
        };
        let company = self.company().await?;
        self.load_file(&company, id.clone(), path, version).await;
        if let Some(role) = self.role(&id) {
            return Ok(role);
        }
        let problems: Vec<String> =
            self.problems().iter().flat_map(|file| file.problems.iter().map(ToString::to_string)).collect();
        anyhow::bail!("{}", problems.join("\n"))
    }

    fn is_changed(&self, (id, _, version): &(String, PathBuf, Version)) -> bool {
        self.known().versions.get(id) != Some(version)
    }

    fn forget_missing(&self, files: &[(String, PathBuf, Version)]) {
        let mut known = self.known();
        let here = |id: &String| files.iter().any(|(known, ..)| known == id);
        known.roles.retain(|id, _| here(id));
        known.problems.retain(|id, _| here(id));
        known.versions.retain(|id, _| here(id));
    }

    /// Two files with one name: the first in order stays.
    fn refuse_duplicate_names(&self) {
        let mut known = self.known();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let roles: Vec<(String, String)> =
            known.roles.iter().map(|(id, role)| (id.clone(), role.character.manifest().name.clone())).collect();
        for (id, name) in roles {
            let Some(first) = names.get(&name).cloned() else {
                names.insert(name, id);
                continue;
            };
            let problem = Problem {
                file: self.folder.join(format!("{id}.py")),
                line: None,
                what: format!("CHARACTER_NAME {name:?} is taken by {first}.py"),
                remedy: "give each character a name of its own".to_owned(),
                kind: ProblemKind::DuplicateName,
            };
            report(&id, std::slice::from_ref(&problem), false);
            known.roles.remove(&id);
            known.problems.insert(id.clone(), FileProblem { id, problems: vec![problem], earlier_on_stage: false });
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many tools there are, and which.
fn told(names: &[&str]) -> String {
    match names {
        [] => "0 tools".to_owned(),
        names => format!("{} tools: {}", names.len(), names.join(", ")),
    }
}

/// A file that could not even be tried has one problem: that.
fn problems_of(path: &Path, failure: LoadError) -> Vec<Problem> {
    match failure {
        LoadError::Invalid(problems) => problems,
        LoadError::Host(failure) => vec![Problem {
            file: path.to_owned(),
            line: None,
            what: failure.to_string(),
            remedy: "load it again; the log has more".to_owned(),
            kind: ProblemKind::Crash,
        }],
    }
}

fn report(id: &str, problems: &[Problem], earlier_on_stage: bool) {
    for problem in problems {
        counters::load_problem(problem.kind.label());
        tracing::error!("Character {id} tool validation failed: {problem}");
    }
    if earlier_on_stage {
        tracing::warn!("Character {id}: the last good version stays on stage");
    }
}

/// The files of a folder that are characters: `*.py` whose names do not begin with `_`, with the time of their last change.
pub(crate) fn character_files(folder: &Path) -> Vec<(String, PathBuf, Version)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let id = path.file_name()?.to_str()?.strip_suffix(".py")?.to_owned();
            let data = entry.metadata().ok();
            let changed = data.as_ref().and_then(|data| data.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
            let version = (changed, data.map_or(0, |data| data.len()));
            (!id.starts_with(['_', '.']) && !id.is_empty()).then_some((id, path, version))
        })
        .collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn tools_are_told_by_number_and_name() {
        for (names, words) in [(&[][..], "0 tools"), (&["roll"], "1 tools: roll"), (&["a", "b"], "2 tools: a, b")] {
            assert_eq!(told(names), words);
        }
    }
}
