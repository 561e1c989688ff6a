//! DeepSeek V3 and R1: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, then the arguments in a fence,
//! then `<｜tool▁call▁end｜>`; V3.1: `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`.
//!
//! DSML, the form of the models after these, is written with tags.

use super::piece::TextCall;
use super::tool_names::{bare_name, is_name};

const SEPARATOR: &str = "<｜tool▁sep｜>";

/// Tokens that end a call.
pub(super) const ENDS: [&str; 4] =
    ["<｜tool▁call▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>"];

/// Reads what stands between the tokens of one call.
pub(super) fn read(payload: &str) -> Option<TextCall> {
    let (first, second) = payload.split_once(SEPARATOR)?;
    let (name, arguments) = match first.trim() {
        "function" => second.trim_start().split_once('\n').unwrap_or((second, "")),
        name => (name, second),
    };
    let name = bare_name(name);
    let arguments = without_fence(arguments.trim_ascii());
    is_name(name).then(|| TextCall { name: name.to_owned(), arguments: arguments.to_owned() })
}

fn without_fence(arguments: &str) -> &str {
    let Some(inside) = arguments.strip_prefix("```") else {
        return arguments;
    };
    let inside = inside.strip_prefix("json").unwrap_or(inside);
    inside.strip_suffix("```").unwrap_or(inside).trim_ascii()
}
