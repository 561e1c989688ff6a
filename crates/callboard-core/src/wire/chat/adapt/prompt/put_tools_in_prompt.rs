//! Takes the tools of a request, and everything that speaks of calls, into its prompt.

use serde_json::Value;

use super::Family;
use super::history;
use super::instructions;
use crate::contract::CallRules;
use crate::wire::chat::adapt::message_accessors::{calls, messages_mut, role, take};
use crate::wire::chat::adapt::{alternation, system};

/// Leaves a request that a server which knows only system, user and assistant takes.
pub(in crate::wire::chat::adapt) fn put_tools_in_prompt(body: &mut Value, family: Family) {
    let tools = match take(body, "tools") {
        Some(Value::Array(tools)) => tools,
        _ => Vec::new(),
    };
    let rules = rules(take(body, "tool_choice").as_ref(), take(body, "parallel_tool_calls").as_ref());
    let Some(messages) = messages_mut(body) else { return };
    let words = match write_history(messages, family) {
        true => instructions::with_history(family, &tools, &rules),
        false => instructions::first(family, &tools, &rules),
    };
    if let Some(words) = words {
        system::instruct(messages, &words);
    }
    alternation::merge_neighbours(messages);
}

/// Writes the calls and results of the messages as text; false where there are none.
pub(in crate::wire::chat::adapt) fn write_history(messages: &mut Vec<Value>, family: Family) -> bool {
    system::rename_developer(messages);
    let has_calls = messages.iter().any(speaks_of_calls);
    if has_calls {
        history::write(messages, family);
    }
    has_calls
}

fn speaks_of_calls(message: &Value) -> bool {
    role(message) == "tool" || !calls(message).is_empty() || message.get("tool_calls").is_some()
}

/// What the fields allow, read without complaint: the request was checked when it came.
pub(in crate::wire::chat::adapt) fn rules(choice: Option<&Value>, parallel: Option<&Value>) -> CallRules {
    let parallel = parallel.and_then(Value::as_bool).unwrap_or(true);
    let rules = CallRules { parallel, ..CallRules::default() };
    match choice {
        Some(Value::String(word)) => CallRules { required: word == "required", forbidden: word == "none", ..rules },
        Some(Value::Object(choice)) => match choice.get("allowed_tools") {
            Some(allowed) => {
                let names = allowed.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(name);
                let required = allowed.get("mode").is_some_and(|mode| mode == "required");
                CallRules { allowed: Some(names.collect()), required, ..rules }
            }
            None => {
                let named = choice.get("function").and_then(|function| function.get("name")).and_then(Value::as_str);
                CallRules { allowed: named.map(|name| vec![name.to_owned()]), required: true, ..rules }
            }
        },
        _ => rules,
    }
}

/// The name of a tool in a list of tools.
pub(super) fn name(tool: &Value) -> Option<String> {
    tool.get("function")?.get("name")?.as_str().map(str::to_owned)
}
