//! Files of cases: the state before, what the user says, the expected calls, and the state after.

use std::path::Path;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A file of cases for one character.
#[derive(Debug, Default)]
pub(super) struct CaseFile {
    pub(super) cases: Vec<Case>,
    defaults: Map<String, Value>,
    /// Everything else in the file; a default may name an entry of a table here.
    tables: Map<String, Value>,
}

/// One utterance.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Case {
    #[serde(default)]
    id: Value,
    pub(super) say: String,
    #[serde(default)]
    pub(super) kind: String,
    #[serde(default)]
    context: Map<String, Value>,
    pub(super) expect: Expect,
}

/// What the case expects.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Expect {
    #[serde(default)]
    calls: Vec<ExpectedCall>,
    #[serde(default)]
    calls_any_of: Vec<Vec<ExpectedCall>>,
    #[serde(default)]
    pub(super) ordered: bool,
    #[serde(default)]
    no_call: bool,
    /// Parts of the state after the turn.
    #[serde(default)]
    pub(super) state: Map<String, Value>,
    /// Parts of the finding of the last call.
    #[serde(default)]
    pub(super) validation: Map<String, Value>,
}

/// An expected call, or an expected undo.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ExpectedCall {
    #[serde(default)]
    pub(super) tool: Option<String>,
    #[serde(default)]
    pub(super) args: Map<String, Value>,
    #[serde(default)]
    pub(super) optional: bool,
    #[serde(default)]
    pub(super) undo: bool,
    /// A description of what is to be undone.
    #[serde(default)]
    pub(super) target: String,
}

/// A call that ran before the case begins.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct JournalCall {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) args: Map<String, Value>,
}

/// Reads a file with `cases`; none if it is another kind of file.
pub(super) fn read(path: &Path, text: &str) -> anyhow::Result<Option<CaseFile>> {
    let Ok(Value::Object(mut file)) = serde_json::from_str(text) else { return Ok(None) };
    let Some(cases) = file.remove("cases") else { return Ok(None) };
    let cases: Vec<Case> =
        serde_json::from_value(cases).with_context(|| format!("{}: a case cannot be read", path.display()))?;
    if cases.is_empty() {
        bail!("{} has no cases", path.display());
    }
    let defaults = match file.remove("defaults") {
        Some(Value::Object(defaults)) => defaults,
        _ => Map::new(),
    };
    Ok(Some(CaseFile { cases, defaults, tables: file }))
}

impl CaseFile {
    /// The value of a key before a case: `base`, with the file's default and then the case's own value merged over it.
    pub(super) fn value_before(&self, case: &Case, key: &str, base: Value) -> Value {
        let default = self.default_of(key).cloned();
        let given = default.into_iter().chain(case.context.get(key).cloned());
        given.fold(base, merged)
    }

    /// True where the file or the case sets a key.
    pub(super) fn mentions(&self, case: &Case, key: &str) -> bool {
        self.defaults.contains_key(key) || case.context.contains_key(key)
    }

    /// Earlier messages of the conversation, oldest first.
    pub(super) fn recent(&self, case: &Case) -> anyhow::Result<Vec<String>> {
        self.list(case, "recent")
    }

    /// Calls that ran before.
    pub(super) fn journal(&self, case: &Case) -> anyhow::Result<Vec<JournalCall>> {
        self.list(case, "journal")
    }

    fn list<T: serde::de::DeserializeOwned>(&self, case: &Case, key: &str) -> anyhow::Result<Vec<T>> {
        let list = self.value_before(case, key, Value::Array(Vec::new()));
        serde_json::from_value(list).with_context(|| format!("{key} cannot be read"))
    }

    /// A default that is text names an entry in the table of the same key.
    fn default_of(&self, key: &str) -> Option<&Value> {
        let default = self.defaults.get(key)?;
        let named = default.as_str().and_then(|name| self.tables.get(key)?.get(name));
        Some(named.unwrap_or(default))
    }
}

impl Case {
    /// Its number or name.
    pub(super) fn label(&self) -> String {
        self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

impl Expect {
    /// The lists of calls of which one is expected.
    pub(super) fn alternatives(&self) -> Vec<&[ExpectedCall]> {
        if self.calls_any_of.is_empty() {
            return vec![self.calls.as_slice()];
        }
        self.calls_any_of.iter().map(Vec::as_slice).collect()
    }

    /// True where nothing may reach a tool.
    pub(super) fn is_no_call(&self) -> bool {
        self.no_call || self.calls_any_of.is_empty() && self.calls.is_empty()
    }
}

/// Objects are merged key by key; any other value replaces the base.
fn merged(base: Value, top: Value) -> Value {
    match (base, top) {
        (Value::Object(mut base), Value::Object(top)) => {
            base.extend(top);
            Value::Object(base)
        }
        (_, top) => top,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file() -> CaseFile {
        let text = json!({
            "defaults": {"phase": "Command", "cp": {"player": 3, "opponent": 3}, "armies": "default", "recent": []},
            "armies": {"default": {"player": ["a"], "opponent": ["b"]}},
            "cases": [{"id": 1, "say": "hello", "expect": {"calls": []},
                "context": {"cp": {"player": 0}, "armies": {"player": ["c"]}, "recent": ["one"]}}],
        });
        read(Path::new("cases.json"), &text.to_string()).unwrap().unwrap()
    }

    #[test]
    fn context_overrides_defaults_which_override_the_state() {
        let (file, base) = (file(), json!({"player": 9, "third": 9}));
        let case = &file.cases[0];
        let table = [
            ("phase", json!("Fight"), json!("Command")),
            ("cp", base, json!({"player": 0, "third": 9, "opponent": 3})),
            ("armies", json!({}), json!({"player": ["c"], "opponent": ["b"]})),
            ("unsaid", json!(7), json!(7)),
        ];
        for (key, base, expected) in table {
            assert_eq!(file.value_before(case, key, base), expected, "{key}");
        }
        assert_eq!(file.recent(case).unwrap(), ["one"]);
        assert!(file.journal(case).unwrap().is_empty());
        assert!(case.expect.is_no_call() && case.label() == "1");
    }

    #[test]
    fn files_of_other_kinds_are_ignored() {
        for text in ["", "[1]", "{}", "{\"id\": \"simple_0\"}\n{\"id\": \"simple_1\"}"] {
            assert!(read(Path::new("x"), text).unwrap().is_none(), "{text}");
        }
        assert!(read(Path::new("x"), r#"{"cases": []}"#).is_err());
        assert!(read(Path::new("x"), r#"{"cases": [{"expect": {}}]}"#).is_err());
    }
}
