//! The tools of a request: the stems of their names and descriptions, and the types of their parameters.
//!
//! Required objects are flattened, so every field holds a scalar or a list of scalars.
//! Types that words cannot fill (free-form objects, tuples) become `Other` and are never filled.

use serde_json::{Map, Value};

use super::lexicon::{CHANGING, GENERIC};
use super::role::{Role, roles_of};
use super::stem::stem;
use super::text_sort::TextSort;
use super::words::{stems_of, stems_of_description};

const DEEPEST: usize = 3;
const MOST_FIELDS: usize = 64;

/// One tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    /// Stems of the name.
    pub(super) title: Vec<String>,
    /// Stems of the description.
    pub(super) summary: Vec<String>,
    pub(super) fields: Vec<Field>,
    /// Has side effects, so a question does not call it.
    pub(super) changes: bool,
    /// An undo tool.
    pub(super) undoes: bool,
}

/// One parameter of a tool.
#[derive(Debug)]
pub(super) struct Field {
    /// Path of its value in the arguments; longer than one for nested objects.
    pub(super) path: Vec<String>,
    /// Stems of its name.
    pub(super) title: Vec<String>,
    /// Stems of its description.
    pub(super) summary: Vec<String>,
    roles: Vec<Role>,
    pub(super) holds: Holds,
    pub(super) required: bool,
    /// A value that the schema or the description gives as an example.
    pub(super) example: Option<String>,
    pub(super) default: Option<Value>,
}

/// The type of a parameter.
#[derive(Debug)]
pub(super) enum Holds {
    Number { whole: bool, least: f64, most: f64 },
    Truth,
    Choice(Vec<Choice>),
    Text(TextSort),
    List { of: Box<Holds>, most: usize },
    Other,
}

/// One value of an enumeration.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) value: Value,
    pub(super) title: Vec<String>,
    /// Stems of the description's explanation of this value.
    pub(super) gloss: Vec<String>,
}

/// The tools of a request in order, without unnamed entries.
pub(super) fn tools_of(request: &Value) -> Vec<Tool> {
    let entries = request.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(|entry| tool_of(entry.get("function").unwrap_or(entry))).collect()
}

fn tool_of(function: &Value) -> Option<Tool> {
    let name = function.get("name")?.as_str().filter(|name| !name.is_empty())?.to_owned();
    let description = function.get("description").and_then(Value::as_str).unwrap_or("");
    let (title, summary) = (stems_of(&name), stems_of_description(description));
    let mut fields = Vec::new();
    if let Some(schema) = function.get("parameters") {
        add_fields(&mut fields, schema, schema, &[], DEEPEST);
    }
    let first_words = [title.first(), summary.first()];
    Some(Tool {
        changes: first_words.into_iter().flatten().any(|word| CHANGING.contains(word)) && !asks(&title),
        undoes: title.iter().any(|word| ["undo", "revert", "rollback"].contains(&word.as_str())),
        name,
        title,
        summary,
        fields,
    })
}

/// Whether the name begins with a query verb; overrides the first word of the description.
fn asks(title: &[String]) -> bool {
    const ASKING: &[&str] =
        &["get", "query", "search", "find", "list", "show", "fetch", "look", "lookup", "calculate", "convert"];
    title.first().is_some_and(|first| ASKING.iter().any(|word| stem(word) == *first))
}

fn add_fields(fields: &mut Vec<Field>, root: &Value, schema: &Value, path: &[String], depth: usize) {
    let schema = resolved(root, schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, property) in properties {
        if fields.len() >= MOST_FIELDS {
            return;
        }
        let property = resolved(root, property);
        let here: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        let needed = required.contains(&name.as_str());
        if needed && depth > 0 && property.get("properties").is_some() {
            add_fields(fields, root, property, &here, depth - 1);
        } else {
            fields.push(field_of(root, property, name, here, needed));
        }
    }
}

fn field_of(root: &Value, property: &Value, name: &str, path: Vec<String>, required: bool) -> Field {
    let description = property.get("description").and_then(Value::as_str).unwrap_or("");
    let (title, summary) = (stems_of(name), stems_of_description(description));
    Field {
        holds: holds_of(root, property, &title, &summary, DEEPEST),
        default: property.get("default").cloned(),
        example: example_of(property, description),
        roles: roles_of(&title),
        path,
        title,
        summary,
        required,
    }
}

/// The first of `examples`, or what follows "for example" in the description: one short text.
fn example_of(property: &Value, description: &str) -> Option<String> {
    const LONGEST: usize = 40;
    const LEADS: &[&str] = &["for example ", "e.g. ", "such as ", "for instance "];
    let listed = property.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
    if let Some(text) = listed.and_then(Value::as_str).filter(|text| text.len() <= LONGEST) {
        return Some(text.to_owned());
    }
    let (at, lead) = LEADS.iter().find_map(|lead| Some((description.find(lead)?, lead)))?;
    let text = description.get(at + lead.len()..)?;
    let mut depth = 0_i32;
    let ends = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        matches!(letter, ',' | ';') || depth < 0
    };
    let text = text.split(ends).next().unwrap_or(text).split(" or ").next().unwrap_or(text);
    let text = text.trim().trim_end_matches('.').trim_matches(['"', '\'', '`']);
    (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
}

fn holds_of(root: &Value, property: &Value, title: &[String], summary: &[String], depth: usize) -> Holds {
    let property = resolved(root, property);
    if let Some(values) = choices_of(property) {
        let description = property.get("description").and_then(Value::as_str).unwrap_or("");
        return Holds::Choice(choices_with_gloss(values, description));
    }
    match type_of(property) {
        "integer" => number_of(property, true),
        "number" => number_of(property, false),
        "boolean" => Holds::Truth,
        "string" => Holds::Text(TextSort::of(title, summary, property.get("format").and_then(Value::as_str))),
        "array" if depth > 0 => {
            let items = property.get("items").unwrap_or(&Value::Null);
            let most = property.get("maxItems").and_then(Value::as_u64).unwrap_or(50);
            let of = holds_of(root, items, title, summary, depth - 1);
            Holds::List { of: Box::new(of), most: usize::try_from(most).unwrap_or(50) }
        }
        _ => Holds::Other,
    }
}

fn number_of(property: &Value, whole: bool) -> Holds {
    let bound = |name: &str| property.get(name).and_then(Value::as_f64);
    Holds::Number {
        whole,
        least: bound("minimum").or(bound("exclusiveMinimum")).unwrap_or(f64::NEG_INFINITY),
        most: bound("maximum").or(bound("exclusiveMaximum")).unwrap_or(f64::INFINITY),
    }
}

fn choices_of(property: &Value) -> Option<Vec<Value>> {
    if let Some(value) = property.get("const") {
        return Some(vec![value.clone()]);
    }
    let values: Vec<Value> =
        property.get("enum")?.as_array()?.iter().filter(|value| !value.is_null()).cloned().collect();
    (!values.is_empty()).then_some(values)
}

/// Splits a description such as "threats: what to watch for; all: both" into an explanation per value.
fn choices_with_gloss(values: Vec<Value>, description: &str) -> Vec<Choice> {
    let lower = description.to_lowercase();
    let literal = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_lowercase);
    let mut places: Vec<(usize, usize)> = Vec::new();
    for value in &values {
        let name = literal(value);
        let found = explained_at(&lower, &name).unwrap_or(usize::MAX);
        places.push((found, name.len()));
    }
    let gloss = |index: usize| {
        let Some(&(start, length)) = places.get(index) else { return Vec::new() };
        let next = places.iter().map(|place| place.0).filter(|place| *place > start).min().unwrap_or(usize::MAX);
        let text = start.checked_add(length).and_then(|from| lower.get(from..next.min(lower.len())));
        text.map(|text| stems_of(text.split(['.', ';']).next().unwrap_or(text))).unwrap_or_default()
    };
    let glosses: Vec<Vec<String>> = (0..values.len()).map(gloss).collect();
    let choice = |(value, gloss): (Value, Vec<String>)| Choice { title: stems_of(&literal(&value)), value, gloss };
    values.into_iter().zip(glosses).map(choice).collect()
}

/// Where a value occurs as a whole word, followed by an explanation.
fn explained_at(description: &str, name: &str) -> Option<usize> {
    let whole = |at: usize| {
        let before = description.get(..at).and_then(|text| text.chars().next_back());
        let after = description.get(at + name.len()..).and_then(|text| text.chars().next());
        let apart = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_');
        apart(before) && after.is_none_or(|letter| matches!(letter, ':' | ' ' | '=' | '(' | '"' | '\'' | '`'))
    };
    description.match_indices(name).map(|(at, _)| at).find(|at| !name.is_empty() && whole(*at))
}

fn type_of(property: &Value) -> &str {
    let stated = match property.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    };
    match stated {
        Some("float" | "double") => "number",
        Some("dict") => "object",
        Some("any") => "string",
        Some(name) => name,
        None if property.get("items").is_some() => "array",
        None if property.get("properties").is_some() => "object",
        None if property.as_object().is_some_and(Map::is_empty) => "string",
        None => "",
    }
}

/// Follows a local `$ref`, or picks the first variant that is not null.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..8 {
        let variants = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(*name)).and_then(Value::as_array);
        let target = match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer)),
            None => variants
                .filter(|_| schema.get("type").is_none() && schema.get("properties").is_none())
                .and_then(|variants| variants.iter().find(|variant| type_of(variant) != "null")),
        };
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

impl Tool {
    /// Whether its name or a parameter name has this stem, generic words excluded.
    pub(super) fn names(&self, stem: &str) -> bool {
        self.title.iter().chain(self.fields.iter().flat_map(|field| &field.title)).any(|own| own == stem)
    }
}

impl Field {
    /// The stems of its name, generic words excluded.
    pub(super) fn distinctive_stems(&self) -> impl Iterator<Item = &String> {
        self.title.iter().filter(|stem| !GENERIC.contains(stem.as_str()))
    }

    /// Whether its name gives it this role.
    pub(super) fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_read_with_their_bounds_and_glosses() {
        let tools = tools_of(&json!({"tools": [{"type": "function", "function": {
            "name": "setMode",
            "parameters": {"type": "object", "required": ["mode", "place"], "properties": {
                "mode": {"type": "string", "enum": ["eco", "comfort"], "description": "eco: saves power; comfort: warm and cosy"},
                "level": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
                "place": {"type": "object", "required": ["city"], "properties": {"city": {"$ref": "#/$defs/city"}}},
            }, "$defs": {"city": {"type": "string"}}},
        }}]}));
        let tool = &tools[0];
        assert!(tool.changes);
        assert_eq!(tool.title, ["set", "mode"]);
        let Holds::Choice(choices) = &tool.fields[0].holds else { panic!("{:?}", tool.fields[0]) };
        assert_eq!(choices[1].gloss, ["warm", "and", "cosi"]);
        assert!(matches!(tool.fields[1].holds, Holds::Number { whole: true, least: 1.0, most: 5.0 }));
        assert_eq!(tool.fields[2].path, ["place", "city"]);
        assert!(matches!(tool.fields[2].holds, Holds::Text(TextSort::Place)));
    }

    #[test]
    fn what_is_no_tool_is_left_out() {
        for request in [json!(null), json!({"tools": 5}), json!({"tools": [{}, 1, {"function": {"name": ""}}]})] {
            assert!(tools_of(&request).is_empty(), "{request}");
        }
    }
}
