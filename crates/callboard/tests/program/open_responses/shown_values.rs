//! Values that a response shows: what was sent, what holds where nothing was sent, and those that the specification's schema does not have.

use callboard_test_support::{ModelServer, Program, Script, greeting_server, text};
use serde_json::{Value, json};

use super::requests::create;
use super::schema::check_response;

/// The SDKs read them; Open Responses would have them null, left out, or in other words.
#[test]
fn values_outside_the_schema_are_shown_as_they_were_sent() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let format = json!({"type": "json_schema", "name": "f", "schema": schema, "strict": true});
    let tools = json!([{"type": "custom", "name": "shell"}, {"type": "web_search"}]);
    for (field, sent) in
        [("tools", tools), ("reasoning", json!({"effort": "minimal"})), ("text", json!({"format": format}))]
    {
        let server = ModelServer::start(|mut exchange| exchange.answer("{\\\"a\\\": \\\"b\\\"}"));
        let program = if field == "text" { &Program::with_upstream(&server.url, &[]) } else { &program };
        let response = create(program, &json!({(field): sent})).ok();
        check_response(&response);
        assert_contains(&response[field], &sent);
    }
}

/// Whether all that was sent is shown; what holds besides may be shown too.
fn assert_contains(shown: &Value, sent: &Value) {
    match (shown, sent) {
        (Value::Object(shown), Value::Object(sent)) => {
            sent.iter().for_each(|(key, value)| assert_contains(shown.get(key).unwrap_or(&Value::Null), value));
        }
        (Value::Array(shown), Value::Array(sent)) => {
            assert_eq!(shown.len(), sent.len());
            shown.iter().zip(sent).for_each(|(shown, sent)| assert_contains(shown, sent));
        }
        _ => assert_eq!(shown, sent),
    }
}

/// Callboard has no tiers of its own: the name goes to the model server, and what that reports is shown.
#[test]
fn a_service_tier_is_the_model_servers() {
    let server = ModelServer::start(|mut exchange| {
        let sent = exchange.request()["service_tier"].as_str().unwrap_or_default().to_owned();
        let reported = if sent == "flex" { ",\"service_tier\":\"standard\"" } else { "" };
        let choice =
            "{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}";
        exchange.json(
            200,
            &format!("{{\"choices\":[{choice}],\"usage\":{{\"prompt_tokens\":1,\"completion_tokens\":1}}{reported}}}"),
        );
    });
    let program = Program::with_upstream(&server.url, &[]);
    for (sent, shown) in [
        (json!({}), "default"),
        (json!({"service_tier": "priority"}), "priority"),
        (json!({"service_tier": "flex"}), "standard"),
    ] {
        assert_eq!(create(&program, &sent).ok()["service_tier"], shown, "{sent}");
    }
}

/// With either word nothing is left out, so what is too long for the model is its server's error.
#[test]
fn nothing_is_truncated() {
    for truncation in ["auto", "disabled"] {
        let (script, server) = Script::start([text("Yes.")]);
        let program = Program::with_upstream(&server.url, &[]);
        let input: Vec<Value> =
            (0..200).map(|number| json!({"role": "user", "content": format!("line {number}")})).collect();
        let response = create(&program, &json!({"input": input, "truncation": truncation})).ok();
        assert_eq!(response["truncation"], truncation);
        assert_eq!(script.asked()[0]["messages"].as_array().unwrap().len(), 200);
        let refuses = ModelServer::start(|mut exchange| {
            let error = json!({"error": {"message": "too long", "code": "context_length_exceeded"}});
            exchange.json(400, &error.to_string());
        });
        let program = Program::with_upstream(&refuses.url, &[]);
        let refused = create(&program, &json!({"truncation": truncation}));
        assert_eq!((refused.status, refused.error("code").as_str()), (400, "context_length_exceeded"), "{refused:?}");
    }
}
