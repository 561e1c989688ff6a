//! Events for pages: what changed, for those who may see it, also after a pause and by another instance.

use callboard_test_support::{
    COUNTER, CharacterFolder, Connection, Program, Script, ask, greeting_server, new_conversation, post,
};
use serde_json::{Value, json};
use tempfile::TempDir;

fn listen(program: &Program, query: &str, headers: &[&str]) -> Connection {
    let mut events = Connection::send(&program.address, "GET", &format!("/v1/events{query}"), headers, "");
    assert_eq!(next(&mut events).0, "ready");
    events
}

/// The next event: its name, its id and its data.
fn next(events: &mut Connection) -> (String, String, Value) {
    let mut field = |name: &str| {
        let line = events.read_until(&format!("{name}: ")).unwrap();
        line.trim_end().split_once(": ").unwrap().1.to_owned()
    };
    let (event, id, data) = (field("event"), field("id"), field("data"));
    (event, id, serde_json::from_str(&data).unwrap())
}

fn wait_for(events: &mut Connection, wanted: &str) -> (String, Value) {
    loop {
        let (event, id, data) = next(events);
        if event == wanted {
            return (id, data);
        }
    }
}

fn add(program: &Program, conversation: &str) {
    let body = json!({"conversation": conversation, "arguments": {"number": 1}}).to_string();
    ask(&program.address, "POST", "/v1/characters/counter/tools/add", &[], &body).ok();
}

#[test]
fn turns_and_changes_are_announced() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (_, server) = Script::start([]);
    let program = folder.serve(&server);
    let (watched, other) = (new_conversation(&program.address), new_conversation(&program.address));
    let mut events = listen(&program, &format!("?conversation={watched}"), &[]);
    add(&program, &other);
    add(&program, &watched);
    let (_, data) = wait_for(&mut events, "conversation");
    assert_eq!(data, json!({"id": watched, "version": 1}));
    ask(&program.address, "POST", &format!("/v1/conversations/{watched}/undo"), &[], r#"{"last": 1}"#).ok();
    assert_eq!(wait_for(&mut events, "conversation").1, json!({"id": watched, "version": 2}));
    ask(&program.address, "DELETE", &format!("/v1/conversations/{watched}"), &[], "").ok();
    assert_eq!(wait_for(&mut events, "conversation").1, json!({"id": watched, "version": null}));
}

#[test]
fn a_turn_of_any_client_is_announced_with_its_trace() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let mut events = listen(&program, "", &[]);
    post(&program.address, r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#).ok();
    let (_, data) = wait_for(&mut events, "turns");
    let traces = ask(&program.address, "GET", "/v1/traces", &[], "").ok();
    assert_eq!(data, json!({"newest": traces["data"][0]["id"]}));
}

#[test]
fn a_listener_that_comes_back_learns_what_changed_meanwhile() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (_, server) = Script::start([]);
    let place = TempDir::new().unwrap();
    let store = format!("sqlite:{}", place.path().join("store.db").display());
    let start = || {
        let flags = ["--upstream", &server.url, "--characters", folder.path(), "--store", &store, "--model", "m"];
        Program::start(&flags, &[])
    };
    let (first, second) = (start(), start());
    let watched = new_conversation(&first.address);
    let query = format!("?conversation={watched}");
    let mut events = listen(&first, &query, &[]);
    add(&first, &watched);
    let (id, _) = wait_for(&mut events, "conversation");
    // Another instance on the same store announces nothing here, and is seen all the same.
    add(&second, &watched);
    assert_eq!(wait_for(&mut events, "conversation").1["version"], 2);
    first.kill();
    let resumed = format!("last-event-id: {id}");
    let mut events = listen(&second, &query, &[&resumed]);
    assert_eq!(wait_for(&mut events, "conversation").1["version"], 2);
}

#[test]
fn what_cannot_be_listened_to_is_refused() {
    let keys = [("CALLBOARD_API_KEYS", "one,two")];
    let program = Program::with_upstream(&greeting_server().url, &keys);
    let listen = |query: &str, key: &str| {
        let authorization = format!("authorization: Bearer {key}");
        ask(&program.address, "GET", &format!("/v1/events{query}"), &[&authorization], "")
    };
    let own = ask(&program.address, "POST", "/v1/conversations", &["authorization: Bearer one"], "{}").ok();
    let query = format!("?conversation={}", own["id"].as_str().unwrap());
    for (refused, status, code) in [
        (listen("", "three"), 401, "invalid_api_key"),
        (listen(&query, "two"), 404, "conversation_not_found"),
        (listen("?conversation=conv_none", "one"), 404, "conversation_not_found"),
        (listen("?conversations=1", "one"), 400, "unknown_parameter"),
    ] {
        assert_eq!((refused.status, refused.error("code").as_str()), (status, code), "{refused:?}");
    }
}
