//! Applies a set of quirks to a request.
//!
//! The order matters: roles first, then the tools into the prompt, then all that rewrites messages, so that what one step
//! writes is in the form that the next one asks for. What is left out here and still promised to the client, such as a
//! forced call, is kept by the engine.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::message_accessors::{messages_mut, rename, take};
use super::{Family, Quirk, alternation, call_ids, content, prompt, response_format, system};

/// The fields without which there is no request.
pub(super) const INDISPENSABLE: [&str; 2] = ["model", "messages"];

/// The fields without which a message says nothing.
pub(super) const INDISPENSABLE_IN_MESSAGES: [&str; 4] = ["role", "content", "tool_calls", "tool_call_id"];

/// Makes a request one that the server with these quirks takes. Nothing else in it changes.
pub fn adapt(body: &mut Value, quirks: &BTreeSet<Quirk>, family: Family) {
    let has = |quirk: Quirk| quirks.contains(&quirk);
    if has(Quirk::DeveloperRole)
        && let Some(messages) = messages_mut(body)
    {
        system::rename_developer(messages);
    }
    if has(Quirk::Tools) {
        prompt::put_tools_in_prompt(body, family);
    }
    if has(Quirk::SchemaInJsonObject) {
        response_format::schema_in_json_object(body);
    } else if has(Quirk::ResponseFormat) {
        response_format::put_in_words(body);
    } else if has(Quirk::JsonObject) {
        response_format::only_schemas(body);
    }
    if let Some(fields) = body.as_object_mut() {
        adapt_fields(fields, quirks);
    }
    if let Some(messages) = messages_mut(body) {
        adapt_messages(messages, quirks);
    }
}

fn adapt_fields(fields: &mut Map<String, Value>, quirks: &BTreeSet<Quirk>) {
    for quirk in quirks {
        match quirk {
            Quirk::ParallelToolCalls => drop(fields.shift_remove("parallel_tool_calls")),
            Quirk::StreamOptions => drop(fields.shift_remove("stream_options")),
            Quirk::Field(name) if !INDISPENSABLE.contains(&name.as_str()) => drop(fields.shift_remove(name)),
            Quirk::Strict => without_strict(fields),
            Quirk::ToolChoice if forces_call(fields.get("tool_choice")) => drop(fields.shift_remove("tool_choice")),
            _ => {}
        }
    }
    adapt_limit(fields, quirks);
}

/// Whether a choice is more than a wish.
fn forces_call(choice: Option<&Value>) -> bool {
    choice.is_some_and(|choice| choice == "required" || choice.is_object())
}

/// Takes `strict` out of the tools and the response format.
fn without_strict(fields: &mut Map<String, Value>) {
    if let Some(schema) = fields.get_mut("response_format").and_then(|format| format.get_mut("json_schema")) {
        take(schema, "strict");
    }
    for tool in fields.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(function) = tool.get_mut("function") {
            take(function, "strict");
        }
    }
}

/// Calls the limit of tokens by the name that is known; a server that knows neither gets none.
fn adapt_limit(fields: &mut Map<String, Value>, quirks: &BTreeSet<Quirk>) {
    let (old, new) = ("max_tokens", "max_completion_tokens");
    match (quirks.contains(&Quirk::MaxTokens), quirks.contains(&Quirk::MaxCompletionTokens)) {
        (true, false) => rename_or_drop(fields, old, new),
        (false, true) => rename_or_drop(fields, new, old),
        (true, true) => [old, new].iter().for_each(|name| drop(fields.shift_remove(*name))),
        (false, false) => {}
    }
}

fn rename_or_drop(fields: &mut Map<String, Value>, from: &str, to: &str) {
    if fields.get(to).is_some_and(|value| !value.is_null()) {
        fields.shift_remove(from);
    } else if fields.contains_key(from) {
        fields.shift_remove(to);
        rename(fields, from, to);
    }
}

fn adapt_messages(messages: &mut Vec<Value>, quirks: &BTreeSet<Quirk>) {
    let has = |quirk: Quirk| quirks.contains(&quirk);
    if has(Quirk::SystemRole) {
        system::fold_into_user(messages);
        alternation::merge_neighbours(messages);
    }
    if has(Quirk::Alternation) {
        alternation::alternate(messages);
    }
    if has(Quirk::UserAfterTool) {
        alternation::answer_results(messages);
    }
    if has(Quirk::ShortCallIds) {
        call_ids::shorten(messages);
    } else if has(Quirk::IndexedCallIds) {
        call_ids::number(messages);
    }
    let (null, empty, parts) = (has(Quirk::NullContent), has(Quirk::EmptyContent), has(Quirk::ContentParts));
    for message in messages.iter_mut() {
        without_fields(message, quirks);
        if parts {
            content::join_parts(message);
        }
        if null {
            content::fill_null(message);
        }
        if empty {
            content::fill_empty(message, null);
        }
    }
}

fn without_fields(message: &mut Value, quirks: &BTreeSet<Quirk>) {
    for quirk in quirks {
        match quirk {
            Quirk::MessageField(name) if !INDISPENSABLE_IN_MESSAGES.contains(&name.as_str()) => {
                take(message, name);
            }
            _ => {}
        }
    }
}
