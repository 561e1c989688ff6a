//! Schema-guided repair of parsed arguments: `"5"` where an integer is due, a scalar where a list of it is due, and their like.
//!
//! Only a place whose value does not fit its schema is touched, and only if a single reading is possible; the one exception is
//! an integer written as `5.0`. No property is dropped but a `null` for an optional one, no value is invented, and no number
//! becomes text. Whether the result is valid is for the validator to say.

mod coercion_walk;
mod fit;
mod integer;
mod repair_kind;
mod text;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;

pub use coercion_walk::coerce;
pub(super) use fit::names_type;
pub use repair_kind::CoerceRepair;
