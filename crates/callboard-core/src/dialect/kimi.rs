//! Kimi K2: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
//!
//! The tokens around a section of calls are dropped like any control token, so it does not matter
//! when they are missing.

use super::piece::TextCall;
use super::tool_names::{ToolNames, bare_name, is_name};

pub(super) const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

/// Tokens that end a call.
pub(super) const ENDS: [&str; 4] =
    ["<|tool_call_end|>", "<|tool_call_begin|>", "<|tool_calls_section_end|>", "<|im_end|>"];

/// Reads what stands between the tokens of one call. A name alone is a call if it is on offer, and no name before
/// arguments is one that has to be asked for.
pub(super) fn read(payload: &str, tools: &ToolNames) -> Option<TextCall> {
    let separated = payload.split_once(ARGUMENTS).or_else(|| payload.split_at_checked(payload.find('{')?));
    let (name, arguments) = separated.unwrap_or((payload, ""));
    let name = bare_name(name);
    let arguments = arguments.trim_start_matches(ARGUMENTS).trim_ascii();
    let is_call = match separated {
        Some(_) => is_name(name) || name.is_empty() && arguments.starts_with('{'),
        None => tools.offer(name),
    };
    is_call.then(|| TextCall { name: name.to_owned(), arguments: arguments.to_owned() })
}
