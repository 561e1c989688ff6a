//! JSON Schemas of clients and characters: measured before they are compiled, and validated with bounded work.

mod compiled_schema;
mod default_values;
mod error_words;
mod limits;
mod pattern_size;
mod references;
mod subschemas;
mod usage;
mod validation_steps;

#[cfg(test)]
mod attack_tests;

pub(super) use compiled_schema::{CompiledSchema, SchemaSource};
pub(super) use default_values::first_unfit_default;
pub use limits::SchemaLimits;
pub(super) use usage::SchemaUsage;
