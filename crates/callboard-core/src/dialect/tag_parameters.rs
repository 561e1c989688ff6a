//! The parameters of a call that are written as tags, and the JSON object they make.

use super::marked_json::is_json;

/// Keys, and the JSON of their values.
#[derive(Debug, Default)]
pub(super) struct TagValues {
    members: Vec<String>,
    key: String,
    is_json: bool,
}

impl TagValues {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A parameter begins.
    pub(super) fn open(&mut self, key: &str, is_json: bool) {
        (self.key, self.is_json) = (json_string(key), is_json);
    }

    /// Its value is complete: a string, unless its tag declares JSON and it parses.
    pub(super) fn close(&mut self, value: &str) {
        let value = without_frame(value);
        let is_json = self.is_json && is_json(value);
        let value = if is_json { value.trim_ascii().to_owned() } else { json_string(value) };
        self.members.push(format!("{}:{value}", self.key));
    }

    /// The text of an object.
    pub(super) fn arguments(&self) -> String {
        format!("{{{}}}", self.members.join(","))
    }

    /// The text of an object that breaks off before the value of `key`.
    pub(super) fn broken_off(&self, key: &str) -> String {
        let members: String = self.members.iter().map(|member| format!("{member},")).collect();
        format!("{{{members}{}:", json_string(key))
    }
}

/// A value without the one newline next to each of its tags.
fn without_frame(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
    value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')).unwrap_or(value)
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
