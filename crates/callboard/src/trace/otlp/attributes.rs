//! Attributes in OTLP's JSON form: a list of keys, each with a value that says its own type.

use serde_json::{Value, json};

/// A list of attributes.
#[derive(Debug, Default)]
pub(super) struct Attributes(Vec<Value>);

impl Attributes {
    /// Adds text.
    pub(super) fn text(mut self, key: &str, value: &str) -> Self {
        self.push(key, &json!({"stringValue": value}));
        self
    }

    /// Adds text, where there is any.
    pub(super) fn some_text(self, key: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(key, value),
            None => self,
        }
    }

    /// Adds a list of one text, where there is one.
    pub(super) fn list_of(mut self, key: &str, value: Option<&str>) -> Self {
        if let Some(value) = value {
            self.push(key, &json!({"arrayValue": {"values": [{"stringValue": value}]}}));
        }
        self
    }

    /// Adds a whole number. In this form they are written as text, so that 64 bits survive.
    pub(super) fn number(mut self, key: &str, value: u64) -> Self {
        self.push(key, &json!({"intValue": value.to_string()}));
        self
    }

    /// Adds seconds.
    pub(super) fn seconds(mut self, key: &str, value: std::time::Duration) -> Self {
        self.push(key, &json!({"doubleValue": value.as_secs_f64()}));
        self
    }

    /// Adds a truth.
    pub(super) fn truth(mut self, key: &str, value: bool) -> Self {
        self.push(key, &json!({"boolValue": value}));
        self
    }

    fn push(&mut self, key: &str, value: &Value) {
        self.0.push(json!({"key": key, "value": value}));
    }

    /// The list.
    pub(super) fn into_value(self) -> Value {
        Value::Array(self.0)
    }
}
