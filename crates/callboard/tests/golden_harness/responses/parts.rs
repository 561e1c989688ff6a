//! The parts of a reply in order, independent of the API.

use serde_json::Value;

use super::super::ids::Ids;
use super::super::reply_events::Folded;

/// One part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Reasoning(String),
    Text(String),
    Refusal(String),
    /// Id, name and arguments.
    Call([String; 3]),
}

/// The parts of a response's output. An empty message has no part.
pub(super) fn of_output(output: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for item in output.as_array().into_iter().flatten() {
        if item["type"] == "function_call" {
            parts.push(Part::Call(["call_id", "name", "arguments"].map(|key| word(&item[key]))));
        }
        for part in item["content"].as_array().into_iter().flatten() {
            parts.push(match part["type"].as_str() {
                Some("reasoning_text") => Part::Reasoning(word(&part["text"])),
                Some("refusal") => Part::Refusal(word(&part["refusal"])),
                _ => Part::Text(word(&part["text"])),
            });
        }
    }
    joined(parts)
}

/// The parts of a whole chat reply, in the order of their fields.
pub(super) fn of_chat(reply: Folded) -> Vec<Part> {
    let words = [Part::Reasoning(reply.reasoning), Part::Text(reply.content), Part::Refusal(reply.refusal)];
    joined(words.into_iter().chain(reply.calls.into_iter().map(Part::Call)).collect())
}

/// Merges adjacent parts of one kind and drops empty ones.
pub(super) fn joined(pieces: Vec<Part>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for piece in pieces {
        match (parts.last_mut(), piece) {
            (_, Part::Reasoning(more) | Part::Text(more) | Part::Refusal(more)) if more.is_empty() => {}
            (Some(Part::Reasoning(words)), Part::Reasoning(more))
            | (Some(Part::Text(words)), Part::Text(more))
            | (Some(Part::Refusal(words)), Part::Refusal(more)) => words.push_str(&more),
            (_, piece) => parts.push(piece),
        }
    }
    parts
}

/// The same with random ids renamed, as pages write them.
pub(super) fn renamed(parts: Vec<Part>, ids: &mut Ids) -> Vec<Part> {
    let rename = |piece| match piece {
        Part::Call([id, name, arguments]) => Part::Call([ids.renamed(&id), name, arguments.trim_end().to_owned()]),
        words => words,
    };
    parts.into_iter().map(rename).collect()
}

/// Only the calls.
pub(super) fn calls(parts: &[Part]) -> Vec<[String; 3]> {
    let call = |piece: &Part| if let Part::Call(call) = piece { Some(call.clone()) } else { None };
    parts.iter().filter_map(call).collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
