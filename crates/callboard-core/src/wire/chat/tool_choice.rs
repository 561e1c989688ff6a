//! `tool_choice` in all its forms: a word, one function, or a list of allowed tools.

use serde_json::{Map, Value};

use crate::contract::{CallRules, ToolSet};
use crate::model::BadRequest;

const FORMS: &str = "tool_choice must be \"auto\", \"none\", \"required\", {\"type\": \"function\", \"function\": {\"name\": …}} or \
    {\"type\": \"allowed_tools\", \"allowed_tools\": {\"mode\": …, \"tools\": […]}}";

/// Reads the field.
pub(super) fn read(text: Option<&str>, tools: &ToolSet) -> Result<CallRules, BadRequest> {
    let Some(text) = text else { return Ok(CallRules::default()) };
    let value = serde_json::from_str(text).map_err(|_| BadRequest::wrong_type("tool_choice", FORMS))?;
    let rules = match &value {
        Value::String(word) => word_rules(word)?,
        Value::Object(choice) => object_rules(choice, tools)?,
        _ => return Err(BadRequest::wrong_type("tool_choice", FORMS)),
    };
    if rules.required && tools.is_empty() {
        return Err(BadRequest::invalid(
            "tool_choice",
            "tool_choice asks for a call, but no tools are sent; send tools as well",
        ));
    }
    Ok(rules)
}

fn word_rules(word: &str) -> Result<CallRules, BadRequest> {
    match word {
        "auto" => Ok(CallRules::default()),
        "none" => Ok(CallRules { forbidden: true, ..CallRules::default() }),
        "required" => Ok(CallRules { required: true, ..CallRules::default() }),
        _ => Err(BadRequest::invalid("tool_choice", format!("{word:?} is no tool choice: {FORMS}"))),
    }
}

fn object_rules(choice: &Map<String, Value>, tools: &ToolSet) -> Result<CallRules, BadRequest> {
    match choice.get("type").and_then(Value::as_str) {
        Some("function") => {
            let name = function_name(choice, "tool_choice", tools)?;
            Ok(CallRules { allowed: Some(vec![name]), required: true, ..CallRules::default() })
        }
        Some("allowed_tools") => allowed_rules(choice.get("allowed_tools").and_then(Value::as_object), tools),
        _ => Err(BadRequest::invalid("tool_choice.type", FORMS)),
    }
}

fn allowed_rules(allowed: Option<&Map<String, Value>>, tools: &ToolSet) -> Result<CallRules, BadRequest> {
    let place = "tool_choice.allowed_tools";
    let allowed = allowed.ok_or_else(|| BadRequest::missing(place, FORMS))?;
    let required = match allowed.get("mode").and_then(Value::as_str) {
        Some("auto") => false,
        Some("required") => true,
        _ => {
            return Err(BadRequest::invalid(
                format!("{place}.mode"),
                format!("{place}.mode must be \"auto\" or \"required\""),
            ));
        }
    };
    let Some(Value::Array(list)) = allowed.get("tools") else {
        return Err(BadRequest::missing(
            format!("{place}.tools"),
            format!("{place}.tools must be a list of functions"),
        ));
    };
    if required && list.is_empty() {
        let message = format!("{place}.tools is empty, but mode \"required\" asks for a call; list at least one tool");
        return Err(BadRequest::invalid(format!("{place}.tools"), message));
    }
    let mut names = Vec::with_capacity(list.len());
    for (number, tool) in list.iter().enumerate() {
        let place = format!("{place}.tools[{number}]");
        let tool =
            tool.as_object().ok_or_else(|| BadRequest::wrong_type(&place, format!("{place} must be an object")))?;
        names.push(function_name(tool, &place, tools)?);
    }
    Ok(CallRules { allowed: Some(names), required, ..CallRules::default() })
}

fn function_name(choice: &Map<String, Value>, place: &str, tools: &ToolSet) -> Result<String, BadRequest> {
    let name = choice.get("function").and_then(|function| function.get("name")).and_then(Value::as_str);
    let place = format!("{place}.function.name");
    let name = name.ok_or_else(|| BadRequest::missing(&place, format!("{place} is missing; name one of the tools")))?;
    if tools.get(name).is_none() {
        let offered = if tools.is_empty() { "none".to_owned() } else { tools.names().collect::<Vec<_>>().join(", ") };
        let message = format!("{name:?} is not among the tools of this request: {offered}");
        return Err(BadRequest::at(place, "unknown_tool", message));
    }
    Ok(name.to_owned())
}
