//! Scenario files: what the user says, what the scripted model does, what must happen.

use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Deserializer};
use toml::Table;

/// A file of scenarios.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    #[serde(default)]
    pub(super) scenario: Vec<Scenario>,
}

/// One conversation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    #[serde(default)]
    pub(super) turn: Vec<ScenarioTurn>,
}

/// One turn of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioTurn {
    pub(super) user: String,
    #[serde(default)]
    pub(super) model: Vec<ScriptedReply>,
    #[serde(default, deserialize_with = "one_or_several")]
    pub(super) says: Vec<String>,
    #[serde(default, deserialize_with = "one_or_several")]
    pub(super) prints: Vec<String>,
    #[serde(default)]
    pub(super) results: Option<Vec<String>>,
    #[serde(default)]
    pub(super) state: Table,
    #[serde(default)]
    pub(super) prompt: Option<String>,
}

/// One reply of the scripted model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedReply {
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) calls: Vec<ScriptedCall>,
}

/// One call of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: Table,
    #[serde(default)]
    pub(super) raw_arguments: Option<String>,
}

impl ScriptedReply {
    /// A reply that only makes this call.
    pub(super) fn of_call(call: ScriptedCall) -> Self {
        Self { text: String::new(), calls: vec![call] }
    }
}

impl ScriptedCall {
    /// A call with this text as its arguments, valid or not.
    pub(super) fn with_text(tool: &str, arguments: &str) -> Self {
        Self { tool: tool.to_owned(), arguments: Table::new(), raw_arguments: Some(arguments.to_owned()) }
    }
}

/// Reads one text, or a list of texts.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Texts {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Texts::deserialize(deserializer)? {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    })
}

/// Reads a file; mistakes come with their line.
pub(super) fn read(path: &Path) -> anyhow::Result<ScenarioFile> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not a scenario file", path.display()))
}
