//! The content of a message in a reply: a string, or a list of parts, some of which may be reasoning.
//!
//! Mistral sends `{"type": "thinking", "thinking": [{"type": "text", …}]}`, Anthropic a string there, others
//! `{"type": "reasoning", "text": …}`.

use serde_json::Value;

use crate::model::Delta;

/// What the type of a part of reasoning contains, and the field that may hold its text.
const REASONING: [&str; 2] = ["thinking", "reasoning"];

/// The other fields that may hold the text of a part.
const TEXT_FIELDS: [&str; 3] = ["text", "summary", "content"];

/// The text of a string or of all parts; none if it is empty.
pub(super) fn joined(value: Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text,
        Value::Array(parts) => parts.iter().map(part_text).collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// Reads a message's content. Where the message `reasons` in a field of its own, parts of reasoning repeat it.
pub(super) fn read(content: Value, reasons: bool, deltas: &mut Vec<Delta>) {
    let Value::Array(parts) = content else { return deltas.extend(joined(content).map(Delta::Text)) };
    for run in parts.chunk_by(|one, next| is_reasoning(one) == is_reasoning(next)) {
        let text: String = run.iter().map(part_text).collect();
        match run.first().is_some_and(is_reasoning) {
            _ if text.is_empty() => {}
            true if reasons => {}
            true => deltas.push(Delta::Reasoning(text)),
            false => deltas.push(Delta::Text(text)),
        }
    }
}

fn is_reasoning(part: &Value) -> bool {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    REASONING.iter().any(|word| kind.contains(word))
}

/// The text of a part, or of the parts inside it.
fn part_text(part: &Value) -> String {
    match TEXT_FIELDS.iter().chain(&REASONING).filter_map(|field| part.get(field)).find(|value| !value.is_null()) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_of_reasoning_are_kept_apart() {
        let (text, reasoning) = (|text: &str| Delta::Text(text.into()), |text: &str| Delta::Reasoning(text.into()));
        let (hm, hi) = (json!({"type": "thinking", "thinking": "Hm."}), json!({"type": "text", "text": "Hi"}));
        let mistral =
            json!({"type": "thinking", "thinking": [{"type": "text", "text": "H"}, {"type": "text", "text": "m."}]});
        let other = json!({"type": "reasoning.text", "text": "Hm."});
        let summary = json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]});
        let hidden = json!({"type": "redacted_thinking", "data": "x"});
        for (content, reasons, expected) in [
            (json!("Hi"), false, vec![text("Hi")]),
            (json!(null), false, vec![]),
            (json!([]), false, vec![]),
            (json!([hi, hi]), false, vec![text("HiHi")]),
            (json!([hm, hi]), false, vec![reasoning("Hm."), text("Hi")]),
            (json!([mistral, hi, hm]), false, vec![reasoning("Hm."), text("Hi"), reasoning("Hm.")]),
            (json!([other, hidden, hi]), false, vec![reasoning("Hm."), text("Hi")]),
            (json!([summary]), false, vec![reasoning("Hm.")]),
            (json!([hm, hi]), true, vec![text("Hi")]),
            (json!([{"type": "text"}, 5, "x"]), false, vec![]),
        ] {
            let mut deltas = Vec::new();
            read(content.clone(), reasons, &mut deltas);
            assert_eq!(format!("{deltas:?}"), format!("{expected:?}"), "{content}");
        }
    }
}
