//! Calls as a model of a family writes them.
//!
//! Everything written here is read back by `dialect` as the same calls. Where a value could be taken for markup, the
//! arguments are written as one JSON object, which every family's reader takes as well.

use serde_json::{Map, Value, json};

use super::Family;
use super::tagged_calls::{DSML, GLM, MINIMAX, QWEN_CODER};

/// A call of the history.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenCall {
    /// Which call of the conversation it is, from 0.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
}

/// The calls of one assistant message.
pub(super) fn write(family: Family, calls: &[WrittenCall]) -> String {
    let each = |form: fn(&WrittenCall) -> String| calls.iter().map(form).collect::<Vec<_>>();
    match family {
        Family::Hermes => each(hermes).join("\n"),
        Family::QwenCoder => each(|call| QWEN_CODER.write(call)).join("\n"),
        Family::Glm => each(|call| GLM.write(call)).join("\n"),
        Family::Llama => each(|call| object(call, "parameters")).join("; "),
        Family::Mistral => format!("[TOOL_CALLS][{}]", each(|call| object(call, "arguments")).join(", ")),
        Family::DeepSeek => format!("<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>", each(deepseek).concat()),
        Family::Kimi => format!("<|tool_calls_section_begin|>{}<|tool_calls_section_end|>", each(kimi).concat()),
        Family::MiniMax => {
            format!("<minimax:tool_call>\n{}\n</minimax:tool_call>", each(|call| MINIMAX.write(call)).join("\n"))
        }
        Family::Dsml => {
            format!("<｜DSML｜function_calls>\n{}\n</｜DSML｜function_calls>", each(|call| DSML.write(call)).join("\n"))
        }
    }
}

fn hermes(call: &WrittenCall) -> String {
    format!("<tool_call>\n{}\n</tool_call>", object(call, "arguments"))
}

fn object(call: &WrittenCall, key: &str) -> String {
    format!("{{\"name\": {}, \"{key}\": {}}}", json!(call.name), arguments(call))
}

fn deepseek(call: &WrittenCall) -> String {
    format!("<｜tool▁call▁begin｜>{}<｜tool▁sep｜>{}<｜tool▁call▁end｜>", call.name, arguments(call))
}

fn kimi(call: &WrittenCall) -> String {
    let WrittenCall { number, name, .. } = call;
    let arguments = arguments(call);
    format!("<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>")
}

/// The arguments as one JSON object, free of anything that looks like a control token.
pub(super) fn arguments(call: &WrittenCall) -> String {
    json!(call.arguments).to_string().replace("<|", "\\u003c|").replace("<｜", "\\u003c｜")
}
