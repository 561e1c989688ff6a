//! `response_format`: a JSON answer is checked like arguments.

use serde_json::{Map, Value};

use super::json::read_arguments;
use super::schema::{CompiledSchema, SchemaSource, SchemaUsage};
use super::{CheckBudget, SchemaLimits, Violation, ViolationKind};
use crate::model::BadRequest;

/// The required format of a text answer.
#[derive(Debug, Default)]
pub enum ResponseFormat {
    /// Anything.
    #[default]
    Text,
    /// Any JSON object.
    Object,
    /// A JSON object that fits a schema.
    Schema(JsonSchema),
}

/// The compiled schema of an answer.
#[derive(Debug)]
pub struct JsonSchema(Box<CompiledSchema>);

impl ResponseFormat {
    /// Reads and checks the `response_format` of a chat request; `place` is where the client wrote the name and the schema.
    pub fn compile(format: &Value, place: &str, limits: SchemaLimits) -> Result<Self, BadRequest> {
        match format.get("type").and_then(Value::as_str) {
            Some("text") => Ok(Self::Text),
            Some("json_object") => Ok(Self::Object),
            Some("json_schema") => read_schema(format.get("json_schema").and_then(Value::as_object), place, limits),
            _ => Err(BadRequest::invalid(
                "response_format.type",
                "response_format must be an object whose type is \"text\", \"json_object\" or \"json_schema\"",
            )),
        }
    }

    /// True when any text is allowed.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text)
    }

    /// The answer, repaired without guessing, and the repairs made.
    pub fn check(&self, answer: &str) -> Result<(String, Vec<&'static str>), Violation> {
        let broken = |message: String| Violation::new(ViolationKind::InvalidFormat, message);
        let reading =
            read_arguments(answer).map_err(|error| broken(format!("the answer is not a JSON object: {error}")))?;
        let [value] = reading.values.as_slice() else {
            return Err(broken("the answer holds several JSON objects; exactly one is due".to_owned()));
        };
        let mut value = Value::Object(value.clone());
        let mut repairs: Vec<&'static str> = reading.repairs.iter().map(|repair| repair.as_str()).collect();
        if let Self::Schema(JsonSchema(schema)) = self {
            let mut budget = CheckBudget::new(usize::MAX);
            repairs.extend(schema.coerce(&mut value, &mut budget).iter().map(|repair| repair.as_str()));
            if let Some(problems) = schema.problems(&value, answer.len(), &mut budget) {
                return Err(broken(format!("the answer does not fit the schema: {}", problems.words)));
            }
        }
        let text = if repairs.is_empty() { answer.to_owned() } else { value.to_string() };
        Ok((text, repairs))
    }
}

fn read_schema(
    field: Option<&Map<String, Value>>,
    place: &str,
    limits: SchemaLimits,
) -> Result<ResponseFormat, BadRequest> {
    let field =
        field.ok_or_else(|| BadRequest::missing(place, format!("{place} must be an object with name and schema")))?;
    if !field.get("name").is_some_and(Value::is_string) {
        return Err(BadRequest::missing(format!("{place}.name"), format!("{place}.name must be a string")));
    }
    let strict = field.get("strict").and_then(Value::as_bool).unwrap_or(false);
    let place = format!("{place}.schema");
    let schema = field.get("schema").ok_or_else(|| BadRequest::missing(&place, format!("{place} is missing")))?;
    let source = SchemaSource { place: &place, strict, code: "invalid_response_format" };
    let compiled = CompiledSchema::compile(schema, &source, &limits, &mut SchemaUsage::default())?;
    Ok(ResponseFormat::Schema(JsonSchema(Box::new(compiled))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLACE: &str = "response_format.json_schema";

    fn format() -> ResponseFormat {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let field = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
        ResponseFormat::compile(&field, PLACE, SchemaLimits::default()).unwrap()
    }

    #[test]
    fn an_answer_is_kept_mended_or_refused() {
        assert_eq!(format().check("{\"n\": 1}").unwrap(), ("{\"n\": 1}".to_owned(), vec![]));
        assert_eq!(format().check("```json\n{\"n\": \"1\"}\n```").unwrap().0, "{\"n\":1}");
        assert!(format().check("{\"n\": \"one\"}").unwrap_err().message.contains("n: "));
        assert!(format().check("one").is_err());
        assert!(ResponseFormat::Object.check("{\"anything\": true}").is_ok());
    }

    #[test]
    fn faults_name_their_place() {
        let table = [
            (json!({"type": "yaml"}), "response_format.type"),
            (json!("json_object"), "response_format.type"),
            (json!({"type": "json_schema"}), "response_format.json_schema"),
            (json!({"type": "json_schema", "json_schema": {"schema": {}}}), "response_format.json_schema.name"),
            (json!({"type": "json_schema", "json_schema": {"name": "x"}}), "response_format.json_schema.schema"),
            (
                json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "array"}}}),
                "response_format.json_schema.schema",
            ),
        ];
        for (field, param) in table {
            let error = ResponseFormat::compile(&field, PLACE, SchemaLimits::default()).unwrap_err();
            assert_eq!(error.param.as_deref(), Some(param), "{field}");
        }
    }
}
