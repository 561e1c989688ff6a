//! Callboard's reading of a text: the dialect reader, then the check that gives values their types.

use callboard_core::contract::{CallRules, CheckBudget, RawCall, SchemaLimits, ToolSet, check_arguments};
use callboard_core::dialect::{TextCall, TextEnd, TextPiece, TextReader};
use serde_json::Value;

use crate::corpus::{Case, tools};
use crate::reading::Reading;

const MOST_BYTES: usize = 1 << 20;

/// The text in one piece.
pub(crate) fn read(case: &Case) -> Reading {
    read_pieces(case, &[&case.text])
}

/// The text in single characters.
pub(crate) fn read_in_characters(case: &Case) -> Reading {
    let characters: Vec<String> = case.text.chars().map(String::from).collect();
    read_pieces(case, &characters.iter().map(String::as_str).collect::<Vec<_>>())
}

fn read_pieces(case: &Case, parts: &[&str]) -> Reading {
    let tools = ToolSet::compile(&tools(), SchemaLimits::default()).expect("tools that can be compiled");
    let mut reader = TextReader::new(&tools.names().collect::<Vec<_>>());
    let mut pieces = Vec::new();
    parts.iter().for_each(|part| reader.feed(part, &mut pieces));
    reader.finish(if case.cut { TextEnd::CutByLimit } else { TextEnd::Complete }, &mut pieces);
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for piece in pieces {
        match piece {
            TextPiece::Text(words) => text.push_str(&words),
            TextPiece::Reasoning(words) => reasoning.push_str(&words),
            TextPiece::Call(call) => calls.extend(checked(call, &tools)),
            TextPiece::CutOffCall => {}
        }
    }
    Reading::new(&text, &reasoning, calls)
}

/// A call with typed values; one that breaks the contract stays as the model wrote it.
fn checked(call: TextCall, tools: &ToolSet) -> Vec<(String, Value)> {
    let raw = RawCall { name: call.name.clone(), arguments: call.arguments, from_text: true, ..RawCall::default() };
    match check_arguments(&raw, tools, &CallRules::default(), &mut CheckBudget::new(MOST_BYTES)) {
        Ok(checked) => checked.into_iter().map(|one| (one.tool, value(one.arguments.as_str()))).collect(),
        Err(_) => vec![(call.name, value(&raw.arguments))],
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
