//! The tools of a request, checked and compiled once: names, schemas, strict rules and a validator for each.
//!
//! An error names its exact place, such as `tools[1].function.parameters`. Remote `$ref`s are not followed.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::schema::{CompiledSchema, SchemaLimits, SchemaSource, SchemaUsage, first_unfit_default};
use crate::dialect::ToolNames;
use crate::model::BadRequest;

/// One tool on offer.
#[derive(Debug)]
pub struct Tool {
    name: String,
    parameters: CompiledSchema,
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
        self.parameters.schema()
    }

    /// What is wrong with the first default that does not fit its own part of the parameters.
    #[must_use]
    pub fn unfit_default(&self, limits: &SchemaLimits) -> Option<String> {
        first_unfit_default(self.parameters(), limits)
    }

    /// The compiled form of the parameters.
    pub(super) fn compiled(&self) -> &CompiledSchema {
        &self.parameters
    }
}

/// The place of a tool in the request, which errors name.
#[derive(Debug)]
pub struct ToolPlace {
    tool: String,
    function: String,
    parameters: String,
}

impl ToolPlace {
    /// In the `tools` of a chat request, where the function is an object inside the tool.
    #[must_use]
    pub fn in_chat(number: usize) -> Self {
        let (tool, function) = (format!("tools[{number}]"), format!("tools[{number}].function"));
        Self { parameters: format!("{function}.parameters"), tool, function }
    }

    /// At a place where the function fields are in the tool itself.
    #[must_use]
    pub fn flat(place: &str) -> Self {
        Self { tool: place.to_owned(), function: place.to_owned(), parameters: format!("{place}.parameters") }
    }

    /// In a character's file, whose author knows the tool by its name.
    #[must_use]
    pub fn of_character(name: &str) -> Self {
        let tool = format!("tool `{name}`");
        Self { parameters: format!("the schema of {tool}"), function: tool.clone(), tool }
    }
}

/// All tools of a request.
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: Vec<Tool>,
    places: HashMap<String, usize>,
    longest_name: usize,
    usage: SchemaUsage,
    lacks_parameters: bool,
    tool_names: ToolNames,
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
        let mut set = Self::default();
        for (number, tool) in list.iter().enumerate() {
            let place = place(number);
            set.lacks_parameters |= tool.get("function").is_some_and(|function| !has_parameters(function));
            let tool = read_tool(tool, &place, &limits, &mut set.usage)?;
            if set.places.insert(tool.name.clone(), number).is_some() {
                let message = format!("two tools are named {:?}; names must be unique", tool.name);
                return Err(BadRequest::at(format!("{}.name", place.function), "duplicate_tool_name", message));
            }
            set.longest_name = set.longest_name.max(tool.name.len());
            set.tools.push(tool);
        }
        set.tool_names = ToolNames::with_schemas(set.tools.iter().map(|tool| (tool.name(), tool.parameters())));
        Ok(set)
    }

    /// The tool of this exact name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Tool> {
        // A model may write a name of megabytes, in pieces that are each looked up.
        let name = Some(name).filter(|name| name.len() <= self.longest_name)?;
        self.at(*self.places.get(name)?)
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

    /// The names and parameters, to read calls out of text.
    #[must_use]
    pub fn tool_names(&self) -> ToolNames {
        self.tool_names.clone()
    }

    /// The memory that the compiled schemas hold, estimated.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.usage.held_bytes()
    }

    /// Whether some function was sent without a schema of its parameters.
    #[must_use]
    pub fn lacks_parameters(&self) -> bool {
        self.lacks_parameters
    }

    /// True when there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

/// The `tools` of a chat request, where each function has a schema of its parameters: some servers refuse one without.
#[must_use]
pub fn with_parameters(mut tools: Value) -> Value {
    for tool in tools.as_array_mut().into_iter().flatten() {
        if let Some(Value::Object(function)) = tool.get_mut("function")
            && sent_parameters(function).is_none()
        {
            let strict = function.get("strict") == Some(&Value::Bool(true));
            function.insert("parameters".to_owned(), no_parameters(strict));
        }
    }
    tools
}

fn has_parameters(function: &Value) -> bool {
    function.as_object().is_none_or(|function| sent_parameters(function).is_some())
}

/// The schema that was sent; a function without one, with null or with `{}` takes no arguments.
fn sent_parameters(function: &Map<String, Value>) -> Option<&Value> {
    function
        .get("parameters")
        .filter(|schema| !schema.is_null() && schema.as_object().is_none_or(|keys| !keys.is_empty()))
}

/// The schema of a function without arguments; `strict` allows only a closed one.
fn no_parameters(strict: bool) -> Value {
    match strict {
        true => json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
        false => json!({"type": "object", "properties": {}}),
    }
}

fn read_tool(tool: &Value, at: &ToolPlace, limits: &SchemaLimits, usage: &mut SchemaUsage) -> Result<Tool, BadRequest> {
    let (place, inner) = (&at.tool, &at.function);
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
        Some(Value::Object(function)) => read_function(function, at, limits, usage),
        _ => Err(BadRequest::missing(inner, format!("{inner} must be an object with name and parameters"))),
    }
}

fn read_function(
    function: &Map<String, Value>,
    ToolPlace { function: place, parameters: schema_place, .. }: &ToolPlace,
    limits: &SchemaLimits,
    usage: &mut SchemaUsage,
) -> Result<Tool, BadRequest> {
    let name = read_name(function.get("name"), &format!("{place}.name"))?;
    if function.get("description").is_some_and(|text| !text.is_string() && !text.is_null()) {
        return Err(BadRequest::wrong_type(format!("{place}.description"), "a tool's description must be a string"));
    }
    let strict = match function.get("strict") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(strict)) => *strict,
        Some(_) => return Err(BadRequest::wrong_type(format!("{place}.strict"), "strict must be true or false")),
    };
    let place = schema_place;
    let none = no_parameters(strict);
    let parameters = sent_parameters(function).unwrap_or(&none);
    let source = SchemaSource { place, strict, code: "invalid_tool_schema" };
    Ok(Tool { name, parameters: CompiledSchema::compile(parameters, &source, limits, usage)? })
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_function_without_parameters_takes_none() {
        let open = json!({"type": "object", "properties": {}});
        let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        for (function, expected) in [
            (json!({"name": "a"}), &open),
            (json!({"name": "a", "parameters": null}), &open),
            (json!({"name": "a", "parameters": {}}), &open),
            (json!({"name": "a", "strict": true}), &closed),
            (json!({"name": "a", "parameters": {}, "strict": true}), &closed),
        ] {
            let tools = json!([{"type": "function", "function": function}]);
            let set = ToolSet::compile(&tools, SchemaLimits::default()).unwrap();
            assert_eq!((set.get("a").unwrap().parameters(), set.lacks_parameters()), (expected, true), "{tools}");
            assert_eq!(with_parameters(tools)[0]["function"]["parameters"], *expected);
        }
        let tools = json!([function("a", &open)]);
        assert!(!ToolSet::compile(&tools, SchemaLimits::default()).unwrap().lacks_parameters());
        assert_eq!(with_parameters(tools.clone()), tools);
    }

    #[test]
    fn a_good_list_is_compiled_in_order() {
        let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let set = ToolSet::compile(&json!([function("b", &object), function("a-1", &object)]), SchemaLimits::default())
            .unwrap();
        let mut budget = super::super::CheckBudget::new(100);
        assert_eq!(set.names().collect::<Vec<_>>(), ["b", "a-1"]);
        assert_eq!(set.get("b").unwrap().compiled().problems(&json!({"a": 1}), 7, &mut budget), None);
        assert!(set.get("b").unwrap().compiled().problems(&json!({"a": "x"}), 9, &mut budget).is_some());
    }
}
