//! The requests of a probe. The marker is part of what they say, so that no cache of an earlier probe changes a count.

use serde_json::{Value, json};

use super::sequence::Step;

/// Enough for a forced call, for a constrained answer, and for the beginning of prose.
const SHORT: u32 = 32;
/// For a model that thinks first.
const LONG: u32 = 256;
/// Enough for two calls.
const TWO_CALLS: u32 = 128;

/// Long enough that its tokens cannot be overlooked: more than sixty words.
const DESCRIPTION: &str = "Files one complete report about the weather over the northern harbour, the height of the tide at noon, the names \
    of all ships that lie at anchor, the colour of their flags, the goods that each of them carries, the port that it comes from, the port \
    that it sails to, the number of sailors on board, the captain who signs for them, and whatever else the harbour master wants to read \
    before supper.";

/// The function that a named choice names.
pub(super) const NAMED: &str = "set_word";

/// A word that no model writes on its own.
pub(super) fn odd_word(marker: &str) -> String {
    format!("zyx-{marker}")
}

/// What a constraint to the schema brings about.
pub(super) fn constrained(marker: &str) -> Value {
    json!({"word": odd_word(marker)})
}

/// The body of a request without its model; `patient` leaves room for a model that thinks first.
pub(super) fn body(step: Step, marker: &str, patient: bool) -> Value {
    let mut body = json!({"messages": [{"role": "user", "content": words(step, marker)}], "temperature": 0});
    body["max_tokens"] = match step {
        Step::Plain | Step::Tools => 1.into(),
        Step::ParallelToolCalls => TWO_CALLS.into(),
        _ if patient => LONG.into(),
        _ => SHORT.into(),
    };
    tested_fields(step, marker).into_iter().for_each(|(name, value)| body[name] = value);
    body
}

fn words(step: Step, marker: &str) -> String {
    match step {
        Step::Plain | Step::Tools => format!("{marker}: say OK."),
        Step::ParallelToolCalls => "Call open_door twice: once for door 1 and once for door 2.".to_owned(),
        Step::Strict => "Set the word to apple.".to_owned(),
        _ => "Hello! I like apples.".to_owned(),
    }
}

fn tested_fields(step: Step, marker: &str) -> Vec<(&'static str, Value)> {
    match step {
        Step::Plain => Vec::new(),
        Step::Tools => vec![("tools", json!([tool(&format!("report_{marker}"), DESCRIPTION, &integer("ships"))]))],
        Step::NamedChoice => {
            let choice = json!({"type": "function", "function": {"name": NAMED}});
            vec![("tools", json!([set_word(marker)])), ("tool_choice", choice)]
        }
        Step::RequiredChoice => {
            let valve = tool("close_valve", "Closes a valve of the reactor.", &integer("valve"));
            vec![("tools", json!([valve])), ("tool_choice", json!("required"))]
        }
        Step::ResponseFormat => {
            let schema = json!({"name": "answer", "strict": true, "schema": schema(marker)});
            vec![("response_format", json!({"type": "json_schema", "json_schema": schema}))]
        }
        Step::SchemaInJsonObject => {
            vec![("response_format", json!({"type": "json_object", "schema": schema(marker)}))]
        }
        Step::ParallelToolCalls => {
            let door = tool("open_door", "Opens one door.", &integer("door"));
            vec![("tools", json!([door])), ("parallel_tool_calls", json!(false))]
        }
        Step::Strict => {
            let mut tool = set_word(marker);
            tool["function"]["strict"] = true.into();
            vec![("tools", json!([tool]))]
        }
    }
}

fn set_word(marker: &str) -> Value {
    tool(NAMED, "Sets the word that opens the door.", &schema(marker))
}

fn tool(name: &str, description: &str, parameters: &Value) -> Value {
    let function = json!({"name": name, "description": description, "parameters": parameters});
    json!({"type": "function", "function": function})
}

/// The schema that only one odd word satisfies.
fn schema(marker: &str) -> Value {
    object("word", &json!({"type": "string", "enum": [odd_word(marker)]}))
}

fn integer(name: &str) -> Value {
    object(name, &json!({"type": "integer"}))
}

fn object(name: &str, property: &Value) -> Value {
    json!({"type": "object", "properties": {name: property}, "required": [name], "additionalProperties": false})
}
