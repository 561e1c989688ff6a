//! The characters of a folder: which are loaded, and which files failed to load and why.
//!
//! The folder is the configuration. A file that fails to load leaves its last good version in place and affects no other file. Python is
//! started when there is a file to load, not before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use callboard_core::contract::SchemaLimits;
use callboard_core::wire::ApiError;
use callboard_python::{Character, HostSettings, LoadError, Problem, ProblemKind, PythonHost, StartError};
use futures_util::future::join_all;

use super::LoadedCharacter;
use super::tool_problems::tool_problems;
use crate::config::nearest;
use crate::telemetry::character_metrics as counters;

/// What tells two versions of a file apart: the time of its last change, and its size.
type Version = (SystemTime, u64);

/// What is wrong with one file.
#[derive(Debug, Clone)]
pub struct FileProblem {
    /// The file's character id.
    pub id: String,
    /// What is wrong, where, and what to write instead.
    pub problems: Vec<Problem>,
    /// Whether an earlier version of the file is still loaded.
    pub earlier_loaded: bool,
}

/// The characters of one folder.
pub struct CharacterRegistry {
    folder: PathBuf,
    settings: HostSettings,
    limits: SchemaLimits,
    host: tokio::sync::Mutex<Option<PythonHost>>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    characters: BTreeMap<String, Arc<LoadedCharacter>>,
    problems: BTreeMap<String, FileProblem>,
    versions: BTreeMap<String, Version>,
}

impl CharacterRegistry {
    /// The registry of a folder, whose tools keep these limits; nothing is loaded yet.
    pub fn new(folder: PathBuf, settings: HostSettings, limits: SchemaLimits) -> Self {
        Self { folder, settings, limits, host: tokio::sync::Mutex::default(), known: Mutex::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The character of this id.
    pub fn get(&self, id: &str) -> Option<Arc<LoadedCharacter>> {
        self.known().characters.get(id).cloned()
    }

    /// The character that a request names as its model; none for a plain model. An error where its file failed to load.
    pub fn for_model(&self, id: &str) -> Result<Option<Arc<LoadedCharacter>>, ApiError> {
        let known = self.known();
        match known.characters.get(id) {
            None if known.problems.contains_key(id) => Err(ApiError::character_not_loaded(id)),
            character => Ok(character.cloned()),
        }
    }

    /// Whether no file is known, loaded or not.
    pub fn is_empty(&self) -> bool {
        let known = self.known();
        known.characters.is_empty() && known.problems.is_empty()
    }

    /// All characters, by id.
    pub fn all(&self) -> Vec<Arc<LoadedCharacter>> {
        self.known().characters.values().cloned().collect()
    }

    /// The ids of all characters.
    pub fn ids(&self) -> Vec<String> {
        self.known().characters.keys().cloned().collect()
    }

    /// Brings the number of characters at rest in the metrics up to date.
    pub fn count_at_rest(&self) {
        let known = self.known();
        counters::at_rest(known.characters.values().filter(|loaded| loaded.character.is_at_rest()).count());
    }

    /// All files that could not be loaded.
    pub fn problems(&self) -> Vec<FileProblem> {
        self.known().problems.values().cloned().collect()
    }

    /// Loads new and changed files and unloads deleted ones. With `all`, every file is loaded again.
    pub async fn load(&self, all: bool) -> Result<(), StartError> {
        let begun = Instant::now();
        let files = character_files(&self.folder);
        let changed: Vec<(String, PathBuf, Version)> =
            files.iter().filter(|file| all || self.is_changed(file)).cloned().collect();
        self.forget_missing(&files);
        if !changed.is_empty() {
            let host = self.python_host().await?;
            let loads = changed.into_iter().map(|(id, path, version)| self.load_file(&host, id, path, version));
            join_all(loads).await;
        }
        self.refuse_duplicate_names();
        counters::folder_loaded(self.known().characters.len(), begun.elapsed());
        Ok(())
    }

    /// What the sandbox enforces on this machine, where it is on.
    pub async fn describe_sandbox(&self) -> Result<Vec<String>, StartError> {
        if !self.settings.sandbox {
            return Ok(Vec::new());
        }
        Ok(self.python_host().await?.kernel().describe())
    }

    async fn python_host(&self) -> Result<PythonHost, StartError> {
        let mut kept = self.host.lock().await;
        if let Some(host) = kept.as_ref() {
            return Ok(host.clone());
        }
        let host = PythonHost::start(self.settings.clone())?;
        *kept = Some(host.clone());
        Ok(host)
    }

    async fn load_file(&self, host: &PythonHost, id: String, path: PathBuf, version: Version) {
        let loaded = host.load(&path, &id).await.and_then(|character| self.with_usable_tools(character));
        let mut known = self.known();
        known.versions.insert(id.clone(), version);
        match loaded {
            Ok(character) => {
                let manifest = character.manifest();
                let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
                tracing::info!("Character {} loaded with {}", manifest.name, tool_list(&names));
                counters::character_loaded(&manifest.name, names.len());
                known.problems.remove(&id);
                known.characters.insert(id, Arc::new(LoadedCharacter::new(character)));
            }
            Err(failure) => {
                let earlier_loaded = known.characters.contains_key(&id);
                let problems = problems_of(&path, failure);
                report(&id, &problems, earlier_loaded);
                known.problems.insert(id.clone(), FileProblem { id, problems, earlier_loaded });
            }
        }
    }

    /// Refuses a character with tools that no turn could offer.
    fn with_usable_tools(&self, character: Character) -> Result<Character, LoadError> {
        let problems = tool_problems(character.manifest(), self.limits);
        if problems.is_empty() { Ok(character) } else { Err(LoadError::Invalid(problems)) }
    }

    /// Loads one character by its id, and no other.
    pub async fn load_one(&self, id: &str) -> anyhow::Result<Arc<LoadedCharacter>> {
        let files = character_files(&self.folder);
        let Some((id, path, version)) = files.iter().find(|(known, ..)| known == id).cloned() else {
            anyhow::bail!(self.unknown_character(id, &files));
        };
        let host = self.python_host().await?;
        self.load_file(&host, id.clone(), path, version).await;
        if let Some(character) = self.get(&id) {
            return Ok(character);
        }
        let problems: Vec<String> =
            self.problems().iter().flat_map(|file| file.problems.iter().map(ToString::to_string)).collect();
        anyhow::bail!("{}", problems.join("\n"))
    }

    fn unknown_character(&self, id: &str, files: &[(String, PathBuf, Version)]) -> String {
        let known: Vec<&str> = files.iter().map(|(id, ..)| id.as_str()).collect();
        let folder = self.folder.display();
        match nearest(id, known.iter().copied()) {
            _ if known.is_empty() => {
                format!("there are no characters in {folder}; create one with: callboard new bard")
            }
            Some(meant) => format!("there is no character {id:?} in {folder}; did you mean {meant:?}?"),
            None => format!("there is no character {id:?} in {folder}; there are: {}", known.join(", ")),
        }
    }

    /// A file whose name was taken is tried again, as the other one may have gone.
    fn is_changed(&self, (id, _, version): &(String, PathBuf, Version)) -> bool {
        let known = self.known();
        let is_duplicate = |file: &FileProblem| file.problems.iter().any(|one| one.kind == ProblemKind::DuplicateName);
        known.versions.get(id) != Some(version) || known.problems.get(id).is_some_and(is_duplicate)
    }

    fn forget_missing(&self, files: &[(String, PathBuf, Version)]) {
        let mut known = self.known();
        let here = |id: &String| files.iter().any(|(known, ..)| known == id);
        for id in known.versions.keys().filter(|id| !here(id)) {
            tracing::info!("Character {id} unloaded: {id}.py was deleted");
        }
        known.characters.retain(|id, _| here(id));
        known.problems.retain(|id, _| here(id));
        known.versions.retain(|id, _| here(id));
    }

    /// Two files with one name: the first in order stays.
    fn refuse_duplicate_names(&self) {
        let mut known = self.known();
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let loaded: Vec<(String, String)> = known
            .characters
            .iter()
            .map(|(id, loaded)| (id.clone(), loaded.character.manifest().name.clone()))
            .collect();
        for (id, name) in loaded {
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
            known.characters.remove(&id);
            known.problems.insert(id.clone(), FileProblem { id, problems: vec![problem], earlier_loaded: false });
        }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many tools there are, and which.
fn tool_list(names: &[&str]) -> String {
    match names {
        [] => "0 tools".to_owned(),
        names => format!("{} tools: {}", names.len(), names.join(", ")),
    }
}

/// A file that could not be tried at all has that as its one problem.
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

fn report(id: &str, problems: &[Problem], earlier_loaded: bool) {
    for problem in problems {
        counters::load_problem(problem.kind.label());
        tracing::error!("Character {id} tool validation failed: {problem}");
    }
    if earlier_loaded {
        tracing::warn!("Character {id}: the last good version stays loaded");
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
    use super::tool_list;

    #[test]
    fn tools_are_listed_by_number_and_name() {
        for (names, words) in [(&[][..], "0 tools"), (&["roll"], "1 tools: roll"), (&["a", "b"], "2 tools: a, b")] {
            assert_eq!(tool_list(names), words);
        }
    }
}
