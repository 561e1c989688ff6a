//! The walk over a value and its schema together.
//!
//! At each place, in order: `$ref`, the schema's own type, combined schemas, the parts of the value. A union is entered only if
//! exactly one branch fits. The value is changed in place; only a scalar or an object that needs repair is copied.

use serde_json::Value;

use super::fit::{Keywords, ResolvedSchema, Schemas, branches, fits_here, names_type};
use super::integer_from_float::plain_integer;
use super::repair_kind::CoerceRepair;
use super::text::{enum_text, read_text};

/// One repair may enable another, so the walk is repeated until it repairs nothing. Bounded, because a contradictory schema
/// would never settle.
const MOST_PASSES: usize = 4;
/// Bytes of a text that are read in one step.
const BYTES_PER_STEP: usize = 64;

/// Coerces `value` towards `schema`, the root schema of a tool's parameters, where only one reading is possible.
///
/// Returns each kind of repair once, in the order it was first needed, and the steps that were taken.
pub fn coerce(value: &mut Value, schema: &Value) -> (Vec<CoerceRepair>, u32) {
    let schemas = Schemas::new(schema);
    let mut repairs = Vec::new();
    for _ in 0..MOST_PASSES {
        let mut pass = Coercion { schemas: &schemas, repairs: Vec::new() };
        pass.visit(value, schema, 0);
        if pass.repairs.is_empty() {
            break;
        }
        for repair in pass.repairs {
            note(&mut repairs, repair);
        }
    }
    (repairs, schemas.steps())
}

struct Coercion<'w, 's> {
    schemas: &'w Schemas<'s>,
    repairs: Vec<CoerceRepair>,
}

impl<'s> Coercion<'_, 's> {
    fn visit(&mut self, value: &mut Value, schema: &'s Value, depth: usize) {
        if self.schemas.charge(text_steps(value)).is_none() {
            return;
        }
        let Some(ResolvedSchema { target, own }) = self.schemas.follow(schema, depth) else {
            return;
        };
        if let Some(target) = target {
            self.visit(value, target, depth + 1);
        }
        let Some(own) = own else { return };
        self.mend(value, own, depth);
        for part in branches(own, "allOf") {
            self.visit(value, part, depth + 1);
        }
        self.choose(value, branches(own, "anyOf"), depth);
        self.choose(value, branches(own, "oneOf"), depth);
        match value {
            Value::Object(object) => self.properties(object, own, depth),
            Value::Array(array) => self.items(array, own, depth),
            _ => {}
        }
    }

    /// Repairs this value by the schema's own `type`, `enum` and `const`.
    fn mend(&mut self, value: &mut Value, schema: &'s Keywords, depth: usize) {
        if let Some(integer) = integer_from_float(value, schema) {
            *value = integer;
            self.repaired(CoerceRepair::IntegerFromFloat);
        }
        if fits_here(value, schema) {
            return;
        }
        let read = value.as_str().and_then(|text| read_text(text, schema)).or_else(|| enum_text(value, schema));
        if let Some((read, repair)) = read {
            *value = read;
            self.repaired(repair);
        } else if let Some((array, around)) = self.array_around(value, schema, depth) {
            *value = array;
            self.repaired(around);
        }
    }

    /// Wraps a scalar or an object where the schema wants a list of such values. Text that starts like a list is a broken list.
    fn array_around(&mut self, value: &Value, schema: &'s Keywords, depth: usize) -> Option<(Value, CoerceRepair)> {
        let items = schema.get("items").filter(|items| items.is_object())?;
        let tuple = schema.contains_key("prefixItems");
        let broken = value.as_str().is_some_and(|text| text.trim_start().starts_with('['));
        if tuple || broken || !names_type(schema, "array") || !is_single(value) {
            return None;
        }
        self.schemas.charge(copy_steps(value))?;
        let before = self.repairs.len();
        let mut item = value.clone();
        self.visit(&mut item, items, depth + 1);
        let fits = is_single(&item) && self.schemas.fits(&item, items, depth + 1);
        let around = match item {
            Value::Object(_) => CoerceRepair::ArrayAroundObject,
            _ => CoerceRepair::ArrayAroundScalar,
        };
        let array = Some(Value::Array(vec![item]));
        let array = array.filter(|array| fits && fits_here(array, schema));
        if array.is_none() {
            self.repairs.truncate(before);
        }
        array.map(|array| (array, around))
    }

    /// Enters the only branch that the value fits; if it fits none, applies a repair that all branches agree on.
    fn choose(&mut self, value: &mut Value, branches: &'s [Value], depth: usize) {
        let schemas = self.schemas;
        let mut fitting = branches.iter().filter(|branch| schemas.fits(value, branch, depth + 1));
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => self.visit(value, only, depth + 1),
            (None, _) if is_single(value) => self.convert(value, branches, depth),
            _ => {}
        }
    }

    fn convert(&mut self, value: &mut Value, branches: &'s [Value], depth: usize) {
        let mut found: Option<(Value, Vec<CoerceRepair>)> = None;
        for branch in branches {
            if self.schemas.charge(copy_steps(value)).is_none() {
                return;
            }
            let mut attempt = Coercion { schemas: self.schemas, repairs: Vec::new() };
            let mut candidate = value.clone();
            attempt.visit(&mut candidate, branch, depth + 1);
            if !self.schemas.fits(&candidate, branch, depth + 1) {
                continue;
            }
            match &found {
                Some((other, _)) if *other != candidate => return,
                Some(_) => {}
                None => found = Some((candidate, attempt.repairs)),
            }
        }
        if let Some((candidate, repairs)) = found {
            *value = candidate;
            repairs.into_iter().for_each(|repair| self.repaired(repair));
        }
    }

    fn properties(&mut self, object: &mut Keywords, schema: &'s Keywords, depth: usize) {
        let declared = schema.get("properties").and_then(Value::as_object);
        // Patterns are not evaluated here, so the properties left for `additionalProperties` are unknown.
        let patterns = schema.contains_key("patternProperties");
        let additional = schema.get("additionalProperties").filter(|_| !patterns);
        let mut nulls = false;
        for (name, value) in object.iter_mut() {
            let own = declared.and_then(|declared| declared.get(name));
            if let Some(schema) = own.or(additional) {
                self.visit(value, schema, depth + 1);
            }
            nulls |= value.is_null();
        }
        if let Some(declared) = declared.filter(|_| nulls) {
            let required = branches(schema, "required");
            self.leave_out_nulls(object, declared, required, depth);
        }
    }

    fn leave_out_nulls(&mut self, object: &mut Keywords, declared: &'s Keywords, required: &[Value], depth: usize) {
        let schemas = self.schemas;
        let before = object.len();
        object.retain(|name, value| {
            let schema = declared.get(name).filter(|schema| schema.is_object());
            !value.is_null()
                || required.iter().any(|required| required == name)
                || schema.is_none_or(|schema| schemas.fits(value, schema, depth + 1))
        });
        if object.len() < before {
            self.repaired(CoerceRepair::NullForOptional);
        }
    }

    /// Items by position first (`prefixItems`, or draft-07's list in `items`), then all others alike.
    fn items(&mut self, array: &mut [Value], schema: &'s Keywords, depth: usize) {
        let prefix = branches(schema, "prefixItems");
        let positional = if prefix.is_empty() { branches(schema, "items") } else { prefix };
        let rest = schema.get("items").filter(|items| items.is_object());
        if positional.is_empty() && rest.is_none() {
            return;
        }
        for (index, item) in array.iter_mut().enumerate() {
            if let Some(schema) = positional.get(index).or(rest) {
                self.visit(item, schema, depth + 1);
            }
        }
    }

    fn repaired(&mut self, repair: CoerceRepair) {
        note(&mut self.repairs, repair);
    }
}

fn note(repairs: &mut Vec<CoerceRepair>, repair: CoerceRepair) {
    if !repairs.contains(&repair) {
        repairs.push(repair);
    }
}

/// What it costs to read or copy a text.
fn text_steps(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.len() / BYTES_PER_STEP)
}

/// What it costs to copy a value.
fn copy_steps(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(copy_steps).sum::<usize>().saturating_add(items.len()),
        Value::Object(fields) => fields.values().map(copy_steps).sum::<usize>().saturating_add(fields.len()),
        _ => text_steps(value),
    }
}

/// Whether a value may be the only one of a list.
fn is_single(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean() || value.is_object()
}

fn integer_from_float(value: &Value, schema: &Keywords) -> Option<Value> {
    let Value::Number(number) = value else {
        return None;
    };
    if !names_type(schema, "integer") || names_type(schema, "number") {
        return None;
    }
    plain_integer(number.as_str())?.parse().ok().map(Value::Number)
}
