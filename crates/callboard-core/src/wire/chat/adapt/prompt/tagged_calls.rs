//! Calls whose parameters stand in tags, in the spelling of each family.

use serde_json::Value;

use super::calls::{WrittenCall, arguments};

/// The longest key that a reader of tags takes.
const LONGEST_KEY: usize = 200;

/// What a value in tags must not hold, in any spelling.
const MARKUP: [&str; 12] = [
    "<tool_call",
    "</tool_call",
    "<function",
    "</function",
    "<parameter",
    "</parameter",
    "<invoke",
    "</invoke",
    "<arg_",
    "</arg_",
    "minimax:",
    "｜DSML｜",
];

/// How a family writes a call in tags. `NAME`, `KEY`, `KIND` and `VALUE` stand for what is put in.
pub(super) struct Tags {
    open: &'static str,
    parameter: &'static str,
    close: &'static str,
}

pub(super) const QWEN_CODER: Tags = Tags {
    open: "<tool_call>\n<function=NAME>\n",
    parameter: "<parameter=KEY>\nVALUE\n</parameter>\n",
    close: "</function>\n</tool_call>",
};

pub(super) const GLM: Tags = Tags {
    open: "<tool_call>NAME\n",
    parameter: "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n",
    close: "</tool_call>",
};

pub(super) const MINIMAX: Tags = Tags {
    open: "<invoke name=\"NAME\">\n",
    parameter: "<parameter name=\"KEY\">VALUE</parameter>\n",
    close: "</invoke>",
};

pub(super) const DSML: Tags = Tags {
    open: "<｜DSML｜invoke name=\"NAME\">\n",
    parameter: "<｜DSML｜parameter name=\"KEY\" string=\"KIND\">VALUE</｜DSML｜parameter>\n",
    close: "</｜DSML｜invoke>",
};

impl Tags {
    /// One call, with its arguments as one JSON object where tags could not hold them.
    pub(super) fn write(&self, call: &WrittenCall) -> String {
        let open = self.open.replace("NAME", &call.name);
        let fits = call.arguments.iter().all(|(key, value)| is_plain_key(key) && is_plain_value(value));
        let inside = if fits {
            call.arguments.iter().map(|(key, value)| self.write_parameter(key, value)).collect()
        } else {
            format!("{}\n", arguments(call))
        };
        format!("{open}{inside}{}", self.close)
    }

    fn write_parameter(&self, key: &str, value: &Value) -> String {
        let (kind, text) = match value {
            Value::String(text) => ("true", text.clone()),
            other => ("false", other.to_string()),
        };
        // The value last, and only once: it may hold any word.
        let parameter = self.parameter.replace("KIND", kind);
        let (before, after) = parameter.split_once("VALUE").unwrap_or((&parameter, ""));
        format!("{}{text}{after}", before.replace("KEY", key))
    }
}

fn is_plain_key(key: &str) -> bool {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '$');
    !key.is_empty() && key.len() <= LONGEST_KEY && key.chars().all(plain)
}

/// Readers take one line break off each end of a value, and close it at the next tag that may close it.
fn is_plain_value(value: &Value) -> bool {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let framed = |end: char| matches!(end, '\n' | '\r');
    !text.starts_with(framed) && !text.ends_with(framed) && !MARKUP.iter().any(|mark| text.contains(mark))
}
