//! Scenario files: what the user says, what the scripted model does, what must happen.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
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
    #[serde(default)]
    pub(super) says: Texts,
    #[serde(default)]
    pub(super) prints: Texts,
    #[serde(default)]
    pub(super) results: Option<Vec<String>>,
    #[serde(default)]
    pub(super) state: Table,
    #[serde(default)]
    pub(super) prompt: Option<String>,
}

/// One reply of the scripted model.
#[derive(Debug, Clone, Deserialize)]
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

/// One text, or several.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    #[default]
    None,
    One(String),
    Several(Vec<String>),
}

impl Texts {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Self::None => (None, [].as_slice()),
            Self::One(text) => (Some(text), [].as_slice()),
            Self::Several(texts) => (None, texts.as_slice()),
        };
        one.into_iter().chain(several).map(String::as_str)
    }
}

/// Reads a file; mistakes come with their line.
pub(super) fn read(path: &Path) -> anyhow::Result<ScenarioFile> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not a scenario file", path.display()))
}
