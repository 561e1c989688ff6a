//! Whether a value fits a schema by its JSON type, `enum` and `const`.
//!
//! Deliberately weaker than validity: every valid value fits. Other keywords, unknown references and schemas beyond the depth
//! limit count as fitting, so that a valid value is never repaired.

use std::cell::Cell;

use serde_json::{Map, Value};

use super::integer_from_float::may_be_integer;

/// How much is compared for one value: a schema is one step, each enum value one more. References may be cyclic.
const MOST_STEPS: u32 = 500_000;
/// How deep schemas and values are followed.
const DEEPEST: usize = 128;

/// The keywords of one schema.
pub(super) type Keywords = Map<String, Value>;

/// The root schema, which `$ref` refers to.
pub(super) struct Schemas<'s> {
    root: &'s Value,
    siblings_of_ref_count: bool,
    steps_left: Cell<u32>,
}

impl<'s> Schemas<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        Self {
            root,
            // Up to draft-07 a `$ref` replaces all keywords beside it.
            siblings_of_ref_count: !draft.contains("/draft-0"),
            steps_left: Cell::new(MOST_STEPS),
        }
    }

    /// The keywords of a schema, within the depth and step limits.
    pub(super) fn follow(&self, schema: &'s Value, depth: usize) -> Option<ResolvedSchema<'s>> {
        let keywords = schema.as_object()?;
        let values = keywords.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        self.charge(values.saturating_add(1)).filter(|()| depth < DEEPEST)?;
        let reference = keywords.get("$ref").and_then(Value::as_str);
        Some(ResolvedSchema {
            target: reference.and_then(|reference| self.resolve(reference)),
            own: (reference.is_none() || self.siblings_of_ref_count).then_some(keywords),
        })
    }

    /// Spends steps; none if too few are left.
    pub(super) fn charge(&self, steps: usize) -> Option<()> {
        let left = self.steps_left.get().checked_sub(u32::try_from(steps).ok()?);
        self.steps_left.set(left.unwrap_or(0));
        left.map(|_| ())
    }

    /// The steps taken so far.
    pub(super) fn steps(&self) -> u32 {
        MOST_STEPS - self.steps_left.get()
    }

    fn resolve(&self, reference: &str) -> Option<&'s Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// Whether a value fits; follows combined and referenced schemas, but not the parts of the value.
    pub(super) fn fits(&self, value: &Value, schema: &'s Value, depth: usize) -> bool {
        let Some(ResolvedSchema { target, own }) = self.follow(schema, depth) else {
            return *schema != Value::Bool(false);
        };
        let deeper = |schema: &&'s Value| self.fits(value, schema, depth + 1);
        target.iter().all(deeper)
            && own.is_none_or(|own| {
                fits_here(value, own)
                    && branches(own, "allOf").iter().all(|schema| deeper(&schema))
                    && ["anyOf", "oneOf"].into_iter().all(|keyword| {
                        let branches = branches(own, keyword);
                        branches.is_empty() || branches.iter().any(|schema| deeper(&schema))
                    })
            })
    }
}

/// A schema's `$ref` target and its own keywords.
pub(super) struct ResolvedSchema<'s> {
    pub(super) target: Option<&'s Value>,
    pub(super) own: Option<&'s Map<String, Value>>,
}

/// The schemas under `allOf`, `anyOf` or `oneOf`.
pub(super) fn branches<'s>(schema: &'s Map<String, Value>, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether a value fits the schema's own `type`, `enum` and `const`.
pub(super) fn fits_here(value: &Value, schema: &Map<String, Value>) -> bool {
    if value.is_null() && schema.get("nullable") == Some(&Value::Bool(true)) {
        return true;
    }
    let of_type = match schema.get("type") {
        Some(Value::String(name)) => is_of_type(value, name),
        Some(Value::Array(names)) => names.iter().any(|name| name.as_str().is_none_or(|name| is_of_type(value, name))),
        _ => true,
    };
    let listed = schema.get("enum").and_then(Value::as_array);
    of_type
        && listed.is_none_or(|listed| listed.iter().any(|entry| same(entry, value)))
        && schema.get("const").is_none_or(|constant| same(constant, value))
}

/// Whether a schema's `type` names this type.
pub(in crate::contract) fn names_type(schema: &Map<String, Value>, wanted: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == wanted,
        Some(Value::Array(names)) => names.iter().any(|name| name == wanted),
        _ => false,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => matches!(value, Value::Number(number) if may_be_integer(number.as_str())),
        _ => true,
    }
}

/// Equality as in JSON Schema, where `1` equals `1.0`; numbers that are equal as floats count as equal.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}
