//! A value of a setting that was read, and how it is written back as TOML.

use toml::Value;

use super::raw::Raw;

/// A value that was read, and the value as TOML.
pub(super) type Reading<T> = (T, String);

pub(super) fn some<T>((value, written): Reading<T>) -> Reading<Option<T>> {
    (Some(value), written)
}

/// Text of one line that is not blank.
pub(super) fn line(raw: &Raw) -> Option<&str> {
    raw.text().filter(|text| !text.trim().is_empty() && !text.contains(char::is_control))
}

/// The text as a TOML string.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The texts as a TOML array.
pub(super) fn list<Text: AsRef<str>>(texts: impl IntoIterator<Item = Text>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

/// Values as the tests of all kinds give them.
#[cfg(test)]
pub(super) mod test_values {
    use super::*;

    pub(in crate::config) fn plain(text: &str) -> Raw {
        Raw::Plain(text.to_owned())
    }

    pub(in crate::config) fn text(text: &str) -> Raw {
        toml(text)
    }

    pub(in crate::config) fn toml(value: impl Into<Value>) -> Raw {
        Raw::Toml(value.into())
    }

    pub(in crate::config) fn array(items: &[&str]) -> Raw {
        toml(items.to_vec())
    }

    /// How the value is written back.
    pub(in crate::config) fn written<T>(reading: Option<Reading<T>>) -> Option<String> {
        reading.map(|(_, written)| written)
    }
}
