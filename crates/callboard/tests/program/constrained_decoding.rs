//! Calls by constrained decoding in front of servers that constrain in one way, in another, or not at all.

use std::sync::{Arc, Mutex};

use callboard_test_support::{ModelServer, Program, post};
use serde_json::{Value, json};

/// What a server does with a request that is to be constrained.
#[derive(Clone, Copy)]
enum Behavior {
    Honors,
    Ignores,
    Refuses,
}

/// A server whose model decides for `add` with the arguments 1 and 2, and says what it was asked for.
fn server(named: Behavior, format: Behavior, log: &Arc<Mutex<Vec<&'static str>>>) -> ModelServer {
    let log = Arc::clone(log);
    ModelServer::start(move |mut exchange| {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"data":[{"id":"m","object":"model"}]}"#);
        }
        let request = exchange.request();
        let (behavior, kind, field) = match (request["tool_choice"].is_object(), request.get("response_format")) {
            (true, _) => (named, "named", "tool_choice"),
            (false, Some(_)) => (format, "format", "response_format"),
            (false, None) => (Behavior::Ignores, "plain", ""),
        };
        log.lock().unwrap().push(kind);
        match behavior {
            Behavior::Refuses => {
                let message = format!("{field} is not supported");
                exchange.json(400, &json!({"error": {"message": message}}).to_string());
            }
            Behavior::Ignores if kind == "plain" && exchange.body.contains("<tool_call>") => {
                let text = r#"<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>"#;
                exchange.json(200, &reply(&json!({"role": "assistant", "content": text})).to_string());
            }
            Behavior::Ignores => exchange.answer("I would add them."),
            Behavior::Honors => exchange.json(200, &constrained(&request).to_string()),
        }
    })
}

/// A reply that fits its constraint.
fn constrained(request: &Value) -> Value {
    let message = match request.get("response_format") {
        None => {
            let function = &request["tools"][0]["function"];
            let arguments = sample(&function["parameters"]).to_string();
            let call = json!({"name": function["name"], "arguments": arguments});
            json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": call}]})
        }
        Some(format) => json!({"role": "assistant", "content": sample(&format["json_schema"]["schema"]).to_string()}),
    };
    reply(&message)
}

fn reply(message: &Value) -> Value {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11});
    json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})
}

fn sample(schema: &Value) -> Value {
    let properties = &schema["properties"];
    match (properties.get("tool"), properties.get("name")) {
        (Some(_), _) => json!({"tool": "add"}),
        (None, Some(_)) => json!({"name": "add", "arguments": {"a": 1, "b": 2}}),
        (None, None) => json!({"a": 1, "b": 2}),
    }
}

fn request(choice: &str, stream: bool) -> String {
    let number = json!({"type": "integer"});
    let parameters = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let add =
        json!({"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": parameters}});
    let bell = json!({"type": "function", "function": {"name": "ring", "description": "Rings."}});
    json!({"model": "m", "stream": stream, "messages": [{"role": "user", "content": "One plus two?"}],
        "tools": [add, bell], "tool_choice": choice})
    .to_string()
}

fn constrained_program(server: &ModelServer) -> Program {
    let settings = format!("[[upstream]]\nurl = \"{}\"\ntools = \"constrained\"\n", server.url);
    Program::with_settings(&settings, &[], &[])
}

#[test]
fn a_call_is_made_in_the_way_that_the_server_has() {
    use Behavior::{Honors, Ignores, Refuses};
    let table: [(Behavior, Behavior, &[&str]); 5] = [
        (Honors, Honors, &["named", "named", "named", "named"]),
        (Refuses, Honors, &["named", "format", "format", "format", "format"]),
        (Ignores, Honors, &["named", "format", "format", "format", "format"]),
        (Refuses, Refuses, &["named", "format", "plain", "plain"]),
        (Ignores, Ignores, &["named", "format", "plain", "plain"]),
    ];
    for (row, (named, format, expected)) in table.into_iter().enumerate() {
        for choice in ["auto", "required"] {
            let log = Arc::default();
            let server = server(named, format, &log);
            let program = constrained_program(&server);
            for stream in [false, true] {
                let answer = post(&program.address, &request(choice, stream));
                assert_eq!(answer.status, 200, "row {row}, {choice}: {}", answer.body);
                assert!(answer.body.contains(r#""name":"add""#), "row {row}, {choice}: {}", answer.body);
                assert!(answer.body.contains("tool_calls"), "row {row}, {choice}: {}", answer.body);
            }
            assert_eq!(*log.lock().unwrap(), expected, "row {row}, {choice}");
        }
    }
}

#[test]
fn the_tokens_of_both_requests_are_counted() {
    let log = Arc::default();
    let server = server(Behavior::Honors, Behavior::Honors, &log);
    let program = constrained_program(&server);
    let reply: Value = serde_json::from_str(&post(&program.address, &request("auto", false)).body).unwrap();
    let usage = &reply["usage"];
    assert_eq!((&usage["prompt_tokens"], &usage["completion_tokens"]), (&json!(20), &json!(2)), "{reply}");
}

#[test]
fn a_refusal_for_another_reason_reaches_the_client() {
    let server = ModelServer::start(|mut exchange| {
        exchange.json(
            400,
            r#"{"error":{"message":"the prompt is longer than the context","code":"context_length_exceeded"}}"#,
        );
    });
    let answer = post(&constrained_program(&server).address, &request("auto", false));
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("longer than the context"), "{}", answer.body);
}

/// A server that constrained its answers before is not written off for one that it did not.
#[test]
fn one_odd_answer_changes_nothing_for_later_requests() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let kinds = Arc::clone(&log);
    let server = ModelServer::start(move |mut exchange| {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"data":[{"id":"m","object":"model"}]}"#);
        }
        let request = exchange.request();
        let kind = if request["tool_choice"].is_object() { "named" } else { "plain" };
        let mut log = kinds.lock().unwrap();
        log.push(kind);
        match (kind, log.len()) {
            ("plain", _) | (_, 3) => exchange.answer("Well."),
            _ => exchange.json(200, &constrained(&request).to_string()),
        }
    });
    let program = constrained_program(&server);
    let calls = [(), (), ()].map(|()| post(&program.address, &request("auto", false)).body.contains("tool_calls"));
    assert_eq!(calls, [true, false, true]);
    assert_eq!(*log.lock().unwrap(), ["named", "named", "named", "plain", "named", "named"]);
}
