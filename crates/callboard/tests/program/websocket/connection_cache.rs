//! The cache of responses on a connection: its size, and the lifetime of its entries.

use callboard_test_support::{Program, ask, greeting_server};
use serde_json::json;

use super::client::Socket;

#[test]
fn the_cache_is_limited_to_the_size_of_a_history() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_LIMITS_HISTORY_BYTES", "2000")]);
    let mut socket = Socket::open(&program.address);
    let ask = |socket: &mut Socket, letters: usize, previous: Option<&str>| {
        let fields = json!({"store": false, "previous_response_id": previous, "generate": false});
        socket.ask(&"x".repeat(letters), &fields);
    };
    ask(&mut socket, 900, None);
    let first = socket.object()["id"].as_str().unwrap().to_owned();
    ask(&mut socket, 600, Some(&first));
    let second = socket.object()["id"].as_str().unwrap().to_owned();
    // Only the newer one fits, and it can be continued more than once.
    ask(&mut socket, 600, Some(&second));
    let large = socket.object()["id"].as_str().unwrap().to_owned();
    for (previous, code) in [(&first, "previous_response_not_found"), (&large, "context_length_exceeded")] {
        ask(&mut socket, 10, Some(previous));
        let refused = socket.next();
        assert_eq!((&refused["status"], &refused["error"]["code"]), (&json!(400), &json!(code)), "{refused}");
    }
    ask(&mut socket, 10, Some(&second));
    socket.object();
}

#[test]
fn a_cached_response_can_be_continued_after_it_was_deleted() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut socket = Socket::open(&program.address);
    socket.ask("The first words.", &json!({"store": true}));
    let first = socket.object()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/responses/{first}");
    assert_eq!(ask(&program.address, "DELETE", &path, &[], "").status, 200);
    socket.ask("The second words.", &json!({"store": true, "previous_response_id": first}));
    let second = socket.object()["id"].as_str().unwrap().to_owned();
    let input = ask(&program.address, "GET", &format!("/v1/responses/{second}/input_items"), &[], "");
    assert!(input.body.contains("The first words.") && input.body.contains("The second words."), "{input:?}");
    let next = json!({"model": "m", "input": "Hi", "previous_response_id": second}).to_string();
    assert_eq!(ask(&program.address, "POST", "/v1/responses", &[], &next).status, 200);
}
