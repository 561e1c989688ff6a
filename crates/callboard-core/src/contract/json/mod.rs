//! Reads the text a model wrote as a tool call's `arguments`.
//!
//! One hand-written reader accepts strict JSON and a short, closed list of unambiguous slips, and reports each one;
//! everything else is refused with a message that a model can act on. Tools and schemas are not known here: see
//! `coerce` and the validator.

mod arguments;
mod lenient;
mod numbers;
mod parse_result;
mod strict;
mod strings;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod property_tests;

pub use arguments::read_arguments;
pub use parse_result::{JsonRepair, MalformedJson, ParsedArguments};
pub use strict::{read_schema, read_strict};
