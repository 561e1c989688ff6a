//! The subschemas of a schema, each with the values that it is applied to.

use serde_json::{Map, Value};

use super::references::REFERENCES;

/// Which values a subschema is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Applies<'s> {
    /// The value itself.
    InPlace,
    /// The property of this name.
    Property(&'s str),
    /// Properties that have no schema of their own.
    OtherProperties,
    /// Properties whose names match a pattern.
    MatchingProperties,
    /// The names of all properties.
    PropertyNames,
    /// The item at this index.
    Item(usize),
    /// All items, or those without a schema of their own.
    Items,
}

/// One subschema, or a reference to one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subschema<'s> {
    Inline(&'s Value),
    Reference(&'s str),
}

/// Calls `visit` for each subschema.
pub(super) fn each_subschema<'s>(schema: &'s Map<String, Value>, mut visit: impl FnMut(Applies<'s>, Subschema<'s>)) {
    for (keyword, value) in schema {
        match keyword.as_str() {
            keyword if REFERENCES.contains(&keyword) => {
                if let Some(reference) = value.as_str() {
                    visit(Applies::InPlace, Subschema::Reference(reference));
                }
            }
            "allOf" | "anyOf" | "oneOf" => each_item(value, |_, part| visit(Applies::InPlace, part)),
            "not" | "if" | "then" | "else" => visit(Applies::InPlace, Subschema::Inline(value)),
            "dependentSchemas" | "dependencies" => each_member(value, |_, part| visit(Applies::InPlace, part)),
            "properties" => each_member(value, |name, part| visit(Applies::Property(name), part)),
            "patternProperties" => each_member(value, |_, part| visit(Applies::MatchingProperties, part)),
            "additionalProperties" | "unevaluatedProperties" => {
                visit(Applies::OtherProperties, Subschema::Inline(value));
            }
            "propertyNames" => visit(Applies::PropertyNames, Subschema::Inline(value)),
            "prefixItems" => each_item(value, |index, part| visit(Applies::Item(index), part)),
            "items" if value.is_array() => each_item(value, |index, part| visit(Applies::Item(index), part)),
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                visit(Applies::Items, Subschema::Inline(value));
            }
            _ => {}
        }
    }
}

fn each_item<'s>(list: &'s Value, mut visit: impl FnMut(usize, Subschema<'s>)) {
    for (index, part) in list.as_array().into_iter().flatten().enumerate() {
        visit(index, Subschema::Inline(part));
    }
}

fn each_member<'s>(map: &'s Value, mut visit: impl FnMut(&'s str, Subschema<'s>)) {
    for (name, part) in map.as_object().into_iter().flatten() {
        visit(name, Subschema::Inline(part));
    }
}

/// What a schema's own keywords cost when it is applied to a value, in steps.
pub(super) fn own_steps(schema: &Map<String, Value>) -> u64 {
    schema.iter().fold(1, |sum, (keyword, value)| sum.saturating_add(keyword_steps(keyword, value)))
}

fn keyword_steps(keyword: &str, value: &Value) -> u64 {
    let entries = || value.as_object().map(Map::len).or_else(|| value.as_array().map(Vec::len)).unwrap_or(0) as u64;
    match keyword {
        // A list of strings is looked up by hash.
        "enum" if value.as_array().is_some_and(|list| list.iter().all(Value::is_string)) => entries().min(10),
        "enum" | "const" => size(value),
        "required" | "properties" | "patternProperties" | "dependentRequired" | "dependentSchemas" | "dependencies" => {
            entries()
        }
        // An item is compared once for each array around it.
        "uniqueItems" => 64,
        "format" => 4,
        _ => 0,
    }
}

/// How many JSON values a value consists of.
pub(super) fn size(value: &Value) -> u64 {
    let mut waiting = vec![value];
    let mut count = 0;
    while let Some(value) = waiting.pop() {
        count += 1;
        match value {
            Value::Object(map) => waiting.extend(map.values()),
            Value::Array(list) => waiting.extend(list),
            _ => {}
        }
    }
    count
}
