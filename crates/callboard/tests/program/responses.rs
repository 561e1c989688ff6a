//! Responses where golden pages do not reach: silence before the first word, a store that fails at the last moment, and
//! refusals about what is stored.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::support::{Connection, Program, ask, halting};

const WHOLE: &str = r#"{"model":"m","input":"Count."}"#;
const STREAMED: &str = r#"{"model":"m","input":"Count.","stream":true}"#;

#[test]
fn a_stream_that_was_kept_alive_fails_as_a_response() {
    let (go, gate) = channel();
    let server = halting(|_| {}, |visit| visit.event(r#"{"error":{"message":"engine died"}}"#), gate);
    let program = Program::before(&server.url, &[("CALLBOARD_TIMEOUTS_KEEP_ALIVE_SECONDS", "0.05")]);
    let mut client = Connection::send(&program.address, "POST", "/v1/responses", &[], STREAMED);
    for line in ["event: response.created", "event: response.in_progress", ": keep-alive"] {
        assert!(client.read_until(line).is_some(), "{line}");
    }
    go.send(()).unwrap();
    for line in ["event: error", "event: response.failed"] {
        assert!(client.read_until(line).is_some(), "{line}");
    }
}

/// A database from which a table can be taken while the program runs.
struct Database(PathBuf);

impl Database {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("responses-{name}-{}.db", std::process::id()));
        Self(path)
    }

    fn break_down(&self) {
        rusqlite::Connection::open(&self.0).unwrap().execute_batch("DROP TABLE responses").unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", self.0.display()));
        }
    }
}

#[test]
fn what_could_not_be_kept_is_told_as_failed() {
    let database = Database::new("unkept");
    let (go, gate) = channel();
    let server = halting(|visit| visit.text("One"), |visit| visit.finish("stop"), gate);
    let store = format!("sqlite:{}", database.0.display());
    let program = Program::before(&server.url, &[("CALLBOARD_STORE", &store)]);
    let mut client = Connection::send(&program.address, "POST", "/v1/responses", &[], STREAMED);
    let mut events = Vec::new();
    while let Some(line) = client.read_until("data: ") {
        let event: Value = serde_json::from_str(line.trim().trim_start_matches("data: ")).unwrap();
        if event["type"] == "response.output_text.delta" {
            database.break_down();
            go.send(()).unwrap();
        }
        events.push(event);
    }
    let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
    assert_eq!(numbers, (0..u64::try_from(events.len()).unwrap()).collect::<Vec<_>>(), "{events:#?}");
    let [.., done, error, failed] = events.as_slice() else { panic!("{events:#?}") };
    assert_eq!((&done["type"], &done["item"]["status"]), (&"response.output_item.done".into(), &"completed".into()));
    assert_eq!((&error["type"], &failed["type"]), (&"error".into(), &"response.failed".into()));
    assert_eq!((&failed["response"]["status"], &failed["response"]["completed_at"]), (&"failed".into(), &Value::Null));

    go.send(()).unwrap();
    let whole = ask(&program.address, "POST", "/v1/responses", &[], WHOLE);
    assert_eq!((whole.status, whole.error("code")), (500, error["code"].as_str().unwrap().to_owned()), "{whole:?}");
}

#[test]
fn refusals_name_the_place_in_the_request() {
    let program = Program::before("http://127.0.0.1:9", &[]);
    let made = ask(&program.address, "POST", "/v1/conversations", &[], "{}");
    let id = serde_json::from_str::<Value>(&made.body).unwrap()["id"].as_str().unwrap().to_owned();
    let about = |field: &str| json!({"model": "m", "input": "Hi", field: "none"}).to_string();
    let last = r#"{"last": -1}"#.to_owned();
    for (method, path, body, status, param, code) in [
        ("POST", "/v1/responses", about("conversation"), 404, "conversation", "conversation_not_found"),
        (
            "POST",
            "/v1/responses",
            about("previous_response_id"),
            400,
            "previous_response_id",
            "previous_response_not_found",
        ),
        ("POST", "/v1/conversations/ID/undo", last, 400, "last", "invalid_value"),
        ("GET", "/v1/conversations/ID/journal?afer=1", String::new(), 400, "afer", "unknown_parameter"),
        ("GET", "/v1/traces?modle=m", String::new(), 400, "modle", "unknown_parameter"),
    ] {
        let answer = ask(&program.address, method, &path.replace("ID", &id), &[], &body);
        let told = (answer.status, answer.error("param"), answer.error("code"));
        assert_eq!(told, (status, param.to_owned(), code.to_owned()), "{path}: {answer:?}");
    }
    // These lists are OpenAI's, and so are their parameters.
    let listed = ask(&program.address, "GET", &format!("/v1/conversations/{id}/items?include[]=x&later=1"), &[], "");
    assert_eq!(listed.status, 200, "{listed:?}");
}
