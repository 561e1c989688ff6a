//! A company under test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use callboard_python::{
    CallOrder, CallOutcome, Character, Company, CompanySettings, Limits, LoadFailure, OutputSink, Problem,
};

/// A company, and what its characters printed.
pub struct Theatre {
    pub company: Company,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Theatre {
    pub fn open() -> Self {
        Self::with(Limits::default())
    }

    pub fn with(limits: Limits) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&lines);
        let output = OutputSink::new(move |line| taken.lock().unwrap().push(line.to_string()));
        let company = Company::start(CompanySettings { interpreter: interpreter(), limits, output }).unwrap();
        Self { company, lines }
    }

    /// Loads a file of the characters' folder.
    pub async fn load(&self, name: &str) -> Character {
        self.try_load(&characters().join(name)).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub async fn try_load(&self, path: &Path) -> Result<Character, LoadFailure> {
        self.company.load(path, path.file_stem().unwrap().to_str().unwrap()).await
    }

    /// Loads a file with this text.
    pub async fn load_text(&self, text: &str) -> Character {
        let path = scratch().join("character.py");
        std::fs::write(&path, text).unwrap();
        self.try_load(&path).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// The one problem of a file.
    pub async fn problem(&self, name: &str) -> Problem {
        let failure = self.try_load(&characters().join(name)).await.expect_err(name);
        assert_eq!(failure.problems().len(), 1, "{failure}");
        failure.problems()[0].clone()
    }

    /// What was printed so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

fn interpreter() -> PathBuf {
    std::env::var_os("CALLBOARD_TEST_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

pub fn characters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/characters")
}

/// A new, empty folder.
pub fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Calls a tool without state.
pub async fn call(character: &Character, tool: &str, arguments: &str) -> CallOutcome {
    character.call(CallOrder { tool, arguments, state: None, conversation: "test" }).await
}
