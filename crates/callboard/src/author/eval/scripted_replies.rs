//! The calls that a case expects, made by a scripted model instead of a real one.
//!
//! A case fixes only some arguments; the others need only be valid. An undo has only a description, from which
//! the tool that made the change is guessed.

use callboard_core::journal::StateRecord;
use callboard_python::{Character, ToolManifest};
use serde_json::{Map, Value, json};

use super::cases::ExpectedCall;
use super::value_matching::sole;
use crate::author::scenario::{ScriptedCall, ScriptedReply};
use crate::characters::UNDO;

/// The replies of a model that makes exactly these calls, and then says nothing.
pub(super) async fn replies(
    character: &Character,
    expected: &[ExpectedCall],
    record: &StateRecord,
) -> Vec<ScriptedReply> {
    let names = character.names(record.state()).await.ok().flatten();
    let scripted = |expected| scripted_call(character, expected, record, names.as_ref());
    let calls: Vec<ScriptedCall> = expected.iter().filter_map(scripted).collect();
    let with_calls = Some(calls).filter(|calls| !calls.is_empty());
    let calls = with_calls.map(|calls| ScriptedReply { text: String::new(), calls });
    calls.into_iter().chain([ScriptedReply { text: String::new(), calls: Vec::new() }]).collect()
}

fn scripted_call(
    character: &Character,
    expected: &ExpectedCall,
    record: &StateRecord,
    names: Option<&Value>,
) -> Option<ScriptedCall> {
    let (tool, arguments) = if expected.undo {
        let changed_by = record.journal().iter().map(|entry| entry.call.tool.as_str());
        (UNDO.to_owned(), undo_arguments(&expected.target, changed_by))
    } else {
        let name = expected.tool.clone()?;
        let tool = character.manifest().tool(&name);
        (name, tool.map(|tool| with_samples(tool, &expected.args, names)).unwrap_or_default())
    };
    let raw_arguments = Some(Value::Object(arguments).to_string());
    Some(ScriptedCall { tool, arguments: toml::Table::new(), raw_arguments })
}

/// The fixed arguments, with a valid value for each required one that is not fixed.
pub(super) fn with_samples(
    tool: &ToolManifest,
    fixed: &Map<String, Value>,
    names: Option<&Value>,
) -> Map<String, Value> {
    let mut arguments: Map<String, Value> = fixed.iter().map(|(name, value)| (name.clone(), matching(value))).collect();
    let required = tool.parameters.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if arguments.contains_key(name) {
            continue;
        }
        let property = tool.parameters.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        let value = sample(property, &arguments, names);
        arguments.insert(name.to_owned(), value);
    }
    arguments
}

/// A value that matches the expected one.
fn matching(expected: &Value) -> Value {
    if let Some(first) = sole(expected, "any_of").and_then(|options| options.get(0)) {
        return first.clone();
    }
    match expected {
        Value::Array(list) => list.iter().map(matching).collect(),
        _ => sole(expected, "contains").unwrap_or(expected).clone(),
    }
}

fn sample(property: &Value, given: &Map<String, Value>, names: Option<&Value>) -> Value {
    let of_choice = property.get("enum").and_then(|values| values.get(0));
    if let Some(value) = property.get("default").or(of_choice) {
        return value.clone();
    }
    if let Some(name) = names.and_then(|names| first_name(property, given, names)) {
        return name;
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(0)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("as said"),
    }
}

/// The first of the names that a parameter takes its value from.
fn first_name(property: &Value, given: &Map<String, Value>, names: &Value) -> Option<Value> {
    let key = property.get("x-names")?.as_str()?.to_owned();
    let key = given.iter().fold(key, |key, (name, value)| match value {
        Value::String(value) => key.replace(&format!("{{{name}}}"), value),
        _ => key,
    });
    let first = names.get(&key)?.get(0)?;
    Some(first.get("name").unwrap_or(first).clone())
}

/// Arguments for `undo`: the last change by the tool that the words are about, or the last change of all.
fn undo_arguments<'a>(target: &str, changed_by: impl Iterator<Item = &'a str>) -> Map<String, Value> {
    let words: Vec<String> = words_of(target).collect();
    let shared = |tool: &str| words_of(tool).filter(|word| words.contains(word)).count();
    let best = changed_by.map(|tool| (shared(tool), tool)).filter(|(shared, _)| *shared > 0).max();
    best.map(|(_, tool)| ("tool".to_owned(), json!(tool))).into_iter().collect()
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> ToolManifest {
        let parameters = json!({
            "type": "object",
            "properties": {
                "unit": {"type": "string", "x-names": "units/{side}"},
                "side": {"type": "string", "enum": ["player", "opponent"]},
                "cost": {"type": "integer", "minimum": -3, "default": 1},
                "change": {"type": "integer", "minimum": -20},
                "reason": {"type": "string"},
                "note": {"type": "string"},
            },
            "required": ["side", "unit", "cost", "change", "reason"],
        });
        let manifest = json!({"name": "act", "description": "", "parameters": parameters, "timeout_ms": 100.0});
        serde_json::from_value(manifest).unwrap()
    }

    #[test]
    fn what_is_not_fixed_is_filled_in() {
        let names = json!({"units/opponent": [{"name": "Carnifex", "aliases": []}], "units/player": ["Squad"]});
        let fixed = json!({"side": {"any_of": ["opponent", "player"]}, "reason": {"contains": "primary"}});
        let arguments = with_samples(&tool(), fixed.as_object().unwrap(), Some(&names));
        let expected = json!({"side": "opponent", "reason": "primary", "unit": "Carnifex", "cost": 1, "change": -20});
        assert_eq!(Value::Object(arguments), expected);
        let arguments = with_samples(&tool(), &Map::new(), None);
        assert_eq!((&arguments["side"], &arguments["unit"]), (&json!("player"), &json!("as said")));
    }

    #[test]
    fn words_choose_the_tool_or_none() {
        let tools = ["log_stratagem_use", "change_phase", "update_victory_points"];
        let table = [
            ("the last stratagem use", Some("log_stratagem_use")),
            ("the last phase change", Some("change_phase")),
            ("the last victory points: 3", Some("update_victory_points")),
            ("the last event", None),
        ];
        for (target, expected) in table {
            let arguments = undo_arguments(target, tools.iter().copied());
            assert_eq!(arguments.get("tool").and_then(Value::as_str), expected, "{target}");
        }
    }
}
