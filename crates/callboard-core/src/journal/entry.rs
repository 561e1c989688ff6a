//! One entry of a journal, and the state that a list of them leads to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::apply::PatchError;
use super::diff::diff;
use super::operation::Patch;
use super::state_record::value;

/// One change of a state: by a call, or by the undo of earlier entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the journal: 1, 2, 3 and so on.
    pub sequence: u64,
    /// The call that did it.
    #[serde(flatten)]
    pub call: CallNote,
    /// From the state before to the state after.
    pub patch: Patch,
    /// For an undo: what it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Undoes>,
    /// The undo of this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<u64>,
}

/// What is recorded of a call, or of a request to undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallNote {
    /// Its id, unique in the conversation.
    pub call_id: String,
    /// The tool; `undo` for an undo.
    pub tool: String,
    /// The arguments as JSON text.
    pub arguments: String,
    /// The tool's result.
    pub result: String,
    /// When, in milliseconds since 1970, by the caller's clock.
    pub at: i64,
}

/// What an undo undoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undoes {
    /// The entry.
    pub sequence: u64,
    /// With or without those after it.
    pub mode: Mode,
}

/// How far an undo reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The entry and all after it, newest first.
    Cascade,
    /// The entry alone.
    Single,
}

impl Entry {
    /// The entry of a call; none where it changed nothing.
    pub fn of_call(sequence: u64, call: CallNote, old: &Value, new: &Value) -> Option<Self> {
        let patch = diff(old, new);
        if patch.0.is_empty() {
            return None;
        }
        Some(Self { sequence, call, patch, undoes: None, undone_by: None })
    }

    /// True for a call that was not undone.
    pub(super) fn is_call_in_force(&self) -> bool {
        self.undoes.is_none() && self.undone_by.is_none()
    }
}

/// An entry with the patch that undoes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InvertedEntry<'a> {
    /// The entry.
    #[serde(flatten)]
    pub entry: &'a Entry,
    /// From the state after it to the state before.
    pub inverse: Patch,
}

/// All entries from the first on, each with its inverse; `initial` is the state before them as JSON text.
pub fn with_inverses<'a>(initial: Option<&str>, entries: &'a [Entry]) -> Result<Vec<InvertedEntry<'a>>, PatchError> {
    let mut state = value(initial);
    let inverted = entries.iter().map(|entry| {
        let after = entry.patch.apply(&state)?;
        let inverse = diff(&after, &state);
        state = after;
        Ok(InvertedEntry { entry, inverse })
    });
    inverted.collect()
}

/// The state after all entries.
pub fn replay<'a>(initial: &Value, entries: impl IntoIterator<Item = &'a Entry>) -> Result<Value, PatchError> {
    let mut state = initial.clone();
    for entry in entries {
        entry.patch.steps(&mut state)?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_one_flat_object() {
        let call = CallNote {
            call_id: "call_1".to_owned(),
            tool: "spend".to_owned(),
            arguments: r#"{"cp":1.0}"#.to_owned(),
            result: "done".to_owned(),
            at: 1_790_000_000_123,
        };
        assert_eq!(Entry::of_call(1, call.clone(), &json!({"cp": 2}), &json!({"cp": 2})), None);
        let entry = Entry::of_call(1, call, &json!({"cp": 2}), &json!({"cp": 1})).unwrap();
        let text = serde_json::to_string(&entry).unwrap();
        let expected = concat!(
            r#"{"sequence":1,"call_id":"call_1","tool":"spend","arguments":"{\"cp\":1.0}","result":"done","at":1790000000123,"#,
            r#""patch":[{"op":"replace","path":"/cp","value":1}]}"#,
        );
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        let with_inverse = expected.replace("}]}", r#"}],"inverse":[{"op":"replace","path":"/cp","value":2.00}]}"#);
        assert_eq!(serde_json::from_str::<Entry>(&with_inverse).unwrap(), entry, "as entries were stored once");
        let entries = [entry];
        let shown = with_inverses(Some(r#"{"cp": 2.00}"#), &entries).unwrap();
        assert_eq!(serde_json::to_string(&shown).unwrap(), format!("[{with_inverse}]"));
    }
}
