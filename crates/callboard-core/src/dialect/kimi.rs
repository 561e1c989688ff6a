//! Kimi K2: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
//!
//! The tokens around a section of calls are dropped like any control token, so it does not matter
//! when they are missing.

use super::piece::TextCall;
use super::tool_names::{bare_name, is_name};

const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

/// Tokens that end a call.
pub(super) const ENDS: [&str; 4] =
    ["<|tool_call_end|>", "<|tool_call_begin|>", "<|tool_calls_section_end|>", "<|im_end|>"];

/// Reads what stands between the tokens of one call.
pub(super) fn read(payload: &str) -> Option<TextCall> {
    let (name, arguments) = payload.split_once(ARGUMENTS).or_else(|| payload.split_at_checked(payload.find('{')?))?;
    let name = bare_name(name);
    let arguments = arguments.trim_ascii();
    is_name(name).then(|| TextCall { name: name.to_owned(), arguments: arguments.to_owned() })
}
