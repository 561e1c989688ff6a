//! Runs the tool `undo` of a character with `UNDO = True`.

use callboard_core::journal::{CallNote, StateRecord, Target};
use serde::Deserialize;

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    last: Option<usize>,
    #[serde(default)]
    tool: Option<String>,
}

/// Applies an undo to the record; both texts are for the model.
pub(super) fn run(record: &mut StateRecord, arguments: &str, note: CallNote) -> Result<String, String> {
    let arguments: Arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
    let target = match arguments.tool {
        None => Target::Last(arguments.last.unwrap_or(1)),
        Some(tool) => match record.newest_by(&tool) {
            Some(call) => Target::Single(call.to_owned()),
            None => return Err(format!("{tool} has made no change that could be undone")),
        },
    };
    let undone = match (record.undo(&target, note.clone()), target) {
        (Err(_), Target::Single(call)) => record.undo(&Target::Cascade(call), note),
        (result, _) => result,
    };
    let tools = undone.map_err(|error| error.to_string())?.map(|undone| undone.tools).unwrap_or_default();
    Ok(format!("Undone: {}.", tools.join(", ")))
}
