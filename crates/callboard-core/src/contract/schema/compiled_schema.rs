//! A schema and its validator. Validation does a bounded amount of work and reports the first few errors.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use super::error_words::{problem_words, schema_error_words};
use super::usage::{too_complex, too_deep};
use super::validation_steps::{PatternSteps, Unclear, bounds_of, steps_of};
use super::{SchemaLimits, SchemaUsage};
use crate::contract::coerce::{CoerceRepair, coerce};
use crate::contract::{CheckBudget, strict_schema};
use crate::model::BadRequest;

const MOST_PROBLEMS: usize = 5;
/// Errors are collected where so many steps find them all: each may hold some hundred bytes.
const EXPLAINED_STEPS: u64 = 50_000;
/// A bound on the steps is good enough while it is so small a part of what is left.
const CHEAP_PART: u64 = 8;
/// A match that backtracks more often counts as unfinished.
const BACKTRACKS: usize = 20_000;
/// The cache of one matcher.
const MATCHER_BYTES: usize = 256 << 10;

/// A compiled schema.
#[derive(Debug)]
pub(in crate::contract) struct CompiledSchema {
    schema: Value,
    validator: Validator,
    patterns: PatternSteps,
    steps_per_byte: u64,
    most_steps: u64,
}

/// Why a value does not fit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::contract) struct Problems {
    /// In words that a model can act on.
    pub(in crate::contract) words: String,
    /// Where, as JSON Pointers.
    pub(in crate::contract) paths: Vec<String>,
}

impl Problems {
    fn of_the_whole(words: impl Into<String>) -> Self {
        Self { words: words.into(), paths: Vec::new() }
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        if !self.words.is_empty() {
            self.words.push_str("; ");
        }
        self.words.push_str(&problem_words(error));
        let path = error.instance_path().as_str();
        if !self.paths.iter().any(|known| known == path) {
            self.paths.push(path.to_owned());
        }
    }
}

/// How a schema is read.
pub(in crate::contract) struct SchemaSource<'a> {
    /// Where it is in the request.
    pub(in crate::contract) place: &'a str,
    /// Whether the rules of `strict` hold.
    pub(in crate::contract) strict: bool,
    /// The error code of an invalid schema.
    pub(in crate::contract) code: &'static str,
}

impl CompiledSchema {
    /// Checks a schema whose root must be an object, and compiles it.
    pub(in crate::contract) fn compile(
        schema: &Value,
        source: &SchemaSource<'_>,
        limits: &SchemaLimits,
        usage: &mut SchemaUsage,
    ) -> Result<Self, BadRequest> {
        let SchemaSource { place, strict, code } = *source;
        let bad = |place: String, message: String| BadRequest::at(place, code, message);
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(bad(
                place.into(),
                format!("the root of {place} must be a JSON Schema with \"type\": \"object\""),
            ));
        }
        let patterns = usage.add(schema, place, limits)?;
        if strict && let Err(violation) = strict_schema::check(schema) {
            return Err(bad(format!("{place}{}", violation.place), violation.message));
        }
        let bounds = bounds_of(schema, &patterns).map_err(|unclear| match unclear {
            Unclear::TooDeep => too_deep(place, limits),
            unclear => bad(place.into(), unclear_message(place, &unclear)),
        })?;
        if bounds.single_value > limits.validation_steps {
            return Err(too_complex(place, limits));
        }
        let validator = validator(schema, limits).map_err(|error| {
            bad(place.into(), format!("{place} is not a valid JSON Schema: {}", schema_error_words(&error)))
        })?;
        let most_steps = limits.validation_steps;
        Ok(Self { schema: schema.clone(), validator, patterns, steps_per_byte: bounds.per_byte, most_steps })
    }

    /// The schema as it was written.
    pub(in crate::contract) fn schema(&self) -> &Value {
        &self.schema
    }

    /// Repairs a value where only one reading is possible.
    pub(in crate::contract) fn coerce(&self, value: &mut Value, budget: &mut CheckBudget) -> Vec<CoerceRepair> {
        if budget.steps > self.most_steps {
            return Vec::new();
        }
        let (repairs, steps) = coerce(value, &self.schema);
        budget.spend(steps.into());
        repairs
    }

    /// The validation errors of a value; none if it is valid. `bytes` is the size of the value's text.
    pub(in crate::contract) fn problems(
        &self,
        value: &Value,
        bytes: usize,
        budget: &mut CheckBudget,
    ) -> Option<Problems> {
        let left = self.most_steps.saturating_sub(budget.steps);
        let steps = match self.steps(value, bytes, left) {
            Ok(steps) => steps,
            Err(counted) => {
                budget.spend(counted);
                return Some(Problems::of_the_whole(format!(
                    "validating them takes more than {} steps, the limit limits.validation_steps for the calls of a turn; \
                     write less, or nest less",
                    self.most_steps
                )));
            }
        };
        budget.spend(steps);
        if self.validator.is_valid(value) {
            return None;
        }
        if steps > EXPLAINED_STEPS && self.exact_steps(value, EXPLAINED_STEPS).is_err() {
            return Some(Problems::of_the_whole("they are too large or nested too deep to say where"));
        }
        let mut problems = Problems::default();
        self.validator.iter_errors(value).take(MOST_PROBLEMS).for_each(|error| problems.add(&error));
        Some(problems)
    }

    /// The steps of validating a value: a bound where that is low, else their number. The error is the work of finding out that
    /// they exceed what is left.
    fn steps(&self, value: &Value, bytes: usize, left: u64) -> Result<u64, u64> {
        let bound = self.steps_per_byte.saturating_mul(bytes as u64 + 2);
        if bound <= left / CHEAP_PART { Ok(bound) } else { self.exact_steps(value, left) }
    }

    fn exact_steps(&self, value: &Value, limit: u64) -> Result<u64, u64> {
        steps_of(&self.schema, value, &self.patterns, limit)
    }
}

fn unclear_message(place: &str, unclear: &Unclear<'_>) -> String {
    match unclear {
        Unclear::Reference(reference) => {
            format!("{place} refers to {reference:?}, which is not in it; write `#/…` for a place inside the schema")
        }
        Unclear::Cycle => format!("{place} has a schema that refers to itself without a property or an item between"),
        Unclear::EmbeddedId | Unclear::TooDeep => format!(
            "{place} has an `$id` or a `$schema` below its root, which changes what its references mean; leave it out, and \
             write `#/…` for a place inside the schema"
        ),
    }
}

pub(super) fn validator(schema: &Value, limits: &SchemaLimits) -> Result<Validator, ValidationError<'static>> {
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACKS)
        .size_limit(limits.pattern_bytes.saturating_mul(2))
        .dfa_size_limit(MATCHER_BYTES);
    jsonschema::options().with_pattern_options(patterns).build(schema)
}
