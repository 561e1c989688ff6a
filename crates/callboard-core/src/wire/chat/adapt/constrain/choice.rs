//! The request that asks which tool is called, and its answer.

use serde_json::{Value, json};

use super::plan::{ToolQuestion, name_of};
use super::wording;
use crate::contract::json::read_arguments;
use crate::model::{Delta, Usage};
use crate::wire::chat::adapt::message_accessors::{messages_mut, set, take};
use crate::wire::chat::adapt::prompt::write_history;
use crate::wire::chat::adapt::{Constraint, Family, system};

/// The function that the model is made to call where a named choice constrains it.
const DECIDE: &str = "choose_tool";
const KEY: &str = "tool";
/// Fields that shape the client's answer, not this one.
const NOT_SENT: [&str; 15] = [
    "stream",
    "stream_options",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "n",
    "stop",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "max_completion_tokens",
    "reasoning_effort",
];
/// Tokens beside those of the name.
const TOKENS_BESIDE_NAME: usize = 32;

/// What the model decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolDecision {
    /// To call this tool.
    Call(String),
    /// To call none.
    Decline,
}

/// The request for a decision. It is short and not streamed.
#[must_use]
pub fn choice_request(body: &Value, question: &ToolQuestion, constraint: Constraint, family: Family) -> Value {
    let mut request = body.clone();
    NOT_SENT.iter().for_each(|field| drop(take(&mut request, field)));
    let tools = take(&mut request, "tools").unwrap_or_default();
    let offered: Vec<&Value> =
        tools.as_array().into_iter().flatten().filter(|tool| is_asked_for(tool, question)).collect();
    if let Some(messages) = messages_mut(&mut request) {
        write_history(messages, family);
        system::instruct(messages, &wording::which_tool(&offered, question));
    }
    let longest = question.names.iter().map(String::len).max().unwrap_or_default();
    set(&mut request, "max_tokens", TOKENS_BESIDE_NAME + longest);
    set(&mut request, "temperature", 0);
    constrain(&mut request, DECIDE, &decision_schema(question), constraint);
    request
}

fn is_asked_for(tool: &Value, question: &ToolQuestion) -> bool {
    name_of(tool).is_some_and(|name| question.names.iter().any(|asked| asked == name))
}

fn decision_schema(question: &ToolQuestion) -> Value {
    let decline = question.may_decline.then(|| wording::decline_word(&question.names));
    let names: Vec<&str> = question.names.iter().map(String::as_str).chain(decline).collect();
    json!({
        "type": "object",
        "properties": {KEY: {"type": "string", "enum": names}},
        "required": [KEY],
        "additionalProperties": false,
    })
}

/// Makes the answer of a request JSON of this schema.
pub(super) fn constrain(request: &mut Value, name: &str, schema: &Value, constraint: Constraint) {
    match constraint {
        Constraint::NamedChoice => {
            let function = json!({"name": name, "parameters": schema});
            set(request, "tools", json!([{"type": "function", "function": function}]));
            set(request, "tool_choice", json!({"type": "function", "function": {"name": name}}));
        }
        Constraint::ResponseFormat => {
            let format = json!({"name": name, "schema": schema, "strict": true});
            set(request, "response_format", json!({"type": "json_schema", "json_schema": format}));
        }
    }
}

/// The decision in the deltas of a reply, with what it cost; none where the server did not constrain its answer.
pub fn read_decision(deltas: &[Delta], question: &ToolQuestion) -> (Option<ToolDecision>, Option<Usage>) {
    let (mut text, mut arguments, mut usage) = (String::new(), String::new(), None);
    for delta in deltas {
        match delta {
            Delta::Text(piece) => text.push_str(piece),
            Delta::Call(fragment) => arguments.push_str(fragment.arguments.as_deref().unwrap_or_default()),
            Delta::Usage(counted) => usage = Some(counted.clone()),
            _ => {}
        }
    }
    let written = if arguments.is_empty() { &text } else { &arguments };
    (decision_in(written, question), usage)
}

fn decision_in(written: &str, question: &ToolQuestion) -> Option<ToolDecision> {
    let values = read_arguments(written).ok()?.values;
    let name = values.first()?.get(KEY)?.as_str()?;
    if let Some(asked) = question.names.iter().find(|asked| *asked == name) {
        return Some(ToolDecision::Call(asked.clone()));
    }
    (question.may_decline && name == wording::decline_word(&question.names)).then_some(ToolDecision::Decline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CallFragment;

    fn question(names: &[&str], may_decline: bool) -> ToolQuestion {
        ToolQuestion { names: names.iter().map(ToString::to_string).collect(), may_decline }
    }

    fn body() -> Value {
        let tool = |name: &str| json!({"type": "function", "function": {"name": name, "description": "Does it."}});
        json!({
            "model": "m",
            "messages": [{"role": "user", "content": "Do it."}],
            "tools": [tool("a"), tool("b")],
            "tool_choice": "auto",
            "stream": true,
            "max_tokens": 5,
            "max_completion_tokens": 5,
            "temperature": 1.5,
            "seed": 7,
        })
    }

    #[test]
    fn the_names_on_offer_constrain_the_decision() {
        let request = choice_request(&body(), &question(&["a", "b"], true), Constraint::NamedChoice, Family::Hermes);
        let parameters = &request["tools"][0]["function"]["parameters"];
        assert_eq!(parameters["properties"]["tool"]["enum"], json!(["a", "b", "none"]));
        assert_eq!(request["tool_choice"]["function"]["name"], "choose_tool");
        assert_eq!(
            (&request["seed"], &request["temperature"], &request["max_tokens"]),
            (&json!(7), &json!(0), &json!(33))
        );
        assert!(request.get("stream").is_none() && request.get("max_completion_tokens").is_none());
        let system = request["messages"][0]["content"].as_str().unwrap();
        assert!(system.contains("- a(): Does it.") && system.contains("\"none\""), "{system}");
    }

    #[test]
    fn a_format_constrains_it_where_there_is_no_named_choice() {
        let request = choice_request(&body(), &question(&["b"], false), Constraint::ResponseFormat, Family::Hermes);
        assert!(request.get("tools").is_none() && request.get("tool_choice").is_none());
        let schema = &request["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["properties"]["tool"]["enum"], json!(["b"]));
    }

    #[test]
    fn a_decision_is_a_name_on_offer() {
        let call = |name: &str| Some(ToolDecision::Call(name.to_owned()));
        let offered = question(&["a", "none"], true);
        for (written, question, expected) in [
            (r#"{"tool": "a"}"#, &question(&["a", "b"], true), call("a")),
            (r#"{"tool": "none"}"#, &question(&["a"], true), Some(ToolDecision::Decline)),
            (r#"{"tool": "none"}"#, &question(&["a"], false), None),
            (r#"{"tool": "none"}"#, &offered, call("none")),
            (r#"{"tool": "none_of_them"}"#, &offered, Some(ToolDecision::Decline)),
            (r#"{"tool": "c"}"#, &offered, None),
            ("I would call a.", &offered, None),
            ("", &offered, None),
        ] {
            let (in_text, _) = read_decision(&[Delta::Text(written.to_owned())], question);
            let fragment = CallFragment { arguments: Some(written.to_owned()), ..CallFragment::default() };
            let (in_call, _) = read_decision(&[Delta::Call(fragment)], question);
            assert_eq!((&in_text, &in_call), (&expected, &expected), "{written}");
        }
    }
}
