//! The tools of a request, checked and compiled once: names, schemas, strict rules and a validator for each.
//!
//! An error names its exact place, such as `tools[1].function.parameters`. Remote `$ref`s are not followed.

use std::collections::HashSet;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::strict_schema;
use crate::model::BadRequest;

/// How large the tools of one request may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaLimits {
    /// Tools per request.
    pub tools: usize,
    /// Nesting of one schema.
    pub depth: usize,
    /// Properties of one schema, all levels together.
    pub properties: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self { tools: 128, depth: 32, properties: 1000 }
    }
}

/// One tool on offer.
#[derive(Debug)]
pub struct Tool {
    name: String,
    parameters: Value,
    validator: Validator,
}

impl Tool {
    /// The name on offer.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON Schema of the arguments.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    pub(super) fn validator(&self) -> &Validator {
        &self.validator
    }
}

/// The place of a tool in the request, which errors name.
#[derive(Debug)]
pub struct ToolPlace {
    tool: String,
    function: String,
}

impl ToolPlace {
    /// In the `tools` of a chat request, where the function is an object inside the tool.
    #[must_use]
    pub fn in_chat(number: usize) -> Self {
        Self { tool: format!("tools[{number}]"), function: format!("tools[{number}].function") }
    }

    /// At a place where the function fields are in the tool itself.
    #[must_use]
    pub fn flat(place: &str) -> Self {
        Self { tool: place.to_owned(), function: place.to_owned() }
    }
}

/// All tools of a request.
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: Vec<Tool>,
}

impl ToolSet {
    /// Checks and compiles the `tools` list of a chat request.
    pub fn compile(tools: &Value, limits: SchemaLimits) -> Result<Self, BadRequest> {
        Self::compile_at(tools, limits, ToolPlace::in_chat)
    }

    /// The same for tools in another part of a request; `place` maps an index to the place that errors name.
    pub fn compile_at(
        tools: &Value,
        limits: SchemaLimits,
        place: impl Fn(usize) -> ToolPlace,
    ) -> Result<Self, BadRequest> {
        let Value::Array(list) = tools else {
            return Err(BadRequest::wrong_type(
                "tools",
                "tools must be a list of {\"type\": \"function\", \"function\": {…}}",
            ));
        };
        if list.len() > limits.tools {
            let message = format!("{} tools were sent; the limit limits.tools is {}", list.len(), limits.tools);
            return Err(BadRequest::at("tools", "too_many_tools", message));
        }
        let (mut set, mut names) = (Self::default(), HashSet::with_capacity(list.len()));
        for (number, tool) in list.iter().enumerate() {
            let place = place(number);
            let tool = read_tool(tool, &place, limits)?;
            if !names.insert(tool.name.clone()) {
                let message = format!("two tools are named {:?}; names must be unique", tool.name);
                return Err(BadRequest::at(format!("{}.name", place.function), "duplicate_tool_name", message));
            }
            set.tools.push(tool);
        }
        Ok(set)
    }

    /// The tool of this exact name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The tool at an index.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<&Tool> {
        self.tools.get(place)
    }

    /// The names in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// True when there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

fn read_tool(
    tool: &Value,
    ToolPlace { tool: place, function: inner }: &ToolPlace,
    limits: SchemaLimits,
) -> Result<Tool, BadRequest> {
    let Value::Object(tool) = tool else {
        return Err(BadRequest::wrong_type(place, format!("{place} must be an object")));
    };
    match tool.get("type") {
        Some(Value::String(kind)) if kind == "function" => {}
        Some(Value::String(kind)) => {
            let message = format!("{place}.type is {kind:?}; only \"function\" tools are offered to chat models");
            return Err(BadRequest::invalid(format!("{place}.type"), message));
        }
        Some(_) => {
            return Err(BadRequest::wrong_type(format!("{place}.type"), format!("{place}.type must be \"function\"")));
        }
        None => {
            return Err(BadRequest::missing(
                format!("{place}.type"),
                format!("{place}.type is missing; write \"function\""),
            ));
        }
    }
    match tool.get("function") {
        Some(Value::Object(function)) => read_function(function, inner, limits),
        _ => Err(BadRequest::missing(inner, format!("{inner} must be an object with name and parameters"))),
    }
}

fn read_function(function: &Map<String, Value>, place: &str, limits: SchemaLimits) -> Result<Tool, BadRequest> {
    let name = read_name(function.get("name"), &format!("{place}.name"))?;
    if function.get("description").is_some_and(|text| !text.is_string() && !text.is_null()) {
        return Err(BadRequest::wrong_type(format!("{place}.description"), "a tool's description must be a string"));
    }
    let strict = match function.get("strict") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(strict)) => *strict,
        Some(_) => return Err(BadRequest::wrong_type(format!("{place}.strict"), "strict must be true or false")),
    };
    let place = format!("{place}.parameters");
    let parameters = function.get("parameters").filter(|schema| !schema.is_null()).ok_or_else(|| {
        BadRequest::missing(
            &place,
            format!("tool {name:?} has no parameters; write {{\"type\": \"object\", \"properties\": {{}}}}"),
        )
    })?;
    let validator = compile_schema(parameters, &place, strict, limits, "invalid_tool_schema")?;
    Ok(Tool { name, parameters: parameters.clone(), validator })
}

fn read_name(name: Option<&Value>, place: &str) -> Result<String, BadRequest> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    match name {
        Some(Value::String(name)) if !name.is_empty() && name.bytes().all(allowed) => Ok(name.clone()),
        Some(Value::String(name)) => {
            let message = format!("{name:?} is no tool name; use letters, digits, _ and - only");
            Err(BadRequest::at(place, "invalid_tool_name", message))
        }
        Some(_) => Err(BadRequest::wrong_type(place, "a tool's name must be a string")),
        None => Err(BadRequest::missing(place, "a tool needs a name")),
    }
}

/// Checks a schema whose root must be an object, and compiles it.
pub(super) fn compile_schema(
    schema: &Value,
    place: &str,
    strict: bool,
    limits: SchemaLimits,
    code: &'static str,
) -> Result<Validator, BadRequest> {
    let bad = |place: String, message: String| BadRequest::at(place, code, message);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err(bad(place.into(), format!("the root of {place} must be a JSON Schema with \"type\": \"object\"")));
    }
    measure(schema, place, limits)?;
    if strict && let Err(violation) = strict_schema::check(schema) {
        return Err(bad(format!("{place}{}", violation.place), violation.message));
    }
    jsonschema::validator_for(schema).map_err(|error| {
        let message = format!("{place} is not a valid JSON Schema: {error} (at {:?})", error.instance_path().as_str());
        bad(place.into(), message)
    })
}

/// Counts depth and properties without recursion, so that no schema can exhaust the stack.
fn measure(schema: &Value, place: &str, limits: SchemaLimits) -> Result<(), BadRequest> {
    let mut waiting = vec![(schema, 1_usize)];
    let mut properties = 0_usize;
    while let Some((node, depth)) = waiting.pop() {
        if depth > limits.depth.saturating_mul(2) {
            let message = format!("{place} is nested deeper than the limit limits.schema_depth of {}", limits.depth);
            return Err(BadRequest::at(place, "schema_too_deep", message));
        }
        match node {
            Value::Object(map) => {
                properties += map.get("properties").and_then(Value::as_object).map_or(0, Map::len);
                waiting.extend(map.values().map(|child| (child, depth + 1)));
            }
            Value::Array(list) => waiting.extend(list.iter().map(|child| (child, depth + 1))),
            _ => {}
        }
    }
    if properties > limits.properties {
        let message =
            format!("{place} has {properties} properties; the limit limits.schema_properties is {}", limits.properties);
        return Err(BadRequest::at(place, "schema_too_large", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn function(name: &str, parameters: &Value) -> Value {
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    }

    fn refusal(tools: &Value) -> (String, &'static str) {
        let error = ToolSet::compile(tools, SchemaLimits::default()).unwrap_err();
        (error.param.unwrap_or_default(), error.code)
    }

    #[test]
    fn every_fault_names_its_place() {
        let object = json!({"type": "object", "properties": {}});
        let deep =
            (0..70).fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
        let table = [
            (json!({}), "tools", "invalid_type"),
            (json!([1]), "tools[0]", "invalid_type"),
            (json!([{"function": {"name": "a"}}]), "tools[0].type", "missing_required_field"),
            (json!([{"type": "web_search"}]), "tools[0].type", "invalid_value"),
            (json!([{"type": "function"}]), "tools[0].function", "missing_required_field"),
            (json!([{"type": "function", "function": {}}]), "tools[0].function.name", "missing_required_field"),
            (json!([function("files.read", &object)]), "tools[0].function.name", "invalid_tool_name"),
            (json!([function("a", &object), function("a", &object)]), "tools[1].function.name", "duplicate_tool_name"),
            (
                json!([{"type": "function", "function": {"name": "a"}}]),
                "tools[0].function.parameters",
                "missing_required_field",
            ),
            (json!([function("a", &json!({"type": "array"}))]), "tools[0].function.parameters", "invalid_tool_schema"),
            (
                json!([function("a", &json!({"type": "object", "properties": 1}))]),
                "tools[0].function.parameters",
                "invalid_tool_schema",
            ),
            (
                json!([function("a", &json!({"type": "object", "$ref": "http://127.0.0.1/x"}))]),
                "tools[0].function.parameters",
                "invalid_tool_schema",
            ),
            (json!([function("a", &deep)]), "tools[0].function.parameters", "schema_too_deep"),
        ];
        for (tools, param, code) in table {
            assert_eq!(refusal(&tools), (param.to_owned(), code), "{tools}");
        }
    }

    #[test]
    fn a_good_list_is_compiled_in_order() {
        let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let set = ToolSet::compile(&json!([function("b", &object), function("a-1", &object)]), SchemaLimits::default())
            .unwrap();
        assert_eq!(set.names().collect::<Vec<_>>(), ["b", "a-1"]);
        assert!(set.get("b").unwrap().validator().is_valid(&json!({"a": 1})));
        assert!(!set.get("b").unwrap().validator().is_valid(&json!({"a": "x"})));
    }
}
