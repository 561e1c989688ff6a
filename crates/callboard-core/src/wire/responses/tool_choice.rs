//! Converts `tool_choice` to its chat form. Hosted tools cannot be forced.

use serde_json::{Value, json};

use super::tools::Tools;
use super::typed_fields::Fields;
use crate::model::BadRequest;

const PLACE: &str = "tool_choice";
const FORMS: &str = "tool_choice must be \"auto\", \"none\", \"required\", {\"type\": \"function\", \"name\": …} or \
    {\"type\": \"allowed_tools\", \"mode\": …, \"tools\": […]}";

/// The chat form of a choice; none where the client made none.
pub(super) fn to_chat(choice: Option<&Value>, tools: &Tools) -> Result<Option<Value>, BadRequest> {
    match choice {
        None => Ok(None),
        Some(Value::String(word)) => match word.as_str() {
            "auto" | "none" | "required" => Ok(Some(word.as_str().into())),
            _ => Err(BadRequest::invalid(PLACE, format!("{word:?} is no tool choice: {FORMS}"))),
        },
        Some(value @ Value::Object(_)) => object(Fields::at(value, PLACE)?, tools).map(Some),
        Some(_) => Err(BadRequest::wrong_type(PLACE, FORMS)),
    }
}

fn object(fields: Fields<'_>, tools: &Tools) -> Result<Value, BadRequest> {
    match fields.required_text("type", FORMS)? {
        "function" | "custom" => Ok(named(&function(fields, tools)?)),
        "allowed_tools" => allowed(fields, tools),
        hosted => {
            let message = format!(
                "tool_choice forces {hosted:?}, a hosted tool that Callboard does not run; choose a function, or \"auto\""
            );
            Err(BadRequest::at(fields.place("type"), "unsupported_value", message))
        }
    }
}

/// Hosted tools on the list are skipped, as they are in `tools`.
fn allowed(fields: Fields<'_>, tools: &Tools) -> Result<Value, BadRequest> {
    let mode = fields.one_of("mode", &["auto", "required", "none"])?.unwrap_or("auto");
    fields.required("tools", "it must be a list of functions")?;
    let mut names = Vec::new();
    for (number, tool) in fields.list("tools")?.into_iter().flatten().enumerate() {
        let place = format!("{PLACE}.tools[{number}]");
        let entry = Fields::at(tool, &place)?;
        if matches!(entry.required_text("type", "for instance \"function\"")?, "function" | "custom") {
            names.push(named(&function(entry, tools)?));
        }
    }
    match (names.is_empty(), mode) {
        (_, "none") => Ok("none".into()),
        (false, _) => Ok(json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": names}})),
        (true, "required") => {
            let message = "tool_choice.tools holds no function, but mode \"required\" asks for a call";
            Err(BadRequest::invalid(fields.place("tools"), message))
        }
        (true, _) => Ok("none".into()),
    }
}

fn function(fields: Fields<'_>, tools: &Tools) -> Result<String, BadRequest> {
    let name = fields.required_text("name", "name one of the tools")?;
    let namespace = fields.text("namespace")?.filter(|namespace| !namespace.is_empty());
    tools.chosen(namespace, name).map(str::to_owned).ok_or_else(|| {
        let namespace = namespace.map(|namespace| format!(" of namespace {namespace:?}")).unwrap_or_default();
        let message = format!(
            "{name:?}{namespace} is not one of the functions of this request: {}; where a name stands in several namespaces, \
             send \"namespace\" as well",
            tools.names()
        );
        BadRequest::at(fields.place("name"), "unknown_tool", message)
    })
}

fn named(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name}})
}

/// The error for a required call where no tool is offered, neither the client's nor a character's.
pub(super) fn nothing_to_call() -> BadRequest {
    BadRequest::invalid(PLACE, "tool_choice asks for a call, but no function is among the tools; send one as well")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Tools {
        let function = |name: &str| json!({"type": "function", "name": name});
        let list = json!([
            function("a"), {"type": "web_search"},
            {"type": "namespace", "name": "n", "tools": [function("a"), function("b"), function("c")]},
            {"type": "namespace", "name": "o", "tools": [function("c")]},
        ]);
        Tools::read(list.as_array()).unwrap()
    }

    #[test]
    fn every_form_has_its_chat_form() {
        let table = [
            (json!("auto"), json!("auto")),
            (json!("none"), json!("none")),
            (json!("required"), json!("required")),
            (json!({"type": "function", "name": "a"}), named("a")),
            (json!({"type": "function", "name": "a", "namespace": "n"}), named("n__a")),
            (json!({"type": "function", "name": "b", "namespace": "n"}), named("n__b")),
            (json!({"type": "function", "name": "b"}), named("n__b")),
            (json!({"type": "function", "name": "n.c"}), named("n__c")),
            (json!({"type": "function", "name": "o__c"}), named("o__c")),
            (
                json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "b"}]}),
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named("n__b")]}}),
            ),
            (
                json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "mcp"}, {"type": "function", "name": "a"}]}),
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named("a")]}}),
            ),
            (json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}), json!("none")),
            (json!({"type": "allowed_tools", "tools": []}), json!("none")),
            (
                json!({"type": "allowed_tools", "mode": "none", "tools": [{"type": "function", "name": "a"}]}),
                json!("none"),
            ),
        ];
        for (choice, expected) in table {
            assert_eq!(to_chat(Some(&choice), &tools()), Ok(Some(expected)), "{choice}");
        }
        assert_eq!(to_chat(None, &tools()), Ok(None));
    }

    #[test]
    fn faults_name_their_place() {
        let table = [
            (json!("any"), "tool_choice", "invalid_value"),
            (json!(1), "tool_choice", "invalid_type"),
            (json!({}), "tool_choice.type", "missing_required_field"),
            (json!({"type": "web_search"}), "tool_choice.type", "unsupported_value"),
            (json!({"type": "mcp", "server_label": "x"}), "tool_choice.type", "unsupported_value"),
            (json!({"type": "function"}), "tool_choice.name", "missing_required_field"),
            (json!({"type": "function", "name": "c"}), "tool_choice.name", "unknown_tool"),
            (json!({"type": "function", "name": "b", "namespace": "o"}), "tool_choice.name", "unknown_tool"),
            (json!({"type": "allowed_tools", "mode": "x", "tools": []}), "tool_choice.mode", "invalid_value"),
            (json!({"type": "allowed_tools", "mode": "auto"}), "tool_choice.tools", "missing_required_field"),
            (json!({"type": "allowed_tools", "mode": "required", "tools": []}), "tool_choice.tools", "invalid_value"),
            (
                json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "z"}]}),
                "tool_choice.tools[0].name",
                "unknown_tool",
            ),
        ];
        for (choice, param, code) in table {
            let error = to_chat(Some(&choice), &tools()).expect_err(&choice.to_string());
            assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{choice}");
            assert_eq!(error.message.contains("a, n.a, n.b, n.c, o.c"), code == "unknown_tool", "{}", error.message);
        }
    }
}
