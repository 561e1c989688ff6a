//! Custom tools, which take plain text: to a chat model each is a function with one text as its only parameter.

use serde_json::{Map, Value, json};

use super::typed_fields::Fields;
use crate::model::BadRequest;

/// The parameter with the text.
const INPUT: &str = "input";

/// The chat form of a custom tool, without its name. A grammar goes into the description, because chat servers cannot enforce it.
pub(super) fn function(fields: Fields<'_>) -> Result<Map<String, Value>, BadRequest> {
    let mut words: Vec<String> = fields.text("description")?.map(str::to_owned).into_iter().collect();
    if let Some(format) = fields.get("format") {
        let place = fields.place("format");
        let format = Fields::at(format, &place)?;
        if let Some(grammar) = format.text("definition")? {
            let syntax = format.text("syntax")?.unwrap_or("following");
            words.push(format!("The input must keep to this {syntax} grammar:\n{grammar}"));
        }
    }
    let text = json!({"type": "string", "description": "The whole input of the tool, as plain text"});
    let parameters =
        json!({"type": "object", "properties": {INPUT: text}, "required": [INPUT], "additionalProperties": false});
    let mut function = Map::new();
    if !words.is_empty() {
        function.insert("description".to_owned(), words.join("\n\n").into());
    }
    function.insert("parameters".to_owned(), parameters);
    Ok(function)
}

/// The text as the arguments of that function.
pub(super) fn arguments(input: &str) -> String {
    json!({INPUT: input}).to_string()
}

/// The text in the arguments of that function.
pub(super) fn input(arguments: &str) -> String {
    let read: Option<Value> = serde_json::from_str(arguments).ok();
    read.as_ref().and_then(|map| map.get(INPUT)?.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_custom_tool_is_a_function_of_one_text() {
        let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: WORD"});
        let tool = json!({"type": "custom", "name": "patch", "description": "Edits files.", "format": format});
        let read = function(Fields::at(&tool, "tools[0]").unwrap()).unwrap();
        let words = "Edits files.\n\nThe input must keep to this lark grammar:\nstart: WORD";
        assert_eq!(read.get("description"), Some(&words.into()));
        assert_eq!(read.get("parameters").and_then(|schema| schema.get("required")), Some(&json!(["input"])));
        let text = "*** Begin\n+ \"a\"\n";
        assert_eq!(input(&arguments(text)), text);
        let bad = json!({"type": "custom", "name": "patch", "format": 5});
        assert_eq!(
            function(Fields::at(&bad, "tools[0]").unwrap()).unwrap_err().param.as_deref(),
            Some("tools[0].format")
        );
    }
}
