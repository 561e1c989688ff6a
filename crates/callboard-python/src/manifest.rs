//! What a character file defines: read once when the file is loaded.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What a character file defines.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Manifest {
    /// The name of its file, without the ending: its name as a model.
    #[serde(skip)]
    pub id: String,
    /// The file it was loaded from.
    #[serde(skip)]
    pub file: PathBuf,
    /// What people call it.
    pub name: String,
    /// `VOICE_SOURCE`, for voice clients.
    pub voice: Option<Value>,
    /// `INSTRUCTIONS`; values that JSON cannot represent appear as text.
    pub instructions: Value,
    /// `METADATA`.
    pub metadata: Option<Value>,
    /// The tools it offers.
    pub tools: Vec<ToolManifest>,
    /// The model to use, where the file names one.
    pub model: Option<String>,
    /// `LIMITS`.
    pub limits: CharacterLimits,
    /// What a user gets to read.
    pub reply: ReplyRules,
    /// Whether every turn must start with a call (`TOOL_CHOICE = "required"`).
    pub requires_call: bool,
    /// Whether the model may undo its calls.
    pub undo: bool,
    /// How a page shows its state.
    pub view: Option<Value>,
    /// Whether its methods set attributes of `self`, even if it starts with none.
    pub keeps_state: bool,
    /// Whether it has `make_turn_context`.
    pub has_turn_context: bool,
    /// Whether it has `get_tools`.
    pub has_get_tools: bool,
    /// Whether it has `get_names`.
    pub has_get_names: bool,
    /// What is suspicious about the file, but not wrong.
    pub warnings: Vec<String>,
    timeouts: Timeouts,
}

impl Manifest {
    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&ToolManifest> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// How long a tool may run, including one that only `get_tools` returns.
    pub fn timeout_of(&self, tool: &str) -> Duration {
        milliseconds(self.timeouts.by_tool.get(tool).copied().unwrap_or(self.timeouts.default_ms))
    }
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolManifest {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its parameters: a JSON Schema of type object.
    pub parameters: Value,
    /// How long it may run.
    #[serde(rename = "timeout_ms", deserialize_with = "read_milliseconds")]
    pub timeout: Duration,
    /// Where the file defines it, where that is known.
    pub line: Option<u32>,
}

/// `LIMITS`: how much a character may define, and limits it sets for conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct CharacterLimits {
    /// Tools.
    pub tools: u32,
    /// Properties of one object in a tool's parameters.
    pub properties: u32,
    /// Values of an enum.
    #[serde(rename = "enum")]
    pub enum_values: u32,
    /// Characters of a tool's description.
    pub description: u32,
    /// Bytes of a call's arguments, where it is set.
    pub arguments: Option<u32>,
    /// Characters of a result that the model is given, where it is set.
    pub result: Option<u32>,
    /// Rounds of calls in one turn, where it is set.
    pub rounds: Option<u32>,
}

/// `REPLY`: what a user gets to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct ReplyRules {
    /// Whether the model's text is delivered.
    #[serde(rename = "deliver_text")]
    pub delivers_text: bool,
    /// Whether the model is asked again after an answer without a call.
    #[serde(rename = "ask_again")]
    pub asks_again: bool,
    /// Whether a turn whose calls succeeded ends with a confirmation made from their results.
    #[serde(rename = "confirm")]
    pub confirms: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Timeouts {
    default_ms: f64,
    by_tool: HashMap<String, f64>,
}

fn read_milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    f64::deserialize(deserializer).map(milliseconds)
}

fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value / 1000.0).unwrap_or(Duration::ZERO)
}
