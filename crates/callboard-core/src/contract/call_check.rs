//! Checks one call of a model against the tools on offer: name, JSON, schema. Repairs what it can without guessing.
//!
//! A [`Call`] is the only form in which a call leaves Callboard, and its arguments can only be made here.

use serde_json::{Map, Value};

use super::json::{ParsedArguments, read_arguments};
use super::{CallRules, CheckBudget, Tool, ToolSet, Violation, ViolationKind, resolve_name};
use crate::model::CallId;

/// A call as the model made it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RawCall {
    /// The server's id, of whatever form.
    pub id: Option<String>,
    /// The name as written.
    pub name: String,
    /// The arguments' text as written.
    pub arguments: String,
    /// True when the arguments came as an object and not as text.
    pub object: bool,
    /// True when the call was read out of the model's text.
    pub from_text: bool,
    /// The fields of the call that Callboard does not know.
    pub other: Map<String, Value>,
}

/// The text of a JSON object that is valid for its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arguments(String);

impl Arguments {
    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A call that keeps the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Unique in the conversation.
    pub id: CallId,
    /// The name of a tool on offer.
    pub name: String,
    /// Valid for that tool.
    pub arguments: Arguments,
    /// The fields of the server's call that Callboard does not know, passed on as they are.
    pub other: Map<String, Value>,
}

/// Valid arguments, with the repairs made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedArguments {
    /// The tool that is meant.
    pub tool: String,
    /// Valid for that tool.
    pub arguments: Arguments,
    /// Repairs, by name.
    pub repairs: Vec<&'static str>,
}

/// Checks one call. Returns several results if a server concatenated the arguments of several calls.
pub fn check_arguments(
    call: &RawCall,
    tools: &ToolSet,
    rules: &CallRules,
    budget: &mut CheckBudget,
) -> Result<Vec<CheckedArguments>, Violation> {
    let (tool, cleaned) = find_tool(call, tools, rules)?;
    let (most_bytes, limit) = (budget.most_bytes, budget.bytes_limit);
    if call.arguments.len() > most_bytes {
        let size = call.arguments.len();
        let message = format!("the arguments of {} are {size} bytes; the limit {limit} is {most_bytes}", tool.name());
        return Err(Violation::new(ViolationKind::InvalidArguments, message).of_tool(tool.name()));
    }
    let reading = read_arguments(&call.arguments).map_err(|error| {
        let message = format!("the arguments of {} are not a JSON object: {error}", tool.name());
        Violation::new(ViolationKind::MalformedArguments, message).of_tool(tool.name())
    })?;
    let repairs = [cleaned.then_some("tool_name"), call.object.then_some("arguments_object")];
    checked_values(call, tool, reading, repairs.into_iter().flatten().collect(), budget)
}

fn find_tool<'a>(call: &RawCall, tools: &'a ToolSet, rules: &CallRules) -> Result<(&'a Tool, bool), Violation> {
    let found = resolve_name(&call.name, tools.names()).and_then(|(place, cleaned)| Some((tools.at(place)?, cleaned)));
    let Some((tool, cleaned)) = found else {
        let message =
            format!("there is no tool named {:?}; the tools on offer are {}", call.name, name_list(tools.names()));
        return Err(Violation::new(ViolationKind::UnknownTool, message));
    };
    if !rules.allows(tool.name()) {
        let allowed = name_list(tools.names().filter(|name| rules.allows(name)));
        let message = format!("tool {:?} must not be called now; allowed are {allowed}", tool.name());
        return Err(Violation::new(ViolationKind::ChoiceUnmet, message).of_tool(tool.name()));
    }
    Ok((tool, cleaned))
}

fn checked_values(
    call: &RawCall,
    tool: &Tool,
    reading: ParsedArguments,
    mut read_repairs: Vec<&'static str>,
    budget: &mut CheckBudget,
) -> Result<Vec<CheckedArguments>, Violation> {
    read_repairs.extend(reading.repairs.iter().map(|repair| repair.as_str()));
    let untouched = reading.repairs.is_empty();
    let mut checked = Vec::with_capacity(reading.values.len());
    for value in reading.values {
        let mut value = Value::Object(value);
        let coerced = tool.compiled().coerce(&mut value, budget);
        if let Some(problems) = tool.compiled().problems(&value, call.arguments.len(), budget) {
            let message = format!("the arguments of {} do not fit its schema: {}", tool.name(), problems.words);
            let violation = Violation::new(ViolationKind::InvalidArguments, message).of_tool(tool.name());
            return Err(violation.at(problems.paths));
        }
        let text = if untouched && coerced.is_empty() { call.arguments.clone() } else { value.to_string() };
        let mut repairs = read_repairs.clone();
        if !call.from_text {
            repairs.extend(coerced.iter().map(|repair| repair.as_str()));
        }
        checked.push(CheckedArguments { tool: tool.name().to_owned(), arguments: Arguments(text), repairs });
    }
    Ok(checked)
}

/// At most `most` bytes of a text, cut at a character and marked.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(most);
    format!("{}…", text.get(..cut).unwrap_or_default())
}

pub(super) fn name_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> ToolSet {
        let weather = json!({"type": "object", "properties": {"city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1}, "unit": {"enum": ["celsius", "fahrenheit"]}},
            "required": ["city"], "additionalProperties": false});
        let list = json!([
            {"type": "function", "function": {"name": "get_weather", "parameters": weather}},
            {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "additionalProperties": false}}},
        ]);
        ToolSet::compile(&list, super::super::SchemaLimits::default()).unwrap()
    }

    fn check(name: &str, arguments: &str) -> Result<Vec<CheckedArguments>, Violation> {
        let call = RawCall { name: name.into(), arguments: arguments.into(), ..RawCall::default() };
        check_arguments(&call, &tools(), &CallRules::default(), &mut CheckBudget::new(1000))
    }

    #[test]
    fn what_fits_is_left_byte_for_byte() {
        let text = "{ \"city\" : \"S\\u00e3o Paulo\",\n\"days\":3 }";
        let checked = check("get_weather", text).unwrap();
        assert_eq!(checked[0].arguments.as_str(), text);
        assert_eq!(checked[0].repairs, [""; 0]);
    }

    #[test]
    fn repairs_are_named() {
        let checked = check("functions.get_weather", "{'city': 'Rome', 'days': '3',}").unwrap();
        assert_eq!(checked[0].arguments.as_str(), r#"{"city":"Rome","days":3}"#);
        assert!(
            ["tool_name", "single_quotes", "trailing_comma", "number_from_text"]
                .iter()
                .all(|r| checked[0].repairs.contains(r))
        );
    }

    #[test]
    fn glued_calls_come_apart() {
        let checked = check("get_weather", r#"{"city":"Paris"}{"city":"Rome"}"#).unwrap();
        let texts: Vec<&str> = checked.iter().map(|c| c.arguments.as_str()).collect();
        assert_eq!(texts, [r#"{"city":"Paris"}"#, r#"{"city":"Rome"}"#]);
    }

    #[test]
    fn what_cannot_be_mended_is_named() {
        use ViolationKind::{InvalidArguments, MalformedArguments, UnknownTool};
        let table = [
            ("fetch", "{}", UnknownTool, "get_weather, ping"),
            ("get_weather", "{\"city\": ", MalformedArguments, "get_weather"),
            ("get_weather", "{}", InvalidArguments, "\"city\" is a required property"),
            ("get_weather", r#"{"city":"Rome","days":"six"}"#, InvalidArguments, "days: "),
            ("get_weather", r#"{"city":"Rome","colour":1}"#, InvalidArguments, "colour"),
            ("get_weather", r#"{"city":"Rome","city":"Bonn"}"#, MalformedArguments, "city"),
            ("ping", "[1]", MalformedArguments, "ping"),
        ];
        for (name, arguments, kind, part) in table {
            let violation = check(name, arguments).unwrap_err();
            assert_eq!(violation.kind, kind, "{arguments}");
            assert!(violation.message.contains(part), "{}", violation.message);
        }
    }

    #[test]
    fn too_long_arguments_name_the_limit() {
        let violation = check("get_weather", &format!("{{\"city\":\"{}\"}}", "x".repeat(2000))).unwrap_err();
        assert!(violation.message.contains("limits.arguments_bytes is 1000"));
    }
}
