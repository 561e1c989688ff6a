//! What the schemas of one request hold, counted against the limits before anything is compiled.

use serde_json::Value;

use super::SchemaLimits;
use super::pattern_size::pattern_size;
use super::subschemas::size;
use super::validation_steps::{PatternSteps, pattern_steps, patterns_of};
use crate::model::BadRequest;

/// Heap bytes of one compiled JSON value of a schema; measured by `tests/schema_memory.rs`.
const NODE_BYTES: usize = 600;
/// A compiled pattern also has a reverse automaton and the caches of its matcher.
const PATTERN_FACTOR: usize = 4;
/// What the smallest pattern holds.
const PATTERN_BASE: usize = 8 << 10;

/// The schemas of one request so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::contract) struct SchemaUsage {
    nodes: usize,
    enum_values: usize,
    patterns: usize,
    pattern_bytes: usize,
}

/// One schema: its own properties, and what it adds to the request.
#[derive(Debug, Default)]
struct Measured {
    properties: usize,
    usage: SchemaUsage,
    pattern_steps: PatternSteps,
}

impl SchemaUsage {
    /// Adds a schema, and returns what its patterns cost. Works without recursion, so that no schema can exhaust the stack.
    pub(in crate::contract) fn add(
        &mut self,
        schema: &Value,
        place: &str,
        limits: &SchemaLimits,
    ) -> Result<PatternSteps, BadRequest> {
        let mut waiting = vec![(schema, 1_usize)];
        let mut measured = Measured { usage: *self, ..Measured::default() };
        while let Some((node, depth)) = waiting.pop() {
            if depth > limits.depth.saturating_mul(2) {
                return Err(too_deep(place, limits));
            }
            measured.count(node);
            measured.check(place, limits)?;
            match node {
                Value::Object(map) => waiting.extend(map.values().map(|child| (child, depth + 1))),
                Value::Array(list) => waiting.extend(list.iter().map(|child| (child, depth + 1))),
                _ => {}
            }
        }
        *self = measured.usage;
        Ok(measured.pattern_steps)
    }

    /// The memory that the compiled schemas hold, estimated.
    pub(in crate::contract) fn held_bytes(&self) -> usize {
        let patterns = self.pattern_bytes.saturating_mul(PATTERN_FACTOR).saturating_add(self.patterns * PATTERN_BASE);
        self.nodes.saturating_mul(NODE_BYTES).saturating_add(patterns)
    }
}

impl Measured {
    fn count(&mut self, node: &Value) {
        self.usage.nodes += 1;
        let Value::Object(schema) = node else { return };
        self.properties += schema.get("properties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.usage.enum_values += values.iter().map(|value| size(value) as usize).sum::<usize>();
        }
        for pattern in patterns_of(schema) {
            let size = pattern_size(pattern);
            self.usage.patterns += 1;
            self.usage.pattern_bytes = self.usage.pattern_bytes.saturating_add(size.bytes);
            self.pattern_steps.insert(pattern.to_owned(), pattern_steps(size));
        }
    }

    fn check(&self, place: &str, limits: &SchemaLimits) -> Result<(), BadRequest> {
        let SchemaUsage { nodes, enum_values, patterns, pattern_bytes } = self.usage;
        for (count, limit, key, what) in [
            (self.properties, limits.properties, "schema_properties", "properties"),
            (nodes, limits.nodes, "schema_nodes", "JSON values, counted over all schemas of the request"),
            (
                enum_values,
                limits.enum_values,
                "schema_enum_values",
                "enum values, counted over all schemas of the request",
            ),
            (patterns, limits.patterns, "schema_patterns", "patterns, counted over all schemas of the request"),
            (
                pattern_bytes,
                limits.pattern_bytes,
                "schema_pattern_bytes",
                "bytes of compiled patterns, counted over all schemas of the request",
            ),
        ] {
            if count > limit {
                let message = format!("{place} has more than {limit} {what}; the limit is limits.{key}");
                return Err(BadRequest::at(place, "schema_too_large", message));
            }
        }
        Ok(())
    }
}

/// The refusal of a schema that nests too deep.
pub(super) fn too_deep(place: &str, limits: &SchemaLimits) -> BadRequest {
    let message = format!("{place} is nested deeper than the limit limits.schema_depth of {}", limits.depth);
    BadRequest::at(place, "schema_too_deep", message)
}

/// The refusal of a schema that would be applied to one value too often.
pub(super) fn too_complex(place: &str, limits: &SchemaLimits) -> BadRequest {
    let message = format!(
        "{place} takes more than {} steps to validate a single value, with its references followed; the limit is \
         limits.validation_steps",
        limits.validation_steps
    );
    BadRequest::at(place, "schema_too_large", message)
}
