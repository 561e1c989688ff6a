//! The texts, and the tools that are on offer beside them.

use std::path::{Path, PathBuf};

use callboard_core::contract::{SchemaLimits, ToolSet};
use callboard_core::dialect::ToolNames;
use serde_json::{Value, json};

const SEPARATOR: &str = "%%%%\n";

/// Documentation and code of this repository, and the endings of its files.
const PLACES: [(&str, &[&str]); 7] = [
    ("docs", &["md"]),
    ("characters", &["py", "md", "toml"]),
    ("crates/callboard/page", &["js", "css", "html"]),
    ("crates/callboard-core/src/names", &["rs"]),
    ("crates/callboard-core/src/journal", &["rs"]),
    ("crates/callboard-core/src/rehearsal", &["rs"]),
    ("xtask/src", &["rs"]),
];

/// Some names are common words, some are in the texts.
pub(crate) fn tools() -> ToolNames {
    let function = |name: &str, parameters: &[&str], required: &[&str]| {
        let properties: serde_json::Map<String, Value> =
            parameters.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let parameters = json!({"type": "object", "properties": properties, "required": required});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let tools = json!([
        function("search", &["query", "limit"], &["query"]),
        function("read_file", &["path", "offset"], &["path"]),
        function("write", &["path", "content"], &["path", "content"]),
        function("get_weather", &["city", "unit"], &["city"]),
        function("run", &["command"], &["command"]),
        function("fetch", &["url"], &["url"]),
        function("status", &[], &[]),
        {"type": "function", "function": {"name": "update", "parameters": {"type": "object", "additionalProperties": true}}},
    ]);
    ToolSet::compile(&tools, SchemaLimits::default()).expect("good tools").tool_names()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files in a folder and its folders, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The texts of a file, and where they are from.
pub(crate) fn texts() -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for path in files(&root().join("tests/ordinary_text")) {
        let all = std::fs::read_to_string(&path).expect("a text");
        texts.extend(all.split(SEPARATOR).map(|text| (path.display().to_string(), text.to_owned())));
    }
    for (place, endings) in PLACES {
        for path in files(&root().join(place)) {
            if !path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known)) {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            if !text.contains("```") {
                texts
                    .push((path.display().to_string(), format!("The whole file:\n\n```\n{text}\n```\nThat is all.\n")));
            }
            texts.push((path.display().to_string(), text));
        }
    }
    texts
}
