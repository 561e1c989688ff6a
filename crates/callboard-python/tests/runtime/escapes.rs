//! Processes that try to outlive their call, and processes that are stopped instead of killed.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use callboard_python::Limits;
use rustix::fs::{FlockOperation, flock};

use crate::harness::{TestHost, call, scratch};

/// How long what must end may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Names a folder: then the test that reads it is the child that will be killed.
const VICTIM: &str = "CALLBOARD_TEST_VICTIM";

/// Tools that leave a process behind, and the text that the model receives.
const ESCAPES: &[(&str, &str)] = &[
    ("leaves_a_daemon", "left"),
    ("leaves_hoppers", "left"),
    ("leaves_a_silent_child", "left"),
    ("hangs_beside_a_daemon", "Error: Tool execution timed out"),
    ("hangs_beside_hoppers", "Error: Tool execution timed out"),
    ("kills_beside_a_daemon", "Error: Tool execution failed - the tool crashed"),
];

#[tokio::test]
async fn no_process_outlives_its_call() {
    let host = TestHost::start();
    let escapist = host.load("hostile/escapes.py").await;
    for (tool, expected) in ESCAPES {
        let folder = scratch();
        let outcome = call(&escapist, tool, &in_folder(&folder)).await;
        assert_eq!(outcome.result.unwrap_or_else(|failure| failure.to_model_text()), *expected, "{tool}");
        assert!(folder.join("started").exists(), "{tool}");
        assert!(is_free(&folder), "{tool} left a process");
        assert_eq!(call(&escapist, "answers", "{}").await.result.as_deref(), Ok("well"), "after {tool}");
    }
}

/// These deceive the worker itself; its parent ends what they leave a moment later.
#[tokio::test]
async fn what_escapes_its_worker_is_swept() {
    let host = TestHost::start();
    let escapist = host.load("hostile/escapes.py").await;
    for tool in ["leaves_a_sibling", "stops_adopting"] {
        let folder = scratch();
        assert_eq!(call(&escapist, tool, &in_folder(&folder)).await.result.as_deref(), Ok("left"), "{tool}");
        wait_until_free(&folder).await;
        assert_eq!(call(&escapist, "answers", "{}").await.result.as_deref(), Ok("well"), "after {tool}");
    }
}

#[tokio::test]
async fn shutdown_ends_what_calls_have_left() {
    let host = TestHost::start();
    let escapist = host.load("hostile/escapes.py").await;
    let folder = scratch();
    let arguments = in_folder(&folder);
    let shutdown = async {
        wait_for_file(&folder.join("started")).await;
        host.python.shutdown().await;
    };
    let (outcome, ()) = tokio::join!(call(&escapist, "hangs_for_long", &arguments), shutdown);
    assert!(outcome.result.is_err());
    assert!(is_free(&folder));
}

/// This test runs itself as another process, which is killed during a call.
#[tokio::test]
async fn nothing_outlives_a_killed_callboard() {
    if let Some(folder) = std::env::var_os(VICTIM) {
        let host = TestHost::start();
        let escapist = host.load("hostile/escapes.py").await;
        let outcome = call(&escapist, "hangs_for_long", &in_folder(Path::new(&folder))).await;
        panic!("{outcome:?}");
    }
    let folder = scratch();
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "escapes::nothing_outlives_a_killed_callboard", "--nocapture"])
        .env(VICTIM, &folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_file(&folder.join("started")).await;
    assert!(!is_free(&folder));
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until_free(&folder).await;
}

#[tokio::test]
async fn a_stopped_zygote_is_replaced() {
    let host = TestHost::with_limits(Limits { workers_per_character: 1, ..Limits::default() });
    let escapist = host.load("hostile/escapes.py").await;
    assert_eq!(call(&escapist, "stops_its_parent", "{}").await.result.as_deref(), Ok("stopped"));
    // The worker is lost, so the next call needs a fork.
    assert!(call(&escapist, "exits_hard", "{}").await.result.is_err());
    let answered = tokio::time::timeout(PATIENCE, call(&escapist, "answers", "{}")).await.expect("an answer in time");
    assert_eq!(answered.result.as_deref(), Ok("well"));
}

#[tokio::test]
async fn a_stopped_worker_is_replaced() {
    let host = TestHost::with_limits(Limits { workers_per_character: 1, ..Limits::default() });
    let escapist = host.load("hostile/escapes.py").await;
    let worker = call(&escapist, "stops_itself_later", "{}").await.result.unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !is_stopped_or_gone(&worker) {
        assert!(Instant::now() < deadline, "the worker runs");
        tokio::task::yield_now().await;
    }
    assert_eq!(call(&escapist, "answers", "{}").await.result.as_deref(), Ok("well"));
}

fn is_stopped_or_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 'Z', 'X']))
}

fn in_folder(folder: &Path) -> String {
    serde_json::json!({ "folder": folder }).to_string()
}

/// Whether no process holds the lock that all processes forked by a tool inherit.
fn is_free(folder: &Path) -> bool {
    flock(File::open(folder.join("lock")).unwrap(), FlockOperation::NonBlockingLockExclusive).is_ok()
}

async fn wait_until_free(folder: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while !is_free(folder) {
        assert!(Instant::now() < deadline, "a process lives on");
        tokio::task::yield_now().await;
    }
}

async fn wait_for_file(path: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} is missing", path.display());
        tokio::task::yield_now().await;
    }
}
