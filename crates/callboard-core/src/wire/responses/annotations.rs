//! Annotations of a chat message in the form of this wire.

use serde_json::{Map, Value, json};

/// The annotations among the unknown fields of a chat message. This wire knows citations of URLs only.
pub(super) fn of_chat(message: &Map<String, Value>) -> impl Iterator<Item = Value> {
    message.get("annotations").and_then(Value::as_array).into_iter().flatten().filter_map(citation)
}

/// Chat Completions have the citation in a field of its own.
fn citation(annotation: &Value) -> Option<Value> {
    let citation = annotation.get("url_citation").or(Some(annotation).filter(|flat| flat.get("url").is_some()))?;
    let index = |key: &str| citation.get(key).and_then(Value::as_u64).unwrap_or(0);
    let url = citation.get("url")?.as_str()?;
    let title = citation.get("title").and_then(Value::as_str).unwrap_or_default();
    let (start_index, end_index) = (index("start_index"), index("end_index"));
    Some(
        json!({"type": "url_citation", "url": url, "title": title, "start_index": start_index, "end_index": end_index}),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_converted_and_others_left_out() {
        let citation = json!({"url": "https://a.example", "title": "A", "start_index": 1, "end_index": 4});
        let message = json!({"annotations": [
            {"type": "url_citation", "url_citation": citation},
            {"type": "url_citation", "url": "https://b.example"},
            {"type": "file_citation", "file_id": "f"},
            7,
        ]});
        let read: Vec<Value> = of_chat(message.as_object().unwrap()).collect();
        assert_eq!(
            read,
            [
                json!({"type": "url_citation", "url": "https://a.example", "title": "A", "start_index": 1, "end_index": 4}),
                json!({"type": "url_citation", "url": "https://b.example", "title": "", "start_index": 0, "end_index": 0}),
            ]
        );
    }
}
