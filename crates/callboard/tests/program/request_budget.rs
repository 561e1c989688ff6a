//! What one request may cost: small texts that become large when they are parsed, from clients and from model servers, are refused with the
//! name of the limit, and the program keeps its size. A reply that keeps a thread busy for too long ends.

use callboard_test_support::{Answer, ModelServer, Program, ask, greeting_server, new_conversation, post};
use serde_json::json;

const MIB: usize = 1 << 20;
/// A limit that the program's own size does not hide: what it grows by in these tests stays below twice this.
const LIMIT: &str = "64 MiB";
const SETTINGS: [(&str, &str); 1] = [("CALLBOARD_LIMITS_REQUEST_MEMORY_BYTES", LIMIT)];

/// A list of very many values, in so many bytes.
fn junk(bytes: usize) -> String {
    format!("[{}[]]", "[],".repeat(bytes / 3))
}

fn assert_over_limit(refused: &Answer, status: u16, about: &str) {
    assert_eq!(refused.status, status, "{about}: {refused:?}");
    let message = refused.error("message");
    assert!(message.contains("limits.request_memory_bytes of 67108864 bytes"), "{about}: {message}");
}

fn assert_kept_its_size(program: &Program, about: &str) {
    let peak = program.peak_memory();
    assert!(peak < 150 * MIB, "{about}: {} MiB", peak / MIB);
}

#[test]
fn small_bodies_that_become_large_are_refused() {
    let program = Program::with_upstream(&greeting_server().url, &SETTINGS);
    let junk = junk(7 * MIB);
    let conversation = format!("/v1/conversations/{}/items", new_conversation(&program.address));
    let rows = [
        ("/v1/chat/completions", r#"{"model":"m","messages":[{"role":"user","content":$}]}"#),
        ("/v1/chat/completions", r#"{"model":"m","messages":[{"role":"user","content":"a"}],"tools":$}"#),
        ("/v1/responses", r#"{"model":"m","input":[{"role":"user","content":"a","x":$}]}"#),
        ("/v1/responses", r#"{"model":"m","input":"a","metadata":$}"#),
        ("/v1/conversations", r#"{"items":[{"role":"user","content":"a","x":$}]}"#),
        (&conversation, r#"{"items":[{"role":"user","content":"a","x":$}]}"#),
    ];
    for (path, body) in rows {
        let refused = ask(&program.address, "POST", path, &[], &body.replace('$', &junk));
        assert_over_limit(&refused, 413, body);
        assert_eq!(refused.error("code"), "request_too_large");
    }
    assert_kept_its_size(&program, "bodies");
}

#[test]
fn texts_full_of_commas_are_not_taken_for_values() {
    let program = Program::with_upstream(&greeting_server().url, &SETTINGS);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": ",[{:".repeat(MIB)}]}).to_string();
    assert_eq!(post(&program.address, &body).status, 200);
}

#[test]
fn a_history_that_becomes_large_is_refused() {
    let program = Program::with_upstream(&greeting_server().url, &SETTINGS);
    let conversation = new_conversation(&program.address);
    let (items, id) = (format!("/v1/conversations/{conversation}/items"), json!(conversation));
    // Each is within the limit, all together are not.
    let item = format!(r#"{{"items":[{{"role":"user","content":"a","x":{}}}]}}"#, junk(MIB / 2));
    let added = (0..4).map(|_| ask(&program.address, "POST", &items, &[], &item));
    let refused = added.into_iter().find(|answer| answer.status != 200);
    let body = json!({"model": "m", "conversation": id, "input": "Hi"}).to_string();
    let refused = refused.unwrap_or_else(|| ask(&program.address, "POST", "/v1/responses", &[], &body));
    assert_over_limit(&refused, 413, "history");
    assert_kept_its_size(&program, "history");
}

#[test]
fn small_replies_that_become_large_are_refused() {
    let whole = |message: &str, junk: &str| {
        format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#).replace('$', junk)
    };
    let server = ModelServer::start(move |mut exchange| {
        let junk = junk(8 * MIB);
        match exchange.request()["user"].as_str() {
            Some("content") => exchange.json(200, &whole(r#"{"role":"assistant","content":$}"#, &junk)),
            Some("unknown") => exchange.json(200, &whole(r#"{"role":"assistant","content":"a","x":$}"#, &junk)),
            _ => {
                exchange.begin_stream();
                exchange.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"a"}},"x":{junk}}}]}}"#));
                exchange.finish("stop");
            }
        }
    });
    let program = Program::with_upstream(&server.url, &SETTINGS);
    for (user, stream) in [("content", false), ("unknown", false), ("event", true)] {
        let body =
            json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "user": user, "stream": stream});
        assert_over_limit(&post(&program.address, &body.to_string()), 502, user);
    }
    assert_kept_its_size(&program, "replies");
}

#[test]
fn replies_in_flight_share_the_memory_of_all_requests() {
    let server = ModelServer::start(|mut exchange| exchange.answer(&"a".repeat(3 * MIB)));
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_LIMITS_MEMORY_BYTES", "2 MiB")]);
    let refused = post(&program.address, r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#);
    assert_eq!((refused.status, refused.error("code").as_str()), (503, "overloaded"), "{refused:?}");
    assert!(refused.error("message").contains("limits.memory_bytes"), "{refused:?}");
}

#[test]
fn a_reply_that_keeps_a_thread_busy_ends() {
    let server = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        for _ in 0..20_000 {
            exchange.text("word ");
        }
        exchange.finish("stop");
    });
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_BUSY_SECONDS", "0.001")]);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true}).to_string();
    let cut = post(&program.address, &body);
    assert!(
        cut.body.contains("too_much_work") && cut.body.contains("timeouts.busy_seconds of 0.001 s"),
        "{}",
        cut.body
    );
    assert!(!cut.body.contains("[DONE]"));
}
