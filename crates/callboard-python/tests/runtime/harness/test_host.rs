//! A Python host under test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use callboard_python::{
    CallOutcome, CallRequest, Character, HostSettings, Limits, LoadError, OutputSink, Problem, PythonHost,
};

use super::process_tree::{children, process_tree};

/// A Python host, and what its characters printed.
pub(crate) struct TestHost {
    pub(crate) python: PythonHost,
    root: u32,
    lines: Arc<Mutex<Vec<String>>>,
}

impl TestHost {
    pub(crate) fn start() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::configured(|settings| settings.limits = limits)
    }

    pub(crate) fn configured(configure: impl FnOnce(&mut HostSettings)) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&lines);
        let output = OutputSink::new(move |line| taken.lock().unwrap().push(line.to_string()));
        // Tests may share a process: one start at a time, and the root process is the child that was not there before.
        static STARTING: Mutex<()> = Mutex::new(());
        let _turn = STARTING.lock().unwrap();
        let before = children(std::process::id());
        let mut settings = HostSettings { output, ..HostSettings::new(interpreter()) };
        configure(&mut settings);
        let python = PythonHost::start(settings).unwrap();
        let root = children(std::process::id()).into_iter().find(|pid| !before.contains(pid)).unwrap();
        Self { python, root, lines }
    }

    /// Loads a file of the characters' folder.
    pub(crate) async fn load(&self, name: &str) -> Character {
        self.try_load(&characters().join(name)).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    pub(crate) async fn try_load(&self, path: &Path) -> Result<Character, LoadError> {
        self.python.load(path, path.file_stem().unwrap().to_str().unwrap()).await
    }

    /// Loads a file with this text.
    pub(crate) async fn load_text(&self, text: &str) -> Character {
        let path = scratch().join("character.py");
        std::fs::write(&path, text).unwrap();
        self.try_load(&path).await.unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// The one problem of a file.
    pub(crate) async fn problem(&self, name: &str) -> Problem {
        let failure = self.try_load(&characters().join(name)).await.expect_err(name);
        assert_eq!(failure.problems().len(), 1, "{failure}");
        failure.problems()[0].clone()
    }

    /// The root process and all below it that have not ended.
    pub(crate) fn processes(&self) -> Vec<u32> {
        process_tree(self.root)
    }

    /// Waits until at most this many processes are left: a killed process takes a moment to end.
    pub(crate) async fn wait_for_at_most(&self, count: usize) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while self.processes().len() > count {
            assert!(Instant::now() < deadline, "more than {count} processes: {:?}", self.processes());
            tokio::task::yield_now().await;
        }
    }

    /// What was printed so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

fn interpreter() -> PathBuf {
    std::env::var_os("CALLBOARD_TEST_PYTHON").map_or_else(|| "python3".into(), PathBuf::from)
}

pub(crate) fn characters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/characters")
}

/// A new, empty folder.
pub(crate) fn scratch() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Calls a tool without state.
pub(crate) async fn call(character: &Character, tool: &str, arguments: &str) -> CallOutcome {
    character.call(CallRequest { tool, arguments, state: None, heard: None, conversation: "test" }).await
}
