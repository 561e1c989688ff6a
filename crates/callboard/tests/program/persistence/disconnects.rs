//! Clients that disconnect in the middle of a turn. If the client has received output, the partial turn is stored; if not, the
//! turn is discarded, so that a retry of the request is applied once.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use callboard_test_support::{Connection, Program, calls, new_conversation, reply};
use serde_json::{Value, json};

use super::client::{get, note, post, said};
use super::consistency::{RequestedChange, check, tick};
use super::fixture::{Database, Fixture, play, wanted};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// Events of a model that withholds its reply after "note away" until the client disconnects.
#[derive(Debug, PartialEq)]
enum ModelEvent {
    Asked,
    Disconnected,
}

/// A fixture whose model withholds its reply this many times.
fn withholding_model(database: Database, times: usize) -> (Fixture, Receiver<ModelEvent>) {
    let (sender, events) = channel();
    let state = Mutex::new((sender, times));
    let fixture = Fixture::with_model(database, move |mut exchange| {
        let is_due =
            wanted(&exchange).is_none() && exchange.body.contains("note away") && !exchange.body.contains("note again");
        let sender = is_due.then(|| state.lock().unwrap()).filter(|state| state.1 > 0).map(|mut state| {
            state.1 -= 1;
            state.0.clone()
        });
        let Some(sender) = sender else { return play(&mut exchange) };
        if exchange.body.contains("\"stream\":true") {
            exchange.begin_stream();
            exchange.text("It is");
        }
        sender.send(ModelEvent::Asked).unwrap();
        while !exchange.is_closed_by_client() {}
        let _ = sender.send(ModelEvent::Disconnected);
    });
    (fixture, events)
}

/// Sends a request, and disconnects while the model withholds its reply.
fn ask_and_disconnect(program: &Program, events: &Receiver<ModelEvent>, path: &str, headers: &[&str], body: &Value) {
    let mut client = Connection::send(&program.address, "POST", path, headers, &body.to_string());
    assert_eq!(events.recv(), Ok(ModelEvent::Asked));
    if body["stream"] == true {
        client.read_until("It is").unwrap();
    }
    drop(client);
    // The program closes the connection to the model last, after it has handled the turn.
    assert_eq!(events.recv(), Ok(ModelEvent::Disconnected));
}

fn in_conversation(id: &str, token: &str, stream: bool) -> Value {
    let mut body = note(token, stream);
    body["conversation"] = json!(id);
    body
}

/// The reply of the next turn, which waits for the previous one.
fn said_next(program: &Program, conversation: &str) -> String {
    let body = in_conversation(conversation, "again", false);
    said(&post(&program.address, RESPONSES, &[], &body).acknowledged().unwrap())
}

fn items(program: &Program, conversation: &str) -> Vec<Value> {
    let items = get(&program.address, &format!("/v1/conversations/{conversation}/items?order=asc&limit=100"));
    items["data"].as_array().unwrap().clone()
}

fn kinds(program: &Program, conversation: &str) -> Vec<String> {
    items(program, conversation).iter().map(|item| item["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_turn_with_sent_output_is_stored() {
    let (fixture, events) = withholding_model(Database::file(), 1);
    let program = fixture.start();
    let id = new_conversation(&program.address);
    ask_and_disconnect(&program, &events, RESPONSES, &[], &in_conversation(&id, "away", true));
    // Reads wait for pending writes.
    assert_eq!(kinds(&program, &id), ["message", "mcp_call", "message"]);
    assert_eq!(get(&program.address, &format!("/v1/conversations/{id}/state"))["state"], json!({"notes": ["away"]}));
    assert_eq!(said_next(&program, &id), "away again");
}

/// OpenAI's clients retry by themselves after a timeout.
#[test]
fn a_retry_after_a_turn_without_output_is_applied_once() {
    for database in [Database::file(), Database::postgres()] {
        let (fixture, events) = withholding_model(database, 2);
        let program = fixture.start();
        let id = new_conversation(&program.address);
        let (body, sent) = (in_conversation(&id, "away", false), tick());
        for _ in 0..2 {
            ask_and_disconnect(&program, &events, RESPONSES, &[], &body);
            assert_eq!(check(&program.address, &id, &[]), 0, "nothing is left behind");
        }
        let response = post(&program.address, RESPONSES, &[], &body).acknowledged().unwrap();
        assert_eq!(said(&response), "away");
        let asked = RequestedChange { token: "away".to_owned(), sent, acknowledged: Some(tick()) };
        assert_eq!(check(&program.address, &id, &[asked]), 1);
        assert_eq!(kinds(&program, &id), ["message", "mcp_call", "message"]);
        assert_eq!(traced(&program, &id), [("complete", 1), ("interrupted", 1), ("interrupted", 1)].map(owned));
    }
}

fn owned((outcome, calls): (&str, usize)) -> (String, usize) {
    (outcome.to_owned(), calls)
}

/// How the turns of a conversation ended and how many tools ran in each, newest first.
fn traced(program: &Program, conversation: &str) -> Vec<(String, usize)> {
    // Traces are stored a moment later than the turn.
    let traces = || get(&program.address, "/v1/traces?limit=100")["data"].as_array().unwrap().clone();
    let enough = std::iter::repeat_with(traces).find(|traces| traces.len() >= 3).unwrap();
    let whole =
        enough.iter().map(|trace| get(&program.address, &format!("/v1/traces/{}", trace["id"].as_str().unwrap())));
    let own = whole.filter(|trace| trace["conversation"] == conversation);
    own.map(|trace| {
        let ran = trace["tool_calls"].as_array().map_or(0, Vec::len);
        (trace["outcome"].as_str().unwrap().to_owned(), ran)
    })
    .collect()
}

/// The first of two calls has changed something, and the second is running.
fn disconnect_during_tool(stream: bool) -> (Fixture, Program, String) {
    let fixture = Fixture::with_model(Database::file(), |mut exchange| match wanted(&exchange).as_deref() {
        Some("away") => {
            let both = [("note", json!({"token": "away"})), ("linger", json!({}))];
            reply(&mut exchange, &calls("", &both));
        }
        _ => play(&mut exchange),
    });
    let program = fixture.start();
    let id = new_conversation(&program.address);
    let body = in_conversation(&id, "away", stream).to_string();
    let client = Connection::send(&program.address, "POST", RESPONSES, &[], &body);
    assert!(program.prints_line("[keeper] lingering"));
    drop(client);
    (fixture, program, id)
}

#[test]
fn a_completed_call_is_stored_when_output_was_sent() {
    let (_fixture, program, id) = disconnect_during_tool(true);
    assert_eq!(said_next(&program, &id), "away again");
    let journal = get(&program.address, &format!("/v1/conversations/{id}/journal"));
    assert_eq!(journal["data"].as_array().map_or(0, Vec::len), 2, "{journal}");
    let items = items(&program, &id);
    assert_eq!(items.iter().filter(|item| item["type"] == "mcp_call").count(), 3, "{items:?}");
    let first = |name: &str| items.iter().find(|item| item["name"] == name).unwrap();
    let (done, cut) = (first("note"), first("linger"));
    // The model must see the result of a tool that has changed something.
    assert_eq!((done["status"].as_str(), done["output"].is_string()), (Some("completed"), true), "{done}");
    assert_eq!((cut["status"].as_str(), cut["output"].is_null()), (Some("in_progress"), true), "{cut}");
}

#[test]
fn a_completed_call_is_discarded_when_no_output_was_sent() {
    let (_fixture, program, id) = disconnect_during_tool(false);
    assert_eq!(said_next(&program, &id), "again");
    assert_eq!(kinds(&program, &id), ["message", "mcp_call", "message"]);
}

fn user(words: &str) -> Value {
    json!({"role": "user", "content": words})
}

fn chat(stream: bool, messages: &[Value]) -> Value {
    json!({"model": "keeper", "stream": stream, "messages": messages})
}

fn reply_text(program: &Program, headers: &[&str], messages: &[Value]) -> String {
    let reply = post(&program.address, CHAT, headers, &chat(false, messages)).acknowledged().unwrap();
    reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

/// A history without a name is found by its messages only.
#[test]
fn a_history_continues_from_a_turn_with_sent_output() {
    for (stream, next) in [(true, "away again"), (false, "again")] {
        let (fixture, events) = withholding_model(Database::file(), 1);
        let program = fixture.start();
        ask_and_disconnect(&program, &events, CHAT, &[], &chat(stream, &[user("note away")]));
        assert_eq!(reply_text(&program, &[], &[user("note away"), user("note again")]), next, "streamed: {stream}");
    }
}

/// A named conversation continues from its stored state, whatever the history contains.
#[test]
fn a_retry_in_a_named_conversation_is_applied_once() {
    let (fixture, events) = withholding_model(Database::file(), 1);
    let program = fixture.start();
    let headers = ["callboard-conversation: tale"];
    ask_and_disconnect(&program, &events, CHAT, &headers, &chat(false, &[user("note away")]));
    assert_eq!(reply_text(&program, &headers, &[user("note away")]), "away");
}

/// A response is found by the id that the client received.
#[test]
fn a_response_with_sent_output_is_stored() {
    for stream in [true, false] {
        let (fixture, events) = withholding_model(Database::file(), 1);
        let program = fixture.start();
        let first = post(&program.address, RESPONSES, &[], &note("first", false)).acknowledged().unwrap();
        let mut body = note("away", stream);
        body["previous_response_id"] = first["id"].clone();
        let mut client = Connection::send(&program.address, "POST", RESPONSES, &[], &body.to_string());
        assert_eq!(events.recv(), Ok(ModelEvent::Asked));
        let created = if stream { client.read_until("data: ") } else { None };
        drop(client);
        assert_eq!(events.recv(), Ok(ModelEvent::Disconnected));
        let again = post(&program.address, RESPONSES, &[], &body).acknowledged();
        assert_eq!(again.map(|response| said(&response)).as_deref(), Some("first away"), "streamed: {stream}");
        let Some(created) = created else { continue };
        let created: Value = serde_json::from_str(created.trim_start_matches("data: ")).unwrap();
        let id = created["response"]["id"].as_str().unwrap();
        let kept = get(&program.address, &format!("/v1/responses/{id}"));
        assert_eq!(kept["status"], "cancelled");
        let mut next = note("again", false);
        next["previous_response_id"] = json!(id);
        assert_eq!(said(&post(&program.address, RESPONSES, &[], &next).acknowledged().unwrap()), "first away again");
    }
}
