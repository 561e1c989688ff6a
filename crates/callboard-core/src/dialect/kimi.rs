//! Kimi K2: `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
//!
//! The tokens around a section of calls are dropped like any control token, so they may be missing.

use super::delimited::{DelimitedForm, Payload};
use super::piece::TextCall;
use super::tool_names::{bare_name, is_name};

pub(super) const ARGUMENTS: &str = "<|tool_call_argument_begin|>";

pub(super) static KIMI: DelimitedForm = DelimitedForm {
    ends: &["<|tool_call_end|>", "<|tool_call_begin|>", "<|tool_calls_section_end|>", "<|im_end|>"],
    separators: &[ARGUMENTS],
    read,
};

/// A name alone is a call if it is on offer; arguments without a name are a call that has to be asked for.
fn read(Payload { text, tools, .. }: Payload<'_>) -> Option<TextCall> {
    let separated = text.split_once(ARGUMENTS).or_else(|| text.split_at_checked(text.find('{')?));
    let (name, arguments) = separated.unwrap_or((text, ""));
    let name = bare_name(name);
    let arguments = arguments.trim_start_matches(ARGUMENTS).trim_ascii();
    let is_call = match separated {
        Some(_) => is_name(name) || name.is_empty() && arguments.starts_with('{'),
        None => tools.offer(name),
    };
    is_call.then(|| TextCall::new(name, arguments))
}
