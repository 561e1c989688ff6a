//! A character on stage: the loaded file, and its tools in the form that models are offered.

use callboard_python::{Character, ToolManifest};
use serde_json::{Map, Value, json};

use crate::session::undo_tool;

/// A character that can play.
pub struct Role {
    /// The loaded file.
    pub character: Character,
    tools: Vec<Value>,
}

impl Role {
    /// A role for a loaded file.
    pub fn new(character: Character) -> Self {
        let tools = offered(&character.manifest().tools, character.manifest().undo);
        Self { character, tools }
    }

    /// The tools as models are offered them.
    pub fn tools(&self) -> &[Value] {
        &self.tools
    }
}

/// Tools in the form that models are offered, with `undo` behind them where the character offers that.
pub(super) fn offered(tools: &[ToolManifest], undo: bool) -> Vec<Value> {
    let mut list: Vec<Value> = tools.iter().map(offer).collect();
    if undo && !list.is_empty() {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        list.push(undo_tool::offer(&names));
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

/// Keys that begin with `x-` are Callboard's own and no model's business.
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
