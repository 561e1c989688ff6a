//! A client's chat request: what is sent on is the client's own text, and is accepted when it is read again.

use callboard_core::contract::{ToolCache, with_parameters};
use callboard_core::turn::ModelCall;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::chat::adapt::heal;
use serde_json::Value;

use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "\"model\":\"m\"",
    "\"messages\":[",
    "{\"role\":\"user\",\"content\":\"a\"}",
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[",
    "{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}",
    "{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"",
    "{\"type\":\"text\",\"text\":\"a\"}",
    "\"tools\":[",
    "\"tool_choice\":\"required\"",
    "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
    "\"allowed_tools\"",
    "\"parallel_tool_calls\":false",
    "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"a\",\"schema\":",
    "\"stream\":true",
    "\"stream_options\":{\"include_usage\":true}",
    "\"max_tokens\":1",
    "\"max_completion_tokens\":18446744073709551615",
    "\"stop\":[\"a\"]",
    "\"temperature\":2",
    "\"n\":1",
    "\"functions\":[",
    "\"function_call\":{\"name\":\"f\"}",
];

/// Fields that are left out where no tools are offered.
const ABOUT_TOOLS: [&str; 3] = ["tools", "tool_choice", "parallel_tool_calls"];

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    golden.chat_requests.iter().map(|request| request.clone().into_bytes()).collect()
}

pub(crate) fn run(data: &[u8]) {
    let request = match ChatRequest::read(data.to_vec(), &ToolCache::default()) {
        Ok((request, _)) => request,
        Err(refusal) => return assert!(!refusal.message.is_empty()),
    };
    let sent = request.upstream_body(&ModelCall::default());
    let (again, _) = ChatRequest::read(sent.clone(), &ToolCache::default()).expect("what is sent on is a request");
    assert_eq!(text(&again.upstream_body(&ModelCall::default())), text(&sent), "read and sent twice");
    assert_eq!(
        (&again.model, again.stream, again.offers_tools),
        (&request.model, request.stream, request.offers_tools)
    );
    // A field that nests deeper than a value may is passed on as text only.
    if let (Ok(Value::Object(client)), Ok(Value::Object(sent))) =
        (serde_json::from_slice(data), serde_json::from_slice(&sent))
    {
        check_fields(&client, &sent);
    }
    check_healing(request.messages_text());
}

fn check_fields(client: &serde_json::Map<String, Value>, sent: &serde_json::Map<String, Value>) {
    let has_old_form = client.get("functions").is_some_and(|functions| !functions.is_null());
    for (key, value) in client {
        let is_left_out = match key.as_str() {
            "functions" | "function_call" => has_old_form,
            "max_tokens" | "max_completion_tokens" => *value == -1,
            key => ABOUT_TOOLS.contains(&key),
        };
        let is_converted = key == "messages" && value.to_string().contains("\"function_call\"");
        let expected = if key == "tools" { with_parameters(value.clone()) } else { value.clone() };
        let is_sent = if is_left_out {
            sent.get(key).is_none_or(|sent| *sent == expected)
        } else {
            sent.get(key) == Some(&expected)
        };
        assert!(
            is_converted || is_sent || has_old_form && ABOUT_TOOLS.contains(&key.as_str()),
            "{key} is not sent as it came"
        );
    }
    let is_own = |key: &String| has_old_form && ABOUT_TOOLS.contains(&key.as_str());
    assert!(sent.keys().all(|key| client.contains_key(key) || is_own(key)), "a field is invented");
}

/// A history is healed once and for all.
fn check_healing(messages: &str) {
    let Ok(mut messages) = serde_json::from_str::<Vec<Value>>(messages) else { return };
    heal(&mut messages);
    let once = messages.clone();
    heal(&mut messages);
    assert_eq!(messages, once, "healed twice");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
