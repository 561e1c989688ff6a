//! The tool `undo`, which a character with `UNDO = True` offers to its model besides its own.

use callboard_core::journal::{CallNote, Target};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Record;

/// Its name; a character cannot have a tool of this name when it offers undo.
pub const NAME: &str = "undo";

#[derive(Deserialize)]
struct Wish {
    #[serde(default)]
    last: Option<usize>,
    #[serde(default)]
    tool: Option<String>,
}

/// The tool as models are offered it.
pub fn offer(tools: &[&str]) -> Value {
    let parameters = json!({
        "type": "object",
        "properties": {
            "last": {"type": "integer", "minimum": 1, "maximum": 50,
                "description": "How many of the last changes to take back; 1 where it is not said"},
            "tool": {"type": "string", "enum": tools,
                "description": "Only the last change that this tool made, when the user says which kind of change was wrong"},
        },
        "additionalProperties": false,
    });
    let description = "Undo: take back, revert or cancel the last change, when the user says undo that, scratch that, \
                       take that back, or that a change was wrong.";
    json!({"type": "function", "function": {"name": NAME, "description": description, "parameters": parameters}})
}

/// Carries an undo out on the record; the words are for the model.
pub(super) fn run(record: &mut Record, arguments: &str, note: CallNote) -> Result<String, String> {
    let wish: Wish = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let target = match wish.tool {
        None => Target::Last(wish.last.unwrap_or(1)),
        Some(tool) => match record.newest_by(&tool) {
            Some(call) => Target::Single(call.to_owned()),
            None => return Err(format!("{tool} has made no change that could be undone")),
        },
    };
    let undone = match (record.undo(&target, note.clone()), target) {
        (Err(_), Target::Single(call)) => record.undo(&Target::Cascade(call), note),
        (result, _) => result,
    };
    let tools = undone.map_err(|error| error.to_string())?.map(|outcome| outcome.tools).unwrap_or_default();
    Ok(format!("Undone: {}.", tools.join(", ")))
}
