//! A loaded character file, with its tools in the form that models get them.

use callboard_core::wire::ApiError;
use callboard_python::{CallError, Character, ToolManifest};
use serde_json::{Map, Value, json};

use super::undo_tool_definition::undo_offer;
use crate::store::CharacterMemory;

/// A loaded character.
pub struct LoadedCharacter {
    /// The loaded file.
    pub character: Character,
    tools: Vec<Value>,
}

impl LoadedCharacter {
    /// Prepares a loaded file.
    pub fn new(character: Character) -> Self {
        let tools = offered(&character.manifest().tools, character.manifest().undo);
        Self { character, tools }
    }

    /// The tools as models get them.
    pub fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// The tools as models get them in this state, where the character has `get_tools`; else those of its file.
    pub async fn tools_in(&self, state: Option<&str>) -> Result<Vec<Value>, ApiError> {
        let own = self.character.tools(state).await.map_err(|failure| self.failed(&failure))?;
        Ok(own.map_or_else(|| self.tools.clone(), |tools| offered(&tools, self.character.manifest().undo)))
    }

    /// The character's part of a new conversation.
    pub async fn begin(&self) -> Result<CharacterMemory, ApiError> {
        let start = self.character.start_conversation().await.map_err(|failure| self.failed(&failure))?;
        Ok(CharacterMemory::new(&self.character.manifest().id, start.system_prompt, start.state))
    }

    /// The error of a character that failed before its turn. The failure may quote the conversation, so only debug logs hold it.
    pub fn failed(&self, failure: &CallError) -> ApiError {
        let id = &self.character.manifest().id;
        tracing::error!(character = id, "character failed before its turn");
        tracing::debug!(character = id, %failure, "character failed before its turn");
        ApiError::new(500, "character_failed", format!("the character {id:?} failed before its turn: {failure}"))
    }
}

/// Tools as models get them, with `undo` last where the character offers it.
pub fn offered(tools: &[ToolManifest], undo: bool) -> Vec<Value> {
    let mut list: Vec<Value> = tools.iter().map(offer).collect();
    if undo && !list.is_empty() {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        list.push(undo_offer(&names));
    }
    list
}

fn offer(tool: &ToolManifest) -> Value {
    let mut parameters = tool.parameters.clone();
    if !parameters.is_object() {
        parameters = json!({"type": "object", "properties": {}});
    }
    drop_own_keys(&mut parameters);
    json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": parameters}})
}

/// Keys that begin with `x-` are Callboard's own and are not sent to models.
fn drop_own_keys(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let kept = std::mem::take(map).into_iter().filter(|(key, _)| !key.starts_with("x-"));
            *map = kept.collect::<Map<_, _>>();
            map.values_mut().for_each(drop_own_keys);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_own_keys),
        _ => {}
    }
}
