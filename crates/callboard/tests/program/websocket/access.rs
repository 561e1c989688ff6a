//! Access: API keys are checked before the upgrade, and other requests are refused.

use callboard_test_support::{Program, ask, greeting_server};
use serde_json::json;

use super::client::{Socket, words};

#[test]
fn a_key_is_required_for_the_handshake() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one,two")]);
    for key in [None, Some("three")] {
        let refused = Socket::open_with(&program.address, key).err().expect("a closed door");
        assert_eq!((refused.status, &refused.body["error"]["code"]), (401, &json!("invalid_api_key")), "{key:?}");
    }
    let mut socket = Socket::open_with(&program.address, Some("two")).expect("an open door");
    socket.ask("Hi", &json!({}));
    assert_eq!(words(&socket.object()), "Hello.");
}

#[test]
fn responses_of_another_key_are_not_found() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one,two")]);
    let open = |key| Socket::open_with(&program.address, Some(key)).unwrap();
    let mut mine = open("one");
    mine.ask("Hi", &json!({}));
    let made = mine.object();
    let mut theirs = open("two");
    theirs.ask("Hi", &json!({"previous_response_id": made["id"]}));
    assert_eq!(theirs.next()["error"]["code"], "previous_response_not_found");
    let mut mine = open("one");
    mine.ask("Hi", &json!({"previous_response_id": made["id"]}));
    assert_eq!(words(&mine.object()), "Hello.", "the same key may go on from another connection");
}

#[test]
fn only_websocket_upgrades_are_accepted() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let headers: [&[&str]; 3] = [
        &[],
        &["upgrade: websocket"],
        &[
            "upgrade: websocket",
            "connection: upgrade",
            "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
            "sec-websocket-version: 8",
        ],
    ];
    for headers in headers {
        let refused = ask(&program.address, "GET", "/v1/responses", headers, "");
        assert_eq!((refused.status, refused.error("code").as_str()), (426, "upgrade_required"), "{headers:?}");
    }
}

#[test]
fn a_removed_key_is_refused_on_an_open_connection() {
    let program =
        Program::with_settings("api_keys = [\"one\", \"two\"]\n", &["--upstream", &greeting_server().url], &[]);
    let mut socket = Socket::open_with(&program.address, Some("one")).unwrap();
    socket.ask("Hi", &json!({}));
    socket.object();
    std::fs::write(program.folder().join("callboard.toml"), "api_keys = [\"two\"]\n").unwrap();
    program.hang_up();
    while ask(&program.address, "GET", "/v1/models", &["authorization: Bearer one"], "").status == 200 {
        std::thread::yield_now();
    }
    socket.ask("Hi", &json!({}));
    assert_eq!(socket.next()["error"]["code"], "invalid_api_key");
}
