//! Streams of server-sent events: how they are written, and how they end.

use callboard_test_support::{ModelServer, Program, Script, ask, calls, greeting_server};
use serde_json::{Value, json};

use super::requests::{JSON, create, events};
use super::schema::check_event;

fn kinds(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn events_carry_their_names_and_numbers_and_the_end_is_marked() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let answer = create(&program, &json!({"stream": true}));
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream")));
    assert!(!answer.body.lines().any(|line| line.starts_with("id:")), "{answer:?}");
    let events = events(&answer);
    for (number, (name, event)) in events.iter().enumerate() {
        assert_eq!((&event["type"], &event["sequence_number"]), (&json!(name), &json!(number)));
    }
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    let mut kinds = kinds(&events);
    kinds.dedup();
    assert_eq!(kinds, expected);
}

#[test]
fn the_events_of_a_call_have_its_name() {
    let (_, server) = Script::start([calls("", &[("f", json!({"a": 1}))])]);
    let program = Program::with_upstream(&server.url, &[]);
    let answer = create(&program, &json!({"stream": true, "tools": [{"type": "function", "name": "f"}]}));
    let events = events(&answer);
    let of = |kind: &str| &events.iter().find(|(name, _)| name == kind).unwrap_or_else(|| panic!("{kind}")).1;
    assert_eq!(of("response.output_item.added")["item"]["name"], "f");
    let done = of("response.function_call_arguments.done");
    assert_eq!((&done["name"], &done["arguments"]), (&json!("f"), &json!("{\"a\":1}")));
}

#[test]
fn citations_and_probabilities_have_all_their_fields() {
    let server = ModelServer::start(|mut exchange| {
        let logprobs = json!({"content": [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]});
        let citation = json!({"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1}});
        exchange.begin_stream();
        let chunks = [
            json!({"choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": logprobs}]}),
            json!({"choices": [{"index": 0, "delta": {"annotations": [citation]}}]}),
        ];
        chunks.iter().for_each(|chunk| exchange.event(&chunk.to_string()));
        exchange.finish("stop");
    });
    let program = Program::with_upstream(&server.url, &[]);
    let events = events(&create(&program, &json!({"stream": true, "top_logprobs": 1})));
    let delta =
        events.iter().find(|(_, event)| event["logprobs"][0]["token"] == "a").expect("probabilities in an event");
    assert_eq!(delta.1["logprobs"][0]["bytes"], json!([97]));
    let added = events.iter().find(|(name, _)| name == "response.output_text.annotation.added").expect("an annotation");
    let expected =
        json!({"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 0, "end_index": 1});
    assert_eq!((&added.1["annotation"], &added.1["annotation_index"]), (&expected, &json!(0)));
    let last = &events.last().unwrap().1["response"];
    assert_eq!(last["output"][0]["content"][0]["annotations"], json!([expected]));
}

#[test]
fn a_failure_ends_with_the_failed_response_and_the_mark() {
    let server = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.text("Once ");
        exchange.event(&json!({"error": {"message": "out of memory"}}).to_string());
    });
    let program = Program::with_upstream(&server.url, &[]);
    let events = events(&create(&program, &json!({"stream": true})));
    let [.., (error, _), (failed, last)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((error.as_str(), failed.as_str()), ("error", "response.failed"));
    assert_eq!((&last["response"]["status"], &last["response"]["usage"]), (&json!("failed"), &Value::Null));
    assert!(last["response"]["error"]["code"].is_string() && last["response"]["error"]["message"].is_string());
    assert_ne!(last["response"]["output"][0]["status"], "incomplete", "that ends an incomplete response only");
}

/// Each is a delta or a change of state, and an item begins with a value, or an empty one, in every field that may not be null.
#[test]
fn every_event_fits_its_schema() {
    let stream = |deltas: &[Value], reason: &str| {
        let (deltas, reason) = (deltas.to_vec(), reason.to_owned());
        let server = ModelServer::start(move |mut exchange| {
            exchange.begin_stream();
            for delta in &deltas {
                exchange.event(&json!({"choices": [{"index": 0, "delta": delta}]}).to_string());
            }
            exchange.finish(&reason);
        });
        let program = Program::with_upstream(&server.url, &[]);
        let tools = json!([{"type": "function", "name": "f"}]);
        events(&create(&program, &json!({"stream": true, "tools": tools})))
    };
    let call = json!({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}]});
    for (deltas, reason, kind, begins) in [
        (
            vec![json!({"content": "Yes"}), json!({"content": "."})],
            "stop",
            "message",
            json!({"role": "assistant", "content": []}),
        ),
        (vec![json!({"refusal": "No."})], "stop", "message", json!({"role": "assistant", "content": []})),
        (
            vec![json!({"reasoning_content": "Hm."}), json!({"content": "Yes."})],
            "stop",
            "reasoning",
            json!({"summary": []}),
        ),
        (vec![call], "tool_calls", "function_call", json!({"name": "f", "arguments": ""})),
        (vec![json!({"content": "Once upon"})], "length", "message", json!({"role": "assistant", "content": []})),
    ] {
        let events = stream(&deltas, reason);
        events.iter().for_each(|(_, event)| check_event(event));
        let (name, first) = events.iter().find(|(_, event)| event.get("item").is_some()).unwrap();
        assert_eq!((name.as_str(), &first["item"]["type"]), ("response.output_item.added", &json!(kind)));
        assert_eq!(first["item"]["status"], "in_progress");
        for (field, value) in begins.as_object().unwrap() {
            assert_eq!(&first["item"][field], value, "{first}");
        }
    }
}

#[test]
fn a_refused_request_is_no_stream() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let body = json!({"model": "m", "input": 5, "stream": true}).to_string();
    let answer = ask(&program.address, "POST", "/v1/responses", &JSON, &body);
    assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")));
}
