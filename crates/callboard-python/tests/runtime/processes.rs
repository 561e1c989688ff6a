//! The processes of a host: lost ones, their number, their end, and unsuitable interpreters.

use callboard_python::{HostSettings, Limits, PythonHost, StartError};
use futures_util::future::join_all;
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{TestHost, call, scratch, wait_for_exit};

#[test]
fn it_serves_several_runtimes() {
    let host = TestHost::start();
    let run = |future: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future);
    };
    let python = host.python;
    let (give, take) = std::sync::mpsc::channel();
    let path = crate::harness::characters().join("narrator.py");
    run(Box::pin(async move { give.send(python.load(&path, "narrator").await.unwrap()).unwrap() }));
    let narrator = take.recv().unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let narrator = narrator.clone();
                run(Box::pin(async move {
                    for _ in 0..50 {
                        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
                        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
                    }
                }));
            });
        }
    });
}

#[tokio::test]
async fn lost_processes_are_replaced() {
    let host = TestHost::start();
    let narrator = host.load("narrator.py").await;
    // The root process comes first, then the zygote, then workers: each loss takes what is below along.
    for lost in [2, 1, 0] {
        let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
        assert_eq!(outcome.result.as_deref(), Ok("Logged: x"), "before {lost}");
        let processes = host.processes();
        kill_process(Pid::from_raw(i32::try_from(processes[lost]).unwrap()).unwrap(), Signal::KILL).unwrap();
        processes[lost..].iter().copied().for_each(wait_for_exit);
    }
    let outcome = call(&narrator, "log_story_event", r#"{"event":"x"}"#).await;
    assert_eq!(outcome.result.as_deref(), Ok("Logged: x"));
    host.load("ways.py").await;
}

#[tokio::test]
async fn a_character_ends_with_its_last_handle() {
    let host = TestHost::start();
    let root = host.processes();
    assert_eq!(root.len(), 1);
    let narrator = host.load("narrator.py").await;
    narrator.start_conversation().await.unwrap();
    host.wait_for_at_most(3).await;
    let processes = host.processes();
    assert_eq!(processes.len(), 3, "a root, a zygote, a worker");
    let other = narrator.clone();
    drop(narrator);
    other.start_conversation().await.unwrap();
    drop(other);
    for pid in processes.iter().filter(|pid| !root.contains(pid)) {
        wait_for_exit(*pid);
    }
    assert_eq!(host.processes(), root);
}

#[tokio::test]
async fn idle_workers_make_room_for_others() {
    let limits = Limits { workers: 2, workers_per_character: 2, ..Limits::default() };
    let host = TestHost::with_limits(limits);
    let mut characters = Vec::new();
    for _ in 0..5 {
        characters.push(host.load("ways.py").await);
    }
    for _ in 0..3 {
        let mut calls = tokio::task::JoinSet::new();
        for character in &characters {
            for _ in 0..3 {
                let character = character.clone();
                calls.spawn(async move { call(&character, "slow", r#"{"milliseconds":5}"#).await.result });
            }
        }
        while let Some(outcome) = calls.join_next().await {
            assert_eq!(outcome.unwrap().as_deref(), Ok("done"));
        }
        // The root process, five zygotes and two workers.
        host.wait_for_at_most(1 + 5 + 2).await;
    }
}

#[tokio::test]
async fn independent_calls_run_at_the_same_time() {
    let limits = Limits { workers_per_character: 4, ..Limits::default() };
    let host = TestHost::with_limits(limits);
    let meeting = host.load_text(MEETING).await;
    let arguments = serde_json::json!({"folder": scratch(), "calls": 4}).to_string();
    for outcome in join_all((0..4).map(|_| call(&meeting, "meet", &arguments))).await {
        assert_eq!(outcome.result.as_deref(), Ok("met"));
    }
}

/// Its calls end only when so many of them run.
const MEETING: &str = r#"
import os
import time

CHARACTER_NAME = "Meeting"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = 120_000


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Meet."


def meet(folder: str, calls: int) -> str:
    """Meet."""
    open(os.path.join(folder, str(os.getpid())), "w").close()
    while len(os.listdir(folder)) < calls:
        time.sleep(0.01)
    return "met"


TOOLS = [meet]
"#;

#[test]
fn unsuitable_interpreters_are_refused() {
    let start = |interpreter: &str| {
        let settings = HostSettings::new(interpreter);
        PythonHost::start(settings).map(drop).unwrap_err()
    };
    assert!(matches!(start("no-such-python"), StartError::Interpreter(_)));
    assert!(matches!(start("echo"), StartError::Interpreter(_)));
    let sleeper = scratch().join("sleeper");
    std::fs::write(&sleeper, "#!/bin/sh\nexec sleep 600\n").unwrap();
    make_executable(&sleeper);
    assert!(start(sleeper.to_str().unwrap()).to_string().contains("nothing at all"));
    let liar = scratch().join("liar");
    std::fs::write(&liar, "#!/bin/sh\ncase \"$1\" in -I) echo cpython 3 11;; *) echo broken >&2;; esac\n").unwrap();
    make_executable(&liar);
    let error = start(liar.to_str().unwrap());
    assert!(matches!(&error, StartError::NoAnswer { stderr, .. } if stderr == "broken"), "{error}");
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
}
