//! Refused requests to conversation endpoints: invalid paths, missing objects, names that are too long.

use callboard_test_support::{Program, ask};
use serde_json::json;

#[test]
fn the_conversation_name_is_limited() {
    let program = Program::start(&[], &[]);
    let body = json!({"model": "rehearsal", "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    for (name, status) in [("x".repeat(512), 200), ("é".repeat(512), 200), ("x".repeat(513), 400)] {
        let header = format!("callboard-conversation: {name}");
        let answer = ask(&program.address, "POST", "/v1/chat/completions", &[&header], &body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(status == 400, answer.body.contains("\"param\":\"callboard-conversation\""), "{answer:?}");
    }
}

#[test]
fn invalid_paths_and_missing_objects_are_refused_in_one_format() {
    let program = Program::start(&[], &[]);
    let unreadable =
        ["conversations/%ff/items", "conversations/conv_1/items/%ff", "responses/%c3", "models/a%zz", "%ff"];
    for path in unreadable {
        let refused = ask(&program.address, "GET", &format!("/v1/{path}"), &[], "");
        let seen = ["code", "param", "type"].map(|key| refused.error(key));
        assert_eq!(
            (refused.status, seen.each_ref().map(String::as_str)),
            (400, ["invalid_url", "", "invalid_request_error"]),
            "{path}"
        );
    }
    for path in ["conversations/conv_1", "conversations/conv_1/items", "responses/resp_1", "models/org/none", "none"] {
        let missing = ask(&program.address, "GET", &format!("/v1/{path}"), &[], "");
        assert_eq!((missing.status, missing.error("type").as_str()), (404, "invalid_request_error"), "{path}");
    }
}
