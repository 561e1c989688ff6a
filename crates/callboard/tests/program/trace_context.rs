//! A turn within a caller's trace: which spans are exported, under which trace id, and which headers model servers get.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use callboard_test_support::{ModelServer, Program, ask};
use serde_json::{Value, json};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";
const REQUEST: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;

/// A model server that reports the headers of its requests.
fn model() -> (ModelServer, Arc<Mutex<Vec<String>>>) {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&heads);
    let server = ModelServer::start(move |mut exchange| {
        recorded.lock().unwrap().push(exchange.headers.clone());
        exchange.answer("Hello.");
    });
    (server, heads)
}

/// A collector that reports the spans it receives.
fn collector() -> (ModelServer, Receiver<Vec<Value>>) {
    let (sender, got) = channel();
    let sender = Mutex::new(sender);
    let server = ModelServer::start(move |mut exchange| {
        let body: Value = exchange.request();
        let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
        sender.lock().unwrap().send(spans).unwrap();
        exchange.json(200, "{}");
    });
    (server, got)
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn parent(flags: &str) -> String {
    format!("00-{TRACE}-{SPAN}-{flags}")
}

fn say(program: &Program, headers: &[&str]) -> Value {
    assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", headers, REQUEST).status, 200);
    let newest = ask(&program.address, "GET", "/v1/traces?limit=1", &[], "").body;
    serde_json::from_str::<Value>(&newest).unwrap()["data"][0].clone()
}

#[test]
fn a_turn_is_a_part_of_its_callers_trace() {
    let ((server, heads), (collector, spans)) = (model(), collector());
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_OTLP_ENDPOINT", collector.url.as_str())]);
    let sampled = format!("traceparent: {}", parent("01"));
    let trace = say(&program, &[&sampled, "tracestate: congo=t61, rojo=1"]);
    assert_eq!((&trace["trace_id"], &trace["parent_span_id"]), (&json!(TRACE), &json!(SPAN)));
    assert_ne!(trace["id"], trace["trace_id"], "the same caller may ask often");
    let spans = spans.recv().unwrap();
    let (turn, chat) = (&spans[0], &spans[1]);
    assert_eq!((&turn["traceId"], &turn["parentSpanId"]), (&json!(TRACE), &json!(SPAN)));
    assert_eq!((&turn["spanId"], &turn["traceState"]), (&trace["span_id"], &json!("congo=t61, rojo=1")));
    assert_eq!((&chat["traceId"], &chat["parentSpanId"]), (&json!(TRACE), &turn["spanId"]));
    assert_eq!(chat["spanId"], trace["upstream_requests"][0]["span_id"]);
    let head = heads.lock().unwrap().remove(0);
    let expected = format!("00-{TRACE}-{}-01", chat["spanId"].as_str().unwrap());
    assert_eq!(header(&head, "traceparent"), Some(expected.as_str()));
    assert_eq!(header(&head, "tracestate"), Some("congo=t61, rojo=1"));
}

#[test]
fn an_unsampled_caller_is_respected_and_a_bad_header_is_ignored() {
    let ((server, heads), (collector, spans)) = (model(), collector());
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_OTLP_ENDPOINT", collector.url.as_str())]);
    let unsampled = say(&program, &[&format!("traceparent: {}", parent("00"))]);
    assert_eq!(unsampled["trace_id"], TRACE, "it is stored here all the same");
    let bad = say(&program, &["traceparent: 00-nonsense-00f067aa0ba902b7-01", "tracestate: a=1"]);
    assert_eq!((&bad["trace_id"], &bad["parent_span_id"]), (&bad["id"], &Value::Null));
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let mut sent: Vec<Value> = Vec::new();
    // An export that the shutdown interrupts is repeated, with the same ids.
    for span in spans.try_iter().flatten() {
        if sent.iter().all(|known| known["spanId"] != span["spanId"]) {
            sent.push(span);
        }
    }
    assert!(sent.len() == 2 && sent.iter().all(|span| span["traceId"] == bad["id"]), "{sent:?}");
    let heads = heads.lock().unwrap();
    assert_eq!(header(&heads[0], "traceparent"), Some(parent("00").as_str()), "only exported spans are sent");
    let own = format!("00-{}-{}-01", bad["id"].as_str().unwrap(), sent[1]["spanId"].as_str().unwrap());
    assert_eq!((header(&heads[1], "traceparent"), header(&heads[1], "tracestate")), (Some(own.as_str()), None));
}

#[test]
fn without_a_collector_the_callers_headers_are_forwarded() {
    let (server, heads) = model();
    for mode in ["enforce", "observe"] {
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_CONTRACT_MODE", mode)]);
        say(&program, &[]);
        say(&program, &[&format!("traceparent: {}", parent("01")), "tracestate: a=1"]);
        let heads = std::mem::take(&mut *heads.lock().unwrap());
        let sent: Vec<_> = heads.iter().map(|head| (header(head, "traceparent"), header(head, "tracestate"))).collect();
        assert_eq!(sent, [(None, None), (Some(parent("01").as_str()), Some("a=1"))], "{mode}");
    }
}
