//! The request behind a decision: for the arguments of a tool, or for an answer in words.

use serde_json::{Value, json};

use super::choice::constrain;
use super::grammar_schema::reduced;
use super::plan::name_of;
use super::wording;
use crate::wire::chat::adapt::message_accessors::{messages_mut, set, take};
use crate::wire::chat::adapt::prompt::{put_tools_in_prompt, write_history};
use crate::wire::chat::adapt::{Constraint, Family, ToolsMode, system};

/// Asks for the arguments of a tool, constrained to its schema as far as servers know its keywords.
pub fn arguments_request(body: &mut Value, tool_name: &str, constraint: Constraint, mode: ToolsMode, family: Family) {
    if mode == ToolsMode::Native && constraint == Constraint::NamedChoice {
        set(body, "tool_choice", json!({"type": "function", "function": {"name": tool_name}}));
        return;
    }
    let tools = take(body, "tools").unwrap_or_default();
    let tool = tools.as_array().into_iter().flatten().find(|tool| name_of(tool) == Some(tool_name)).cloned();
    let tool = tool.unwrap_or_default();
    for field in ["tool_choice", "parallel_tool_calls", "response_format"] {
        take(body, field);
    }
    if let Some(messages) = messages_mut(body) {
        write_history(messages, family);
        system::instruct(messages, &wording::arguments_of(&tool));
    }
    let parameters = tool.get("function").and_then(|function| function.get("parameters"));
    let schema = parameters.map_or_else(|| json!({"type": "object"}), reduced);
    let schema = match constraint {
        Constraint::NamedChoice => schema,
        Constraint::ResponseFormat => call_schema(tool_name, &schema),
    };
    constrain(body, tool_name, &schema, constraint);
}

/// A call as an object with name and arguments: that is how a call in text is read.
fn call_schema(tool_name: &str, parameters: &Value) -> Value {
    let mut parameters = parameters.clone();
    let definitions = ["$defs", "definitions"].map(|key| (key, take(&mut parameters, key)));
    let mut schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "enum": [tool_name]}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": false,
    });
    for (key, value) in definitions {
        if let Some(value) = value {
            set(&mut schema, key, value);
        }
    }
    schema
}

/// Asks for an answer in words.
pub fn text_request(body: &mut Value, family: Family) {
    set(body, "tool_choice", "none");
    put_tools_in_prompt(body, family);
}
