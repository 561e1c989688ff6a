//! Reading the text a model wrote as a tool call's `arguments`.
//!
//! Strict JSON is the fast way and the rule. What is not strict goes through one hand-written reader that accepts a short,
//! closed list of slips whose meaning is certain, and names each one it met; everything else is refused in words a model can
//! act on. Nothing here knows a tool or its schema: that is `coerce` and the validator.

mod arguments;
mod lenient;
mod numbers;
mod reading;
mod strict;
mod strings;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;

pub use arguments::read_arguments;
pub use reading::{JsonRepair, Malformed, Reading};
pub use strict::{read_schema, read_strict};
