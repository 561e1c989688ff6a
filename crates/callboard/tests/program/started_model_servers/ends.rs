//! The end of Callboard, or of a command, is the end of the servers that it has started.

use std::process::Command;

use callboard_test_support::{Connection, Program, ask, binary, post, startable_model};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::setup::{CHAT, Gate, eventually, has_ended, pid, request, said, wait_for};

/// Requests in flight are answered first, also by a server that is only started for them.
#[test]
fn the_server_ends_after_the_last_request() {
    let gate = Gate::new();
    let program = Program::with_settings(&startable_model(&[&gate.word(), "child"], ""), &[], &[]);
    let mut client = Connection::send(&program.address, "POST", CHAT, &[], &request(false));
    let pid = pid(&wait_for(&program, "starting"));
    eventually(|| {
        let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").ok();
        (seen["data"][0]["in_flight"] == 1).then_some(())
    });
    program.terminate();
    program.wait_until_closed();
    gate.open();
    let line = client.read_until("choices").expect("the reply");
    let child: Value = serde_json::from_str(&line).unwrap();
    let child = child["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    let child = serde_json::from_str::<Value>(&child).unwrap()["child"].as_u64().unwrap();
    assert_eq!(program.exit_code(), Some(0));
    assert!(has_ended(pid) && has_ended(child), "the server ended before Callboard, with what it had started");
}

#[test]
fn the_server_ends_when_callboard_is_killed() {
    let program = Program::with_settings(&startable_model(&["child"], ""), &[], &[]);
    let seen = said(&post(&program.address, &request(false)));
    let (server, child) = (seen["pid"].as_u64().unwrap(), seen["child"].as_u64().unwrap());
    assert!(!has_ended(server) && !has_ended(child));
    program.kill();
    eventually(|| (has_ended(server) && has_ended(child)).then_some(()));
}

/// A command of the terminal starts the server for itself and ends it.
#[test]
fn commands_start_the_server_that_they_need() {
    let folder = TempDir::new().unwrap();
    let pid_file = folder.path().join("pid");
    let settings = startable_model(&[&format!("pid={}", pid_file.display())], "start = \"on_demand\"");
    for (name, text) in [("callboard.toml", settings), ("BFCL.json", question()), ("answers.json", String::new())] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let mut eval = Command::new(binary());
    eval.args(["eval", "BFCL.json", "--answers", "answers.json", "--model", "m"]).current_dir(folder.path());
    let output = eval.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && shown.contains("100.0 %"), "{shown}");
    assert!(shown.contains("starting the model server python3"), "{shown}");
    let pid = std::fs::read_to_string(pid_file).unwrap().parse().unwrap();
    assert!(has_ended(pid), "it ended before the command");
}

#[test]
fn commands_show_why_a_server_does_not_start() {
    let folder = TempDir::new().unwrap();
    let settings = "[[upstream]]\ncommand = [\"sh\", \"-c\", \"echo no model at {port}; exit 3\"]\n";
    std::fs::write(folder.path().join("callboard.toml"), settings).unwrap();
    std::fs::write(folder.path().join("BFCL.json"), question()).unwrap();
    std::fs::write(folder.path().join("answers.json"), "").unwrap();
    let mut eval = Command::new(binary());
    eval.args(["eval", "BFCL.json", "--answers", "answers.json", "--model", "m"]).current_dir(folder.path());
    let output = eval.output().unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{shown}");
    assert!(shown.contains("the model server sh exited with status 3; its last lines:\n  no model at "), "{shown}");
}

fn question() -> String {
    json!({"id": "irrelevance_0", "question": [[{"role": "user", "content": "Hi"}]], "function": []}).to_string()
}
