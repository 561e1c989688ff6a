//! Parses an `arguments` text into objects.
//!
//! This file handles the text as a whole: an empty text for `{}`, a code fence, JSON encoded twice, several objects in
//! a row; anything but an object is refused. The reader handles the inside of an object.

use serde_json::{Map, Value};

use super::lenient::Reader;
use super::parse_result::{JsonRepair, MalformedJson, ParsedArguments};

/// How many times an object may be string-encoded.
const ENCODINGS: usize = 2;
const FENCE: &str = "```";

/// Reads a tool call's `arguments`: strict JSON unchanged, unambiguous slips repaired, all else refused.
pub fn read_arguments(text: &str) -> Result<ParsedArguments, MalformedJson> {
    read_encoded(text, ENCODINGS)
}

fn read_encoded(text: &str, encodings_left: usize) -> Result<ParsedArguments, MalformedJson> {
    if text.trim().is_empty() {
        return Ok(nothing(Vec::new()));
    }
    let mut reader = unfenced(text)?;
    let first = reader.value()?;
    if reader.at_end() {
        return settle(text, first, reader.repairs, encodings_left);
    }
    match first {
        Value::Object(first) => several(reader, first),
        other => Err(object_due(text, &other)),
    }
}

/// The result for a single value.
fn settle(
    text: &str,
    value: Value,
    repairs: Vec<JsonRepair>,
    encodings_left: usize,
) -> Result<ParsedArguments, MalformedJson> {
    match value {
        Value::Object(object) => Ok(ParsedArguments { values: vec![object], repairs }),
        Value::Null => Ok(nothing(repairs)),
        Value::String(inner) if encodings_left > 0 && holds_json(&inner, &repairs) => {
            decoded(&inner, repairs, encodings_left - 1)
        }
        other => Err(object_due(text, &other)),
    }
}

fn nothing(mut repairs: Vec<JsonRepair>) -> ParsedArguments {
    repairs.push(JsonRepair::Empty);
    ParsedArguments { values: vec![Map::new()], repairs }
}

/// Whether a string is JSON encoded twice rather than plain text. With single quotes or a lone backslash around it, the
/// backslashes inside could belong to either layer.
fn holds_json(inner: &str, repairs: &[JsonRepair]) -> bool {
    let inner = inner.trim();
    let ambiguous = [JsonRepair::SingleQuotes, JsonRepair::InvalidEscape];
    let starts = ["{", "\"", FENCE].iter().any(|start| inner.starts_with(start));
    !repairs.iter().any(|repair| ambiguous.contains(repair)) && (starts || inner.is_empty() || inner == "null")
}

fn decoded(inner: &str, mut repairs: Vec<JsonRepair>, encodings_left: usize) -> Result<ParsedArguments, MalformedJson> {
    let reading = read_encoded(inner, encodings_left).map_err(|inside| MalformedJson {
        message: format!("in the JSON inside the string: {}", inside.message),
        ..inside
    })?;
    for repair in [JsonRepair::EncodedTwice].into_iter().chain(reading.repairs) {
        if !repairs.contains(&repair) {
            repairs.push(repair);
        }
    }
    Ok(ParsedArguments { values: reading.values, repairs })
}

/// A reader placed inside the code fence, if there is one.
fn unfenced(text: &str) -> Result<Reader<'_>, MalformedJson> {
    let body = text.trim_start();
    let start = text.len() - body.len() + FENCE.len();
    let Some(body) = body.strip_prefix(FENCE) else {
        return Ok(Reader::new(text, 0));
    };
    let language = body.find(|character: char| !character.is_ascii_alphanumeric());
    let Some(closing) = body.trim_end().strip_suffix(FENCE) else {
        return Err(MalformedJson::cut_off(text));
    };
    let end = start + closing.len();
    let start = start + language.unwrap_or(0).min(closing.len());
    let mut reader = Reader::new(text.get(..end).unwrap_or_default(), start);
    reader.repaired(JsonRepair::CodeFence)?;
    if reader.at_end() {
        return Err(reader.wrong("an object is due, but the code fence is empty"));
    }
    Ok(reader)
}

/// Objects in a row are several calls. Equal ones are one call, which a server sent twice; `{}` may be a placeholder for what
/// follows, so it is no call of its own.
fn several(mut reader: Reader<'_>, first: Map<String, Value>) -> Result<ParsedArguments, MalformedJson> {
    let second = reader.position;
    let mut values = vec![first];
    while !reader.at_end() {
        let comma = reader.take(b',');
        if reader.at_end() && comma {
            return Err(reader.cut_off());
        }
        if reader.peek() != Some(b'{') {
            return Err(reader.wrong("unexpected text after the object"));
        }
        values.push(reader.object()?);
    }
    if values.windows(2).all(|pair| pair.first() == pair.last()) {
        reader.repaired(JsonRepair::RepeatedObject)?;
        values.truncate(1);
    } else if values.iter().any(Map::is_empty) {
        let ambiguity = "an empty object stands beside another one: write one object for one call";
        return Err(MalformedJson::new(reader.text, second, ambiguity));
    } else {
        reader.repaired(JsonRepair::Concatenated)?;
    }
    Ok(ParsedArguments { values, repairs: reader.repairs })
}

fn object_due(text: &str, value: &Value) -> MalformedJson {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let start = text.len() - text.trim_start().len();
    MalformedJson::new(text, start, &format!("a JSON object is due, but this is {kind}"))
}
