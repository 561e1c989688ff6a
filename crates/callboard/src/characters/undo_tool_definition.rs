//! The tool `undo`, which a character with `UNDO = True` offers to its model besides its own tools.

use serde_json::{Value, json};

/// Its name; a character that offers undo cannot have a tool of this name.
pub const UNDO: &str = "undo";

/// The tool as models get it.
pub(super) fn undo_offer(tools: &[&str]) -> Value {
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
    json!({"type": "function", "function": {"name": UNDO, "description": description, "parameters": parameters}})
}
