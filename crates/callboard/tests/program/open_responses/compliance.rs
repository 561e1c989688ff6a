//! What the compliance suite of Open Responses asks of a server, as tests of our own: 17 cases against one program, over HTTP, as streams and on
//! WebSockets, with a key. The names are those of the suite.

use callboard_test_support::{Answer, ModelServer, Program, ask};
use serde_json::{Value, json};

use super::requests::{JSON, events};
use super::schema::{check_compaction, check_envelope, check_event, check_response};
use crate::websocket::client::Socket;

const KEY: &str = "compliance";
const AUTHORIZATION: &str = "authorization: Bearer compliance";
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A program in front of a model that calls a tool where it has one, and otherwise answers.
struct Suite {
    program: Program,
}

impl Suite {
    fn start() -> Self {
        let server = ModelServer::start(|mut exchange| {
            let asked = exchange.request();
            if asked["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
                let function =
                    json!({"name": asked["tools"][0]["function"]["name"], "arguments": "{\"location\":\"Paris\"}"});
                let call = json!({"id": "call_1", "type": "function", "function": function});
                let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
                let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
                return exchange.json(200, &json!({"choices": [choice]}).to_string());
            }
            exchange.answer("Hello there.");
        });
        Self { program: Program::with_upstream(&server.url, &[("CALLBOARD_API_KEYS", KEY)]) }
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        ask(&self.program.address, "POST", path, &[JSON[0], AUTHORIZATION], &body.to_string())
    }

    fn create(&self, input: &Value, fields: &Value) -> Answer {
        self.post("/v1/responses", &request(input, fields))
    }

    /// A whole response that fits its schema and is complete.
    fn completed(&self, input: &Value, fields: &Value) -> Value {
        let response = self.create(input, fields).ok();
        assert_completed(&response);
        response
    }

    fn socket(&self) -> Socket {
        Socket::open_with(&self.program.address, Some(KEY)).unwrap()
    }
}

fn request(input: &Value, fields: &Value) -> Value {
    let mut body = json!({"model": "m", "input": input});
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    body
}

fn assert_completed(response: &Value) {
    check_response(response);
    assert_eq!(response["status"], "completed");
    assert!(!response["output"].as_array().unwrap().is_empty(), "{response}");
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": text})
}

/// A turn on a WebSocket: each of its messages is an event, and the last one has the response.
fn turn(socket: &mut Socket, input: &Value, fields: &Value) -> Value {
    let mut create = request(input, fields);
    create["type"] = "response.create".into();
    socket.send(tungstenite::Message::text(create.to_string()));
    let events = socket.response();
    events.iter().for_each(check_event);
    let response = events.last().unwrap()["response"].clone();
    assert_completed(&response);
    response
}

/// A turn on a WebSocket that fails with one event.
fn failing_turn(socket: &mut Socket, input: &Value, fields: &Value) -> Value {
    let mut create = request(input, fields);
    create["type"] = "response.create".into();
    socket.send(tungstenite::Message::text(create.to_string()));
    let event = socket.next();
    check_envelope(&event);
    event["error"]["code"].clone()
}

#[test]
fn basic_response_system_prompt_and_multi_turn() {
    let suite = Suite::start();
    suite.completed(&json!([message("user", "Say hello in exactly 3 words.")]), &json!({}));
    suite.completed(&json!([message("system", "You are a pirate."), message("user", "Say hello.")]), &json!({}));
    let turns = [
        message("user", "My name is Alice."),
        message("assistant", "Hello Alice!"),
        message("user", "What is my name?"),
    ];
    suite.completed(&json!(turns), &json!({}));
}

#[test]
fn assistant_phase_and_response_output_phase_schema() {
    let suite = Suite::start();
    let phased =
        |text: &str, phase: &str| json!({"type": "message", "role": "assistant", "content": text, "phase": phase});
    let input =
        json!([phased("Let me look.", "commentary"), phased("Done.", "final_answer"), message("user", "Thanks.")]);
    suite.completed(&input, &json!({}));
    // The schema that answers are checked with takes a phase, and none that is no text.
    let item = |phase: Value| json!({"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "phase": phase, "content": []});
    super::schema::check_item(&item(json!("final_answer")));
    assert!(std::panic::catch_unwind(|| super::schema::check_item(&item(json!(1)))).is_err());
}

#[test]
fn streaming_response() {
    let suite = Suite::start();
    let answer = suite.create(&json!([message("user", "Count from 1 to 5.")]), &json!({"stream": true}));
    let events = events(&answer);
    events.iter().for_each(|(_, event)| check_event(event));
    assert_completed(&events.last().unwrap().1["response"]);
}

#[test]
fn image_input() {
    let parts = json!([{"type": "input_text", "text": "What is this?"}, {"type": "input_image", "image_url": PIXEL}]);
    Suite::start().completed(&json!([{"type": "message", "role": "user", "content": parts}]), &json!({}));
}

#[test]
fn tool_calling() {
    let parameters =
        json!({"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]});
    let tool =
        json!({"type": "function", "name": "get_weather", "description": "The weather.", "parameters": parameters});
    let input = json!([message("user", "What is the weather in Paris?")]);
    let response = Suite::start().create(&input, &json!({"tools": [tool]})).ok();
    check_response(&response);
    assert!(response["output"].as_array().unwrap().iter().any(|item| item["type"] == "function_call"), "{response}");
}

#[test]
fn websocket_response_and_sequential_responses() {
    let suite = Suite::start();
    turn(&mut suite.socket(), &json!([message("user", "Hi")]), &json!({}));
    let mut socket = suite.socket();
    let ids = ["One.", "Two."].map(|text| turn(&mut socket, &json!([message("user", text)]), &json!({"store": false})));
    assert_ne!(ids[0]["id"], ids[1]["id"]);
}

#[test]
fn websocket_continuation() {
    let (suite, unstored) = (Suite::start(), json!({"store": false}));
    let mut socket = suite.socket();
    let first = turn(&mut socket, &json!([message("user", "My name is Alice.")]), &unstored);
    let fields = json!({"store": false, "previous_response_id": first["id"]});
    turn(&mut socket, &json!([message("user", "What is my name?")]), &fields);
}

#[test]
fn websocket_reconnect_store_false_recovery() {
    let (suite, unstored) = (Suite::start(), json!({"store": false}));
    let first = turn(&mut suite.socket(), &json!([message("user", "Hi")]), &unstored);
    let mut socket = suite.socket();
    let fields = json!({"store": false, "previous_response_id": first["id"]});
    assert_eq!(failing_turn(&mut socket, &json!([message("user", "Go on.")]), &fields), "previous_response_not_found");
    turn(
        &mut socket,
        &json!([message("user", "Hi"), message("assistant", "Hello."), message("user", "Go on.")]),
        &unstored,
    );
}

#[test]
fn websocket_previous_response_not_found() {
    let fields = json!({"store": false, "previous_response_id": "resp_that_never_was"});
    let code = failing_turn(&mut Suite::start().socket(), &json!([message("user", "Go on.")]), &fields);
    assert_eq!(code, "previous_response_not_found");
}

#[test]
fn websocket_failed_continuation_evicts_cache() {
    let suite = Suite::start();
    let mut socket = suite.socket();
    let first = turn(&mut socket, &json!([message("user", "Hi")]), &json!({"store": false}));
    let fields = json!({"store": false, "previous_response_id": first["id"]});
    let orphan = json!([{"type": "function_call_output", "call_id": "call_that_never_was", "output": "{}"}]);
    failing_turn(&mut socket, &orphan, &fields);
    assert_eq!(failing_turn(&mut socket, &json!([message("user", "Go on.")]), &fields), "previous_response_not_found");
}

#[test]
fn websocket_compact_new_chain() {
    let suite = Suite::start();
    let input = [message("user", "The code is 4711."), message("assistant", "Noted."), message("user", "Good.")];
    let compacted = suite.post("/v1/responses/compact", &json!({"model": "m", "input": input})).ok();
    let mut input = compacted["output"].as_array().unwrap().clone();
    input.push(message("user", "Which code?"));
    turn(&mut suite.socket(), &json!(input), &json!({"tools": [], "store": false}));
}

#[test]
fn compact_response() {
    let input = [message("user", "The code is 4711."), message("assistant", "Noted.")];
    let body = json!({"model": "m", "input": input, "prompt_cache_key": "case"});
    let object = Suite::start().post("/v1/responses/compact", &body).ok();
    check_compaction(&object);
    assert!(object["output"].as_array().unwrap().iter().any(|item| item["type"] == "compaction"), "{object}");
}

#[test]
fn compact_missing_model() {
    let refused = Suite::start().post("/v1/responses/compact", &json!({"input": [message("user", "Hi")]}));
    assert!([400, 422].contains(&refused.status), "{refused:?}");
}
