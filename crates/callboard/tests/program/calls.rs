//! `/v1/calls`: what models called, over all clients and conversations, with filters and figures.

use callboard_test_support::{ModelServer, Program, Script, ask, calls, post, text};
use serde_json::{Value, json};

use super::traces::{Folder, newest, said, with_tool};

fn get(program: &Program, path: &str) -> Value {
    ask(&program.address, "GET", path, &[], "").ok()
}

fn shown(list: &Value) -> Vec<(&str, &str)> {
    let entries = list["data"].as_array().unwrap().iter();
    entries.map(|call| (call["tool"].as_str().unwrap_or("-"), call["verdict"].as_str().unwrap_or("-"))).collect()
}

/// A turn with a repaired call beside a valid one, one with a call that was asked for again, and one without calls.
fn program_with_calls() -> (Program, (Script, ModelServer)) {
    let roll = |arguments: Value| ("roll", arguments);
    let replies = [
        calls("", &[roll(json!("{\"sides\": \"6\",}")), roll(json!({"sides": 4}))]),
        calls("", &[roll(json!({"sides": "many"}))]),
        calls("", &[roll(json!({"sides": 8}))]),
        text("Hello."),
    ];
    let (script, server) = Script::start(replies);
    let program = Program::with_upstream(&server.url, &[]);
    assert_eq!(post(&program.address, &with_tool("Roll.")).status, 200);
    let headers = ["content-type: application/json", "user-agent: Dice/1.0"];
    assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", &headers, &with_tool("Roll.")).status, 200);
    assert_eq!(post(&program.address, &said("m", "Hi")).status, 200);
    (program, (script, server))
}

#[test]
fn calls_are_listed_with_their_verdicts() {
    let (program, _servers) = program_with_calls();
    let list = get(&program, "/v1/calls");
    assert_eq!(shown(&list), [("roll", "valid"), ("roll", "reasked"), ("roll", "valid"), ("roll", "repaired")]);
    assert_eq!((&list["data"][0]["client"], &list["has_more"]), (&json!("Dice/1.0"), &json!(false)));
    assert_eq!(list["data"][3]["violations"], json!(["trailing_comma", "number_from_text"]));
    for (filter, found) in [
        ("verdict=repaired,reasked", vec![("roll", "reasked"), ("roll", "repaired")]),
        ("client=dice&verdict=valid", vec![("roll", "valid")]),
        ("tool=roll&verdict=refused", vec![]),
        ("turns=all&limit=1", vec![("-", "-")]),
        ("until=1", vec![]),
        ("since=4102444800000", vec![]),
        ("character=grimlog", vec![]),
        ("model=m&endpoint=chat&verdict=repaired", vec![("roll", "repaired")]),
    ] {
        assert_eq!(shown(&get(&program, &format!("/v1/calls?{filter}"))), found, "{filter}");
    }
    let first = get(&program, "/v1/calls?limit=1");
    let rest = get(&program, &format!("/v1/calls?after={}", first["last_id"].as_str().unwrap()));
    assert_eq!((shown(&first).len(), shown(&rest).len(), &first["has_more"]), (2, 2, &json!(true)), "turns are whole");
    let refused = ask(&program.address, "GET", "/v1/calls?verdict=fixed", &[], "");
    assert_eq!((refused.status, &refused.json()["error"]["param"]), (400, &json!("verdict")));
}

#[test]
fn figures_count_verdicts_and_tools() {
    let (program, _servers) = program_with_calls();
    let figures = get(&program, "/v1/calls/summary?buckets=4&turns=all");
    let total = &figures["total"];
    assert_eq!((&total["turns"], &figures["complete"]), (&json!(3), &json!(true)), "{figures}");
    assert_eq!(total["calls"], json!({"valid": 2, "repaired": 1, "reasked": 1, "refused": 0, "observed": 0}));
    assert!(total["added"]["p50_ms"].as_f64() <= total["turn"]["p95_ms"].as_f64(), "{figures}");
    let buckets = figures["buckets"].as_array().unwrap();
    assert_eq!((buckets.len(), &buckets[3]["turns"]), (4, &json!(3)));
    assert_eq!((&figures["tools"][0]["tool"], &figures["tools"][0]["calls"]["valid"]), (&json!("roll"), &json!(2)));
    let none = ask(&program.address, "GET", "/v1/calls/summary?since=2&until=1", &[], "");
    assert_eq!(none.json()["error"]["param"], "since");
}

/// What a character's conversation recorded becomes a page with the character, every request, and every reply.
#[test]
fn a_characters_turn_is_exported_with_its_conversation() {
    let folder = Folder::new();
    let replies = [calls("", &[("add", json!({"amount": "3"}))]), text("Three."), text("Still three.")];
    let (_script, server) = Script::start(replies);
    let program = folder.program(&server.url, &[("CALLBOARD_TRACE_CONTENT", "true")]);
    let headers = ["content-type: application/json", "callboard-conversation: game"];
    for words in ["Add three.", "How many?"] {
        let body = said("counter", words);
        assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", &headers, &body).status, 200);
    }
    let trace = newest(&program);
    let page = get_page(&program, &trace);
    for part in [
        "## Character counter\n\n```python\n",
        "## Request 1\n\n- header: callboard-conversation: game\n\n",
        "## Upstream 2\n",
        "How many?",
        "## Upstream 3\n",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("## Upstream 4"), "{page}");
}

fn get_page(program: &Program, trace: &Value) -> String {
    let path = format!("/v1/traces/{}/golden_page", trace["id"].as_str().unwrap());
    let page = ask(&program.address, "GET", &path, &[], "");
    assert_eq!(page.status, 200, "{}", page.body);
    page.body
}

#[test]
fn a_turn_without_content_is_not_exported() {
    let (program, _servers) = program_with_calls();
    let id = newest(&program)["id"].as_str().unwrap().to_owned();
    let refused = ask(&program.address, "GET", &format!("/v1/traces/{id}/golden_page"), &[], "");
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("not_reproducible")));
    assert!(refused.body.contains("trace.content = true"), "{}", refused.body);
}
