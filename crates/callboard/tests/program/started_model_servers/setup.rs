//! What the tests of started servers share: questions about the process, a pipe that holds a server back.

use std::fs::OpenOptions;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use callboard_test_support::{Answer, Program, ask};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) const CHAT: &str = "/v1/chat/completions";

/// What the check returns, once it returns something.
pub(super) fn eventually<T>(mut check: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = check() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not happen");
        std::thread::yield_now();
    }
}

/// The first model server, as operators see it.
pub(super) fn process(program: &Program) -> Value {
    ask(&program.address, "GET", "/v1/upstreams", &[], "").ok()["data"][0]["process"].take()
}

pub(super) fn wait_for(program: &Program, state: &str) -> Value {
    eventually(|| Some(process(program)).filter(|process| process["state"] == state))
}

pub(super) fn pid(process: &Value) -> u64 {
    process["pid"].as_u64().unwrap_or_else(|| panic!("it runs: {process}"))
}

pub(super) fn request(stream: bool) -> String {
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

/// What the model server says of itself in a reply.
pub(super) fn said(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    let content = match answer.body.starts_with('{') {
        true => answer.json()["choices"][0]["message"]["content"].clone(),
        false => {
            assert!(answer.body.contains("data: [DONE]"), "{answer:?}");
            let events = answer.body.lines().filter_map(|line| line.strip_prefix("data: "));
            let events = events.filter_map(|event| serde_json::from_str::<Value>(event).ok());
            let deltas =
                events.map(|event| event["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned());
            deltas.collect::<String>().into()
        }
    };
    serde_json::from_str(content.as_str().unwrap()).unwrap()
}

pub(super) fn kill(pid: u64) {
    assert!(Command::new("kill").args(["-s", "KILL", &pid.to_string()]).status().unwrap().success());
}

/// Also true of a process whose end was not waited for.
pub(super) fn has_ended(pid: u64) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// The process that started this one.
pub(super) fn parent_of(pid: u64) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    status.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A pipe that holds a model server back until it is opened.
pub(super) struct Gate(TempDir);

impl Gate {
    pub(super) fn new() -> Self {
        let gate = Self(TempDir::new().unwrap());
        assert!(Command::new("mkfifo").arg(gate.path()).status().unwrap().success());
        gate
    }

    fn path(&self) -> String {
        self.0.path().join("gate").to_str().unwrap().to_owned()
    }

    pub(super) fn word(&self) -> String {
        format!("gate={}", self.path())
    }

    pub(super) fn open(&self) {
        drop(OpenOptions::new().write(true).open(self.path()).unwrap());
    }
}

pub(super) fn program_with_log(settings: &str, level: &str) -> (Program, Receiver<String>, TempDir) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, settings).unwrap();
    let (program, log) = Program::start_with_log(&["--config", file.to_str().unwrap(), "--log", level], &[]);
    (program, log, folder)
}

pub(super) fn line_with(log: &Receiver<String>, text: &str) -> String {
    log.iter().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no line with {text}"))
}
