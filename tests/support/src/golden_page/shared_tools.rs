//! The tools that most pages offer: a page writes `"tools:find_play"` where the tool of that name in `tools.json` is meant.

use std::path::Path;

use serde_json::{Map, Value};

/// The tools by name.
pub(super) fn read(path: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(path).expect("the tool box");
    serde_json::from_str(&text).expect("the tool box is a JSON object")
}

/// A page's text with every tool spelled out.
pub(super) fn spelled_out(text: &str, tools: &Map<String, Value>) -> String {
    tools
        .iter()
        .fold(text.to_owned(), |text, (name, tool)| text.replace(&format!("\"tools:{name}\""), &tool.to_string()))
}
