//! Schema-guided repair of parsed arguments: `"5"` for an integer, a scalar for a list, and so on.
//!
//! Only a value that does not fit its schema is changed, and only if a single reading is possible; the one exception is
//! an integer written as `5.0`. No property is dropped except an optional `null`, no value is invented, and no number
//! becomes text. The validator checks the result.

mod coercion_walk;
mod fit;
mod integer_from_float;
mod repair_kind;
mod text;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod property_tests;

pub use coercion_walk::coerce;
pub(super) use fit::names_type;
pub use repair_kind::CoerceRepair;
