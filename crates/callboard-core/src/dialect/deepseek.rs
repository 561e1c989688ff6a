//! DeepSeek V3 and R1: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, then the arguments in a fence,
//! then `<｜tool▁call▁end｜>`; V3.1: `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`.
//!
//! The separator may be missing or doubled. DSML, the form of later models, is written with tags.

use super::delimited::{DelimitedForm, Payload};
use super::piece::TextCall;
use super::tool_names::{bare_name, is_name};

pub(super) const SEPARATOR: &str = "<｜tool▁sep｜>";
pub(super) const TYPE: &str = "function";

pub(super) static DEEPSEEK: DelimitedForm = DelimitedForm {
    ends: &["<｜tool▁call▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"],
    separators: &[SEPARATOR],
    read,
};

/// A name alone is a call if it is on offer or separated.
fn read(Payload { text, tools, .. }: Payload<'_>) -> Option<TextCall> {
    let (head, arguments) = text.split_at_checked(text.find(['{', '`']).unwrap_or(text.len()))?;
    let written = head.split(SEPARATOR).map(str::trim).filter(|part| !part.is_empty() && *part != TYPE);
    let name = written.last().unwrap_or_default();
    let name = match name.strip_prefix(TYPE) {
        Some(behind) if !tools.offer(bare_name(name)) && !head.contains(SEPARATOR) => bare_name(behind),
        _ => bare_name(name),
    };
    let arguments = without_fence(arguments.trim_ascii());
    let is_call = match arguments {
        "" => tools.offer(name) || is_name(name) && head.contains(SEPARATOR) || head.trim() == TYPE,
        _ => name.is_empty() || is_name(name),
    };
    is_call.then(|| TextCall::new(name, arguments))
}

fn without_fence(arguments: &str) -> &str {
    let Some(inside) = arguments.strip_prefix("```") else {
        return arguments;
    };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.strip_suffix("```").unwrap_or(inside).trim_ascii()
}
