//! What is found out about model servers, over a restart.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use callboard_test_support::{ModelServer, Program, ask, binary, post};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server that refuses `seed`, and counts the chat requests to it.
fn picky() -> (ModelServer, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = ModelServer::start(move |mut exchange| {
        counted.fetch_add(1, Ordering::SeqCst);
        match exchange.body.contains("\"seed\"") {
            true => exchange.json(400, r#"{"error":{"message":"Unsupported parameter: 'seed'","param":"seed"}}"#),
            false => exchange.answer("fine"),
        }
    });
    (server, count)
}

fn with_seed() -> String {
    json!({"model": "m", "seed": 7, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

fn known(program: &Program) -> Value {
    ask(&program.address, "GET", "/v1/upstreams", &[], "").json()["data"][0]["known"].clone()
}

#[test]
fn what_a_server_refuses_is_known_after_a_restart() {
    let (folder, (server, count)) = (TempDir::new().unwrap(), picky());
    let store = format!("sqlite:{}", folder.path().join("callboard.db").display());
    let start = |days| {
        let environment = [("CALLBOARD_STORE", store.as_str()), ("CALLBOARD_KEEP_FINDING_DAYS", days)];
        Program::with_upstream(&server.url, &environment)
    };
    let program = start("30");
    assert_eq!(post(&program.address, &with_seed()).status, 200);
    assert_eq!(count.swap(0, Ordering::SeqCst), 2, "refused, then sent without it");
    let before = known(&program);
    assert_eq!(before[0]["findings"][0]["name"], "field:seed");
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let program = start("0");
    assert_eq!(known(&program), before, "with its date");
    assert_eq!(post(&program.address, &with_seed()).status, 200);
    assert_eq!(count.load(Ordering::SeqCst), 1, "sent without it at once");
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    // Without a Callboard that serves, the command reads the store.
    let arguments = ["upstreams", "--listen", "127.0.0.1:1", "--upstream", &server.url];
    let mut command = std::process::Command::new(binary());
    let shown = command.args(arguments).env_clear().env("CALLBOARD_STORE", &store).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("  m: tools native, by default\n    field:seed  worked around  20"), "{shown}");
}
