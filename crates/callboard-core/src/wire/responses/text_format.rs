//! `text.format`: the format of a text answer, as the `response_format` of a chat request.
//!
//! Only the form is checked here; the schema is compiled with the chat request.

use serde_json::{Map, Value, json};

use super::typed_fields::Fields;
use crate::model::BadRequest;

/// The chat form; none where any text will do.
pub(super) fn to_chat(text: Option<&Value>) -> Result<Option<Value>, BadRequest> {
    let Some(text) = text else { return Ok(None) };
    let text = Fields::at(text, "text")?;
    text.text("verbosity")?;
    let Some(format) = text.get("format") else { return Ok(None) };
    let format = Fields::at(format, "text.format")?;
    format.required("type", "write \"text\", \"json_object\" or \"json_schema\"")?;
    match format.one_of("type", &["text", "json_object", "json_schema"])? {
        Some("json_object") => Ok(Some(json!({"type": "json_object"}))),
        Some("json_schema") => schema(format).map(Some),
        _ => Ok(None),
    }
}

fn schema(format: Fields<'_>) -> Result<Value, BadRequest> {
    let mut inner = Map::new();
    inner.insert("name".to_owned(), format.required_text("name", "name the schema")?.into());
    format.required("schema", "it must be a JSON Schema")?;
    inner.extend(format.object("schema")?.map(|schema| ("schema".to_owned(), schema.clone().into())));
    inner.extend(format.boolean("strict")?.map(|strict| ("strict".to_owned(), strict.into())));
    inner.extend(format.text("description")?.map(|words| ("description".to_owned(), words.into())));
    Ok(json!({"type": "json_schema", "json_schema": inner}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_has_its_chat_form() {
        let table = [
            (json!({}), None),
            (json!({"format": {"type": "text"}, "verbosity": "low"}), None),
            (json!({"format": {"type": "json_object"}}), Some(json!({"type": "json_object"}))),
            (
                json!({"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": true}}),
                Some(
                    json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}, "strict": true}}),
                ),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(to_chat(Some(&text)), Ok(expected), "{text}");
        }
    }

    #[test]
    fn faults_name_their_place() {
        let table = [
            (json!("json"), "text"),
            (json!({"verbosity": 1}), "text.verbosity"),
            (json!({"format": "json_object"}), "text.format"),
            (json!({"format": {}}), "text.format.type"),
            (json!({"format": {"type": "yaml"}}), "text.format.type"),
            (json!({"format": {"type": "json_schema", "schema": {}}}), "text.format.name"),
            (json!({"format": {"type": "json_schema", "name": "n"}}), "text.format.schema"),
            (json!({"format": {"type": "json_schema", "name": "n", "schema": 1}}), "text.format.schema"),
            (json!({"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": 1}}), "text.format.strict"),
        ];
        for (text, param) in table {
            assert_eq!(to_chat(Some(&text)).unwrap_err().param.as_deref(), Some(param), "{text}");
        }
    }
}
