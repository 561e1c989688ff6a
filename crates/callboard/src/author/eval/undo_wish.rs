//! What is to be taken back, from a case's words to arguments of the tool `undo`.

use serde_json::{Map, Value, json};

/// The last change of the tool that the words are about, or the last change of all.
pub(super) fn arguments_for<'a>(target: &str, changed_by: impl Iterator<Item = &'a str>) -> Map<String, Value> {
    let words: Vec<String> = words_of(target).collect();
    let shared = |tool: &str| words_of(tool).filter(|word| words.contains(word)).count();
    let best = changed_by.map(|tool| (shared(tool), tool)).filter(|(shared, _)| *shared > 0).max();
    best.map(|(_, tool)| ("tool".to_owned(), json!(tool))).into_iter().collect()
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_the_tool_or_none() {
        let tools = ["log_stratagem_use", "change_phase", "update_victory_points"];
        let table = [
            ("the last stratagem use", Some("log_stratagem_use")),
            ("the last phase change", Some("change_phase")),
            ("the last victory points: 3", Some("update_victory_points")),
            ("the last event", None),
        ];
        for (target, expected) in table {
            let arguments = arguments_for(target, tools.iter().copied());
            assert_eq!(arguments.get("tool").and_then(Value::as_str), expected, "{target}");
        }
    }
}
