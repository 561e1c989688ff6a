//! Responses beyond the golden pages: a long wait before the first text, and a store that fails at the end of a turn.

use std::sync::mpsc::channel;

use callboard_test_support::{Connection, Program, ask, paused_stream};
use serde_json::Value;
use tempfile::TempDir;

const WHOLE: &str = r#"{"model":"m","input":"Count."}"#;
const STREAMED: &str = r#"{"model":"m","input":"Count.","stream":true}"#;

#[test]
fn a_stream_after_keep_alives_fails_as_a_response() {
    let (go, gate) = channel();
    let server = paused_stream(|_| {}, |exchange| exchange.event(r#"{"error":{"message":"engine died"}}"#), gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_KEEP_ALIVE_SECONDS", "0.05")]);
    let mut client = Connection::send(&program.address, "POST", "/v1/responses", &[], STREAMED);
    for line in ["event: response.created", "event: response.in_progress", ": keep-alive"] {
        assert!(client.read_until(line).is_some(), "{line}");
    }
    go.send(()).unwrap();
    for line in ["event: error", "event: response.failed"] {
        assert!(client.read_until(line).is_some(), "{line}");
    }
}

#[test]
fn a_response_that_cannot_be_stored_fails() {
    let folder = TempDir::new().unwrap();
    let database = folder.path().join("store.db");
    let (go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |exchange| exchange.finish("stop"), gate);
    let store = format!("sqlite:{}", database.display());
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_STORE", &store)]);
    let mut client = Connection::send(&program.address, "POST", "/v1/responses", &[], STREAMED);
    let mut events = Vec::new();
    while let Some(line) = client.read_until("data: {") {
        let event: Value = serde_json::from_str(line.trim().trim_start_matches("data: ")).unwrap();
        if event["type"] == "response.output_text.delta" {
            rusqlite::Connection::open(&database).unwrap().execute_batch("DROP TABLE responses").unwrap();
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
