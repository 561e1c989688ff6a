//! What a reply says, piece by piece in its order, whichever wire it came over.

use serde_json::Value;

use super::super::events::Folded;
use super::super::ids::Ids;

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Reasoning(String),
    Text(String),
    Refusal(String),
    /// Id, name and arguments.
    Call([String; 3]),
}

/// The pieces of a response's output. A message without a word says nothing.
pub(super) fn of_output(output: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    for item in output.as_array().into_iter().flatten() {
        if item["type"] == "function_call" {
            said.push(Said::Call(["call_id", "name", "arguments"].map(|key| word(&item[key]))));
        }
        for part in item["content"].as_array().into_iter().flatten() {
            said.push(match part["type"].as_str() {
                Some("reasoning_text") => Said::Reasoning(word(&part["text"])),
                Some("refusal") => Said::Refusal(word(&part["refusal"])),
                _ => Said::Text(word(&part["text"])),
            });
        }
    }
    joined(said)
}

/// The pieces of a whole chat reply, in the order of their fields.
pub(super) fn of_chat(reply: Folded) -> Vec<Said> {
    let words = [Said::Reasoning(reply.reasoning), Said::Text(reply.content), Said::Refusal(reply.refusal)];
    joined(words.into_iter().chain(reply.calls.into_iter().map(Said::Call)).collect())
}

/// Neighbours of one kind as one piece, without empty ones.
pub(super) fn joined(pieces: Vec<Said>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for piece in pieces {
        match (said.last_mut(), piece) {
            (_, Said::Reasoning(more) | Said::Text(more) | Said::Refusal(more)) if more.is_empty() => {}
            (Some(Said::Reasoning(words)), Said::Reasoning(more))
            | (Some(Said::Text(words)), Said::Text(more))
            | (Some(Said::Refusal(words)), Said::Refusal(more)) => words.push_str(&more),
            (_, piece) => said.push(piece),
        }
    }
    said
}

/// The same with drawn ids renamed, as pages write them.
pub(super) fn renamed(said: Vec<Said>, ids: &mut Ids) -> Vec<Said> {
    let rename = |piece| match piece {
        Said::Call([id, name, arguments]) => Said::Call([ids.renamed(&id), name, arguments.trim_end().to_owned()]),
        words => words,
    };
    said.into_iter().map(rename).collect()
}

/// The calls alone.
pub(super) fn calls(said: &[Said]) -> Vec<[String; 3]> {
    let call = |piece: &Said| if let Said::Call(call) = piece { Some(call.clone()) } else { None };
    said.iter().filter_map(call).collect()
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
