//! Responses on one connection: in the order of their requests, one at a time, each continuing another.

use std::sync::Mutex;
use std::sync::mpsc::channel;

use callboard_test_support::{ModelServer, Program, Script, ask, text};
use serde_json::{Value, json};

use super::client::{Socket, words};

fn messages(request: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = request["messages"].as_array().into_iter().flatten();
    messages.map(|message| (word(&message["role"]), word(&message["content"]))).collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(role, content)| ((*role).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn one_connection_holds_many_responses() {
    let (_, server) = Script::start(["One.", "Two.", "Three."].map(text));
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    let mut ids = Vec::new();
    for expected in ["One.", "Two.", "Three."] {
        socket.ask("Count.", &json!({}));
        let events = socket.response();
        let numbers: Vec<u64> = events.iter().filter_map(|event| event["sequence_number"].as_u64()).collect();
        assert_eq!(numbers, (0..u64::try_from(events.len()).unwrap()).collect::<Vec<_>>(), "each is counted by itself");
        let last = &events.last().unwrap()["response"];
        assert_eq!((words(last).as_str(), &last["status"]), (expected, &json!("completed")));
        assert!(!ids.contains(&last["id"]), "every response has its own id");
        ids.push(last["id"].clone());
    }
}

/// The model server pauses in each reply until it is released, and reports each request.
#[test]
fn requests_are_queued_and_pings_are_not() {
    let ((asks, asked), (go, gate)) = (channel(), channel::<()>());
    let (asks, gate) = (Mutex::new(asks), Mutex::new(gate));
    let server = ModelServer::start(move |mut exchange| {
        let request: Value = exchange.request();
        let question = request["messages"][0]["content"].as_str().unwrap().to_owned();
        asks.lock().unwrap().send(question.clone()).unwrap();
        exchange.begin_stream();
        exchange.text("Well,");
        gate.lock().unwrap().recv().unwrap();
        exchange.text(&format!(" {question}"));
        exchange.finish("stop");
    });
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("first", &json!({"stream_id": "1"}));
    socket.read_until("response.output_text.delta");
    socket.ask("second", &json!({"stream_id": "2"}));
    socket.ask("third", &json!({"stream_id": "3"}));
    socket.ping("still there?");
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), ["first"], "the others wait");
    go.send(()).unwrap();
    for (question, stream) in [("first", "1"), ("second", "2"), ("third", "3")] {
        let events = socket.response();
        assert!(events.iter().all(|event| event["stream_id"] == stream), "{events:?}");
        assert_eq!(words(&events.last().unwrap()["response"]), format!("Well, {question}"));
        if question != "third" {
            go.send(()).unwrap();
        }
    }
    assert_eq!(asked.try_iter().collect::<Vec<_>>(), ["second", "third"]);
}

#[test]
fn an_unstored_response_is_continued_on_its_connection_only() {
    let (script, server) = Script::start(["Yorick.", "The jester.", "Alas."].map(text));
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Whose skull?", &json!({"store": false}));
    let first = socket.object();
    socket.ask("Who was that?", &json!({"store": false, "previous_response_id": first["id"]}));
    let second = socket.object();
    assert_eq!(second["previous_response_id"], first["id"]);
    socket.ask("And?", &json!({"previous_response_id": second["id"], "instructions": "Be brief."}));
    let third = socket.object();
    let asked = script.asked();
    let two = [("user", "Whose skull?"), ("assistant", "Yorick."), ("user", "Who was that?")];
    assert_eq!(messages(&asked[1]), said(&two));
    let all = [&[("system", "Be brief.")], &two[..], &[("assistant", "The jester."), ("user", "And?")]].concat();
    assert_eq!(messages(&asked[2]), said(&all));

    let mut other = Socket::open(&program.address);
    other.ask("And?", &json!({"previous_response_id": second["id"]}));
    assert_eq!(other.next()["error"]["code"], "previous_response_not_found");
    script.then([text("I knew him.")]);
    other.ask("Go on.", &json!({"previous_response_id": third["id"]}));
    assert_eq!(words(&other.object()), "I knew him.");
    let expected =
        [&two[..], &[("assistant", "The jester."), ("user", "And?"), ("assistant", "Alas."), ("user", "Go on.")]];
    assert_eq!(messages(&script.asked()[0]), said(&expected.concat()), "what was stored holds all before it");
}

#[test]
fn a_request_may_prepare_another() {
    let (script, server) = Script::start([text("Yorick.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("A skull lies here.", &json!({"generate": false, "store": false}));
    let prepared = socket.object();
    assert_eq!((&prepared["output"], script.asked().len()), (&json!([]), 0), "no upstream request");
    socket.ask("Whose?", &json!({"store": false, "previous_response_id": prepared["id"]}));
    assert_eq!(words(&socket.object()), "Yorick.");
    assert_eq!(messages(&script.asked()[0]), said(&[("user", "A skull lies here."), ("user", "Whose?")]));
}

#[test]
fn a_call_and_its_output_go_over_one_connection() {
    let tools = json!([{"type": "function", "name": "note", "parameters": {"type": "object", "properties": {}}}]);
    let (script, server) = Script::start([callboard_test_support::calls("", &[("note", json!({}))]), text("Noted.")]);
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("Note it.", &json!({"store": false, "tools": tools}));
    let first = socket.object();
    let call = &first["output"][0];
    assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("note")));
    let output = json!([{"type": "function_call_output", "call_id": call["call_id"], "output": "done"}]);
    let fields = json!({"store": false, "tools": tools, "previous_response_id": first["id"], "input": output});
    socket.ask("", &fields);
    assert_eq!(words(&socket.object()), "Noted.");
    let asked = &script.asked()[1]["messages"];
    assert_eq!((&asked[1]["tool_calls"][0]["id"], &asked[2]["tool_call_id"]), (&call["call_id"], &call["call_id"]));
}

#[test]
fn each_request_of_a_connection_may_have_its_own_trace() {
    let (_, server) = Script::start(["One.", "Two."].map(text));
    let program = Program::with_upstream(&server.url, &[]);
    let mut socket = Socket::open(&program.address);
    for trace in ["4bf92f3577b34da6a3ce929d0e0e4736", "0af7651916cd43dd8448eb211c80319c"] {
        let parent = format!("00-{trace}-00f067aa0ba902b7-01");
        socket.ask("Count.", &json!({"client_metadata": {"ws_request_header_traceparent": parent}}));
        socket.object();
        let newest = ask(&program.address, "GET", "/v1/traces?limit=1", &[], "").body;
        assert_eq!(serde_json::from_str::<Value>(&newest).unwrap()["data"][0]["trace_id"], trace);
    }
}
