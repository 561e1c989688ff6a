//! The defaults in a schema: each must fit the part of the schema that it belongs to, because it is filled in unchecked.

use serde_json::{Map, Value, json};

use super::SchemaLimits;
use super::compiled_schema::validator;
use super::error_words::problem_words;
use super::subschemas::{Applies, Subschema, each_subschema};

/// What is wrong with the first default that does not fit. A part that cannot be compiled on its own counts as fitting.
pub(in crate::contract) fn first_unfit_default(schema: &Value, limits: &SchemaLimits) -> Option<String> {
    let draft = schema.get("$schema");
    let mut waiting = vec![(String::new(), schema)];
    while let Some((place, part)) = waiting.pop() {
        let Value::Object(keywords) = part else { continue };
        if let Some(problem) = keywords.get("default").and_then(|value| problem_of(value, keywords, draft, limits)) {
            return Some(format!("the default of parameter `{place}` does not fit: {problem}"));
        }
        each_subschema(keywords, |applies, child| {
            if let Subschema::Inline(child) = child {
                waiting.push((place_of(&place, applies), child));
            }
        });
    }
    None
}

fn problem_of(
    value: &Value,
    keywords: &Map<String, Value>,
    draft: Option<&Value>,
    limits: &SchemaLimits,
) -> Option<String> {
    let mut alone = keywords.clone();
    if let Some(draft) = draft {
        alone.insert("$schema".to_owned(), draft.clone());
    }
    let compiled = validator(&json!(alone), limits).ok()?;
    compiled.iter_errors(value).next().map(|error| problem_words(&error))
}

fn place_of(outer: &str, applies: Applies<'_>) -> String {
    match applies {
        Applies::Property(name) if outer.is_empty() => name.to_owned(),
        Applies::Property(name) => format!("{outer}.{name}"),
        Applies::Item(_) | Applies::Items => format!("{outer}[]"),
        _ => outer.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfit(properties: &Value) -> Option<String> {
        first_unfit_default(&json!({"type": "object", "properties": properties}), &SchemaLimits::default())
    }

    #[test]
    fn a_default_must_fit_its_own_part() {
        let unit = |wounds: Value| json!({"unit": {"type": "object", "properties": {"wounds": wounds}}});
        let table = [
            (json!({"a": {"type": "integer", "default": 3}}), None),
            (json!({"a": {"type": ["string", "null"], "default": null}}), None),
            (json!({"default": {"type": "string"}}), None),
            (
                json!({"a": {"type": "integer", "default": "3"}}),
                Some("`a` does not fit: \"3\" is not of type \"integer\""),
            ),
            (json!({"a": {"type": "string", "default": null}}), Some("null is not of type \"string\"")),
            (json!({"a": {"type": "integer", "minimum": 1, "default": 0}}), Some("0 is less than the minimum of 1")),
            (json!({"a": {"enum": ["red"], "default": "blue"}}), Some("\"blue\" is not one of \"red\"")),
            (unit(json!({"type": "integer", "default": true})), Some("`unit.wounds`")),
            (json!({"l": {"type": "array", "items": unit(json!({"type": "integer", "default": 1}))["unit"]}}), None),
            (
                json!({"l": {"type": "array", "items": unit(json!({"type": "null", "default": 1}))["unit"]}}),
                Some("`l[].wounds`"),
            ),
        ];
        for (properties, expected) in table {
            let found = unfit(&properties);
            match expected {
                None => assert_eq!(found, None, "{properties}"),
                Some(words) => {
                    assert!(found.as_ref().is_some_and(|found| found.contains(words)), "{properties}: {found:?}");
                }
            }
        }
    }
}
