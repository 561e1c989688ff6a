//! A database outage: requests that need the store are refused with `retry-after`, all others are served, and after the
//! outage conversations continue.

use std::process::Command;

use callboard_test_support::{Answer, Connection, Exchange, Program, ask, new_conversation};
use serde_json::{Value, json};

use super::client::{note, post, said};
use super::fixture::{Database, Fixture};
use crate::test_server::{Server, script};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// Stops the server, or restarts it.
fn control_server(fixture: &Fixture, command: &str) {
    let folder = fixture.database.server.as_ref().and_then(|server| server.folder.as_ref()).unwrap();
    assert!(Command::new(script()).arg(command).arg(folder).status().unwrap().success());
}

fn send(program: &Program, path: &str, body: &Value) -> Answer {
    ask(&program.address, "POST", path, &[], &body.to_string())
}

#[test]
fn a_database_outage_fails_only_requests_that_need_the_store() {
    let fixture = Fixture::new(Database::on(Server::start_own(&[])));
    let program = fixture.start();
    let id = new_conversation(&program.address);
    let mut in_conversation = note("a", false);
    in_conversation["conversation"] = json!(id);
    let first = post(&program.address, RESPONSES, &[], &in_conversation).acknowledged().unwrap();
    assert_eq!(said(&first), "a");

    let user = json!([{"role": "user", "content": "Hello."}]);
    let plain = json!({"model": "m", "input": "Hello.", "store": false});
    let needing: [(&str, Value); 6] = [
        (RESPONSES, in_conversation.clone()),
        (RESPONSES, json!({"model": "m", "input": "Hello."})),
        (RESPONSES, json!({"model": "m", "input": "Hello.", "store": false, "previous_response_id": first["id"]})),
        (CHAT, json!({"model": "keeper", "messages": user})),
        ("/v1/conversations", json!({})),
        (&format!("/v1/conversations/{id}/undo"), json!({"last": 1})),
    ];
    control_server(&fixture, "halt");
    for (path, body) in &needing {
        let refused = send(&program, path, body);
        assert_eq!(
            (refused.status, refused.error("code").as_str()),
            (503, "store_unavailable"),
            "{path} {body}: {refused:?}"
        );
        assert!(refused.headers.contains("retry-after: "), "{refused:?}");
    }
    let mut streamed = needing[1].1.clone();
    streamed["stream"] = json!(true);
    let cut = send(&program, RESPONSES, &streamed);
    assert!(cut.body.contains("store_unavailable") && !cut.body.contains("response.completed"), "{cut:?}");
    for (path, body) in [(CHAT, json!({"model": "m", "messages": user})), (RESPONSES, plain)] {
        for stream in [true, false] {
            let mut body = body.clone();
            body["stream"] = json!(stream);
            let served = send(&program, path, &body);
            assert!(served.status == 200 && served.body.contains("Hello."), "{path}: {served:?}");
        }
    }

    control_server(&fixture, "resume");
    in_conversation["input"] = json!("note b");
    let next = loop {
        let answer = send(&program, RESPONSES, &in_conversation);
        match answer.status {
            200 => break answer.json(),
            503 => {}
            status => panic!("{status}: {answer:?}"),
        }
    };
    assert_eq!(said(&next), "a b", "no turn that was refused has left anything");
}

/// A model server may send a whole reply to a request for a stream.
fn answer_at_once(mut exchange: Exchange) {
    exchange.json(200, r#"{"choices":[{"index":0,"message":{"content":"Hello."},"finish_reason":"stop"}]}"#);
}

/// No output was sent yet when the write fails.
#[test]
fn a_failed_write_before_any_output_is_a_status() {
    let fixture = Fixture::with_model(Database::file(), answer_at_once);
    let program = fixture.start();
    let request = json!({"model": "m", "input": "Hello.", "stream": true});
    let served = send(&program, RESPONSES, &request);
    assert!(served.status == 200 && served.body.contains("response.completed"), "{served:?}");
    std::fs::remove_file(fixture.database.address.strip_prefix("sqlite:").unwrap()).unwrap();
    let refused = std::iter::repeat_with(|| send(&program, RESPONSES, &request)).find(|answer| answer.status != 200);
    assert_eq!(refused.unwrap().error("code"), "store_unavailable");
}

/// Another process has locked the file.
#[test]
fn text_does_not_wait_for_a_slow_store() {
    let fixture = Fixture::with_model(Database::file(), answer_at_once);
    let program = fixture.start();
    let request = json!({"model": "m", "input": "Hello.", "stream": true}).to_string();
    let holder = fixture.database.open_file();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut client = Connection::send(&program.address, "POST", RESPONSES, &[], &request);
    assert!(client.read_until("response.output_text.delta").is_some());
    holder.execute_batch("COMMIT").unwrap();
    assert!(client.read_until("response.completed").is_some());
}

#[test]
fn a_removed_file_is_reported() {
    let fixture = Fixture::new(Database::file());
    let program = fixture.start();
    let ready = |query: &str| ask(&program.address, "GET", &format!("/ready{query}"), &[], "");
    assert!(ready("?store=required").body.contains(r#""store":"ok""#));
    std::fs::remove_file(fixture.database.address.strip_prefix("sqlite:").unwrap()).unwrap();
    let create = || send(&program, "/v1/conversations", &json!({}));
    let refused = std::iter::repeat_with(create).find(|answer| answer.status != 200).unwrap();
    assert_eq!((refused.status, refused.error("code").as_str()), (503, "store_unavailable"));
    assert!(refused.error("message").contains("removed or replaced"), "{refused:?}");
    let served = std::iter::repeat_with(|| ready("")).find(|answer| !answer.body.contains(r#""store":"ok""#)).unwrap();
    assert_eq!((served.status, served.body.as_str()), (200, r#"{"status":"ready","store":"unavailable"}"#));
    let refused = ready("?store=required");
    assert_eq!((refused.status, refused.error("code").as_str()), (503, "store_unavailable"));
}
