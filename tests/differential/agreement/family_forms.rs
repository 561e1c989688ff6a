//! How each family writes calls, and the marks of that form, which damage takes away.

use serde_json::Value;

/// A call to be written.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<(&'static str, Value)>,
}

/// Which parser of the other side reads a family.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Oracle {
    Unified(&'static str),
    ToolsOnly(&'static str),
    /// None does: its texts are only looked through for leaks and for the effect of cuts.
    None,
}

/// A family: its form, the marks in it, and what it thinks in.
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) oracle: Oracle,
    pub(crate) write: fn(&[Call]) -> String,
    pub(crate) think: Option<fn(&str) -> String>,
    pub(crate) marks: &'static [&'static str],
    /// Further parts of the form. What damage to them means is not compared: that it does not leak is.
    pub(crate) inner: &'static [&'static str],
}

/// The families. The other side knows the first six; its parser of gpt-oss wants a vocabulary from the network.
pub(crate) const FORMS: [Form; 16] = [
    Form {
        name: "qwen_coder",
        oracle: Oracle::Unified("qwen3_coder"),
        write: qwen_coder,
        think: Some(tags),
        marks: &["<tool_call>", "</tool_call>", "</function>", "</parameter>", "<parameter=city>"],
        inner: &["<function=get_weather>", "<function=", "<parameter=days>", "<parameter="],
    },
    Form {
        name: "glm",
        oracle: Oracle::Unified("glm47"),
        write: glm,
        think: Some(tags),
        marks: &["<tool_call>", "</tool_call>", "</arg_value>", "<arg_value>", "</arg_key>"],
        inner: &["<arg_key>", "get_weather"],
    },
    Form {
        name: "kimi",
        oracle: Oracle::Unified("kimi_k2"),
        write: kimi,
        think: Some(tags),
        marks: &[
            "<|tool_calls_section_begin|>",
            "<|tool_calls_section_end|>",
            "<|tool_call_end|>",
            "<|tool_call_argument_begin|>",
            "functions.",
            ":0",
        ],
        inner: &["<|tool_call_begin|>", "{", "}", "get_weather"],
    },
    Form {
        name: "gemma",
        oracle: Oracle::Unified("gemma4"),
        write: gemma,
        think: None,
        marks: &["<tool_call|>", "<|tool_call>", "}", "<|\"|>"],
        inner: &["call:", "{", "get_weather"],
    },
    Form {
        name: "dsml",
        oracle: Oracle::Unified("deepseek_v4"),
        write: dsml,
        think: Some(tags),
        marks: &[
            "<｜DSML｜tool_calls>",
            "</｜DSML｜tool_calls>",
            "</｜DSML｜invoke>",
            "</｜DSML｜parameter>",
            " string=\"true\"",
        ],
        inner: &[
            "<｜DSML｜invoke name=\"get_weather\">",
            "<｜DSML｜parameter name=\"city\" string=\"true\">",
            "\"get_weather\"",
        ],
    },
    Form {
        name: "minimax",
        oracle: Oracle::ToolsOnly("minimax_m2"),
        write: minimax,
        think: None,
        marks: &["<minimax:tool_call>", "</minimax:tool_call>", "</invoke>", "</parameter>"],
        inner: &["<invoke name=\"get_weather\">", "<parameter name=\"city\">", "\"get_weather\""],
    },
    Form {
        name: "hermes",
        oracle: Oracle::None,
        write: hermes,
        think: Some(tags),
        marks: &["<tool_call>", "</tool_call>", "\"name\": ", "}"],
        inner: &["{", "\"arguments\": ", "\"", "get_weather"],
    },
    Form {
        name: "llama",
        oracle: Oracle::None,
        write: llama,
        think: None,
        marks: &["<|python_tag|>", "<|eom_id|>", "}"],
        inner: &["{", "\"parameters\": ", "\"", "; "],
    },
    Form {
        name: "mistral",
        oracle: Oracle::None,
        write: mistral,
        think: Some(brackets),
        marks: &["[TOOL_CALLS]", "}]", "}"],
        inner: &["[{", "{", "\"arguments\": ", "\""],
    },
    Form {
        name: "mistral_arguments",
        oracle: Oracle::None,
        write: mistral_arguments,
        think: Some(brackets),
        marks: &["[TOOL_CALLS]", "[ARGS]", "}"],
        inner: &["{", "\"", "get_weather"],
    },
    Form {
        name: "deepseek",
        oracle: Oracle::None,
        write: deepseek,
        think: Some(tags),
        marks: &[
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁calls▁end｜>",
            "<｜tool▁call▁end｜>",
            "<｜tool▁sep｜>",
            "```json\n",
            "\n```",
        ],
        inner: &["<｜tool▁call▁begin｜>", "function", "get_weather", "{", "}"],
    },
    Form {
        name: "deepseek_v31",
        oracle: Oracle::None,
        write: deepseek_v31,
        think: Some(tags),
        marks: &["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"],
        inner: &["<｜tool▁call▁begin｜>", "get_weather", "{", "}"],
    },
    Form {
        name: "harmony",
        oracle: Oracle::None,
        write: harmony,
        think: Some(analysis),
        marks: &["<|start|>assistant", "<|call|>", " <|constrain|>json", "functions.", "<|message|>"],
        inner: &["<|channel|>", "commentary", " to=functions.get_weather", "{", "}"],
    },
    Form {
        name: "granite",
        oracle: Oracle::None,
        write: granite,
        think: None,
        marks: &["<|tool_call|>", "]", "}"],
        inner: &["[", "{", "\"arguments\": ", "\""],
    },
    Form {
        name: "pythonic",
        oracle: Oracle::None,
        write: pythonic,
        think: None,
        marks: &["<|tool_call_start|>", "<|tool_call_end|>", "[", "]", ")"],
        inner: &["(", "\"", "get_weather", "=", ", "],
    },
    Form {
        name: "function_gemma",
        oracle: Oracle::None,
        write: function_gemma,
        think: None,
        marks: &["<start_function_call>", "<end_function_call>", "}", "<escape>"],
        inner: &["call:", "{", "get_weather"],
    },
];

fn tags(thought: &str) -> String {
    format!("<think>\n{thought}\n</think>\n\n")
}

fn brackets(thought: &str) -> String {
    format!("[THINK]{thought}[/THINK]")
}

fn analysis(thought: &str) -> String {
    format!("<|channel|>analysis<|message|>{thought}<|end|>")
}

/// A value as written between tags: text as it is, everything else as JSON.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn object(call: &Call) -> String {
    let map: serde_json::Map<String, Value> =
        call.arguments.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Value::Object(map).to_string()
}

fn each(calls: &[Call], between: &str, write: impl Fn(&Call) -> String) -> String {
    calls.iter().map(write).collect::<Vec<_>>().join(between)
}

fn parameters(call: &Call, write: impl Fn(&str, &Value) -> String) -> String {
    call.arguments.iter().map(|(key, value)| write(key, value)).collect()
}

fn qwen_coder(calls: &[Call]) -> String {
    let parameter = |key: &str, value: &Value| format!("<parameter={key}>\n{}\n</parameter>\n", bare(value));
    each(calls, "\n", |call| {
        format!("<tool_call>\n<function={}>\n{}</function>\n</tool_call>", call.name, parameters(call, parameter))
    })
}

fn glm(calls: &[Call]) -> String {
    let pair = |key: &str, value: &Value| format!("<arg_key>{key}</arg_key>\n<arg_value>{}</arg_value>\n", bare(value));
    each(calls, "\n", |call| format!("<tool_call>{}\n{}</tool_call>", call.name, parameters(call, pair)))
}

fn kimi(calls: &[Call]) -> String {
    let numbered: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(number, call)| {
            format!(
                "<|tool_call_begin|>functions.{}:{number}<|tool_call_argument_begin|>{}<|tool_call_end|>",
                call.name,
                object(call)
            )
        })
        .collect();
    format!("<|tool_calls_section_begin|>{}<|tool_calls_section_end|>", numbered.concat())
}

fn gemma(calls: &[Call]) -> String {
    each(calls, "", |call| {
        let inside: Vec<String> =
            call.arguments.iter().map(|(key, value)| format!("{key}:{}", gemma_value(value))).collect();
        format!("<|tool_call>call:{}{{{}}}<tool_call|>", call.name, inside.join(","))
    })
}

fn gemma_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("<|\"|>{text}<|\"|>"),
        Value::Array(list) => format!("[{}]", list.iter().map(gemma_value).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let members: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", gemma_value(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

fn dsml(calls: &[Call]) -> String {
    let parameter = |key: &str, value: &Value| {
        let text = value.is_string();
        format!("<｜DSML｜parameter name=\"{key}\" string=\"{text}\">{}</｜DSML｜parameter>\n", bare(value))
    };
    let calls = each(calls, "\n", |call| {
        format!("<｜DSML｜invoke name=\"{}\">\n{}</｜DSML｜invoke>", call.name, parameters(call, parameter))
    });
    format!("<｜DSML｜tool_calls>\n{calls}\n</｜DSML｜tool_calls>")
}

fn minimax(calls: &[Call]) -> String {
    let parameter = |key: &str, value: &Value| format!("<parameter name=\"{key}\">{}</parameter>\n", bare(value));
    let calls =
        each(calls, "\n", |call| format!("<invoke name=\"{}\">\n{}</invoke>", call.name, parameters(call, parameter)));
    format!("<minimax:tool_call>\n{calls}\n</minimax:tool_call>")
}

fn named(call: &Call, key: &str) -> String {
    format!("{{\"name\": \"{}\", \"{key}\": {}}}", call.name, object(call))
}

fn hermes(calls: &[Call]) -> String {
    each(calls, "\n", |call| format!("<tool_call>\n{}\n</tool_call>", named(call, "arguments")))
}

fn llama(calls: &[Call]) -> String {
    format!("<|python_tag|>{}<|eom_id|>", each(calls, "; ", |call| named(call, "parameters")))
}

fn mistral(calls: &[Call]) -> String {
    format!("[TOOL_CALLS][{}]", each(calls, ", ", |call| named(call, "arguments")))
}

fn mistral_arguments(calls: &[Call]) -> String {
    each(calls, "", |call| format!("[TOOL_CALLS]{}[ARGS]{}", call.name, object(call)))
}

fn deepseek(calls: &[Call]) -> String {
    let calls = each(calls, "\n", |call| {
        let arguments = object(call);
        format!(
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n{arguments}\n```<｜tool▁call▁end｜>",
            call.name
        )
    });
    format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>")
}

fn deepseek_v31(calls: &[Call]) -> String {
    let calls = each(calls, "", |call| {
        format!("<｜tool▁call▁begin｜>{}<｜tool▁sep｜>{}<｜tool▁call▁end｜>", call.name, object(call))
    });
    format!("<｜tool▁calls▁begin｜>{calls}<｜tool▁calls▁end｜>")
}

fn harmony(calls: &[Call]) -> String {
    each(calls, "", |call| {
        format!(
            "<|start|>assistant<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{}<|call|>",
            call.name,
            object(call)
        )
    })
}

fn granite(calls: &[Call]) -> String {
    format!("<|tool_call|>[{}]", each(calls, ", ", |call| named(call, "arguments")))
}

fn pythonic(calls: &[Call]) -> String {
    let calls = each(calls, ", ", |call| {
        let arguments: Vec<String> =
            call.arguments.iter().map(|(key, value)| format!("{key}={}", python(value))).collect();
        format!("{}({})", call.name, arguments.join(", "))
    });
    format!("<|tool_call_start|>[{calls}]<|tool_call_end|>")
}

fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

fn function_gemma(calls: &[Call]) -> String {
    let written = gemma(calls);
    written
        .replace("<|tool_call>", "<start_function_call>")
        .replace("<tool_call|>", "<end_function_call>")
        .replace("<|\"|>", "<escape>")
}
