//! Tool results summarised in a sentence or two.
//!
//! A JSON result is reduced to its message or its first fields; any other text is passed on, truncated to a length that
//! can be listened to.

use serde_json::Value;

const LONGEST: usize = 400;
const MESSAGE_KEYS: &[&str] =
    &["message", "text", "summary", "result", "answer", "description", "content", "detail", "error", "status"];

/// The reply that summarises the results.
pub(super) fn relay(results: &[String]) -> String {
    let summaries: Vec<String> = results.iter().map(|result| summary(result)).filter(|text| !text.is_empty()).collect();
    if summaries.is_empty() { "Done.".to_owned() } else { summaries.join(" ") }
}

fn summary(result: &str) -> String {
    let trimmed = result.trim();
    if let Some(problem) = trimmed.strip_prefix("Error: ").or_else(|| trimmed.strip_prefix("Error ")) {
        return format!("That did not work: {}", sentence(problem));
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) => {
            let object = Value::Object(object);
            let failed = object.get("success") == Some(&Value::Bool(false))
                || object.get("error").is_some_and(|error| !error.is_null() && error != &Value::Bool(false));
            let words = text_in(&object, 3).map(|text| sentence(&text));
            match (failed, words) {
                (true, Some(words)) => format!("That did not work: {words}"),
                (true, None) => "That did not work.".to_owned(),
                (false, Some(words)) => words,
                (false, None) => sentence(trimmed),
            }
        }
        Ok(Value::String(text)) => sentence(&text),
        _ => sentence(trimmed),
    }
}

/// The message of a result, or its first fields.
fn text_in(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Object(object) if depth > 0 => {
            let named =
                MESSAGE_KEYS.iter().filter_map(|name| object.get(*name)).find_map(|inner| text_in(inner, depth - 1));
            named.or_else(|| pairs(object.iter()))
        }
        _ => None,
    }
}

/// "temperature 21, sky clear": plain fields in their order.
fn pairs<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> Option<String> {
    let shown: Vec<String> = fields
        .filter_map(|(name, value)| match value {
            Value::String(text) => Some(format!("{} {text}", name.replace('_', " "))),
            Value::Number(number) => Some(format!("{} {number}", name.replace('_', " "))),
            _ => None,
        })
        .take(6)
        .collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    } else if !short.is_empty() && !short.ends_with(['.', '!', '?', '…', ':', '}', ']', ')']) {
        short.push('.');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_summarised_in_plain_words() {
        for (result, expected) in [
            ("Logged the event", "Logged the event."),
            ("Error: Tool execution timed out", "That did not work: Tool execution timed out."),
            (r#"{"success":true,"message":"Now in Shooting.","data":{"phase":"Shooting"}}"#, "Now in Shooting."),
            (r#"{"success":false,"message":"No such unit"}"#, "That did not work: No such unit."),
            (r#"{"error":{"message":"not found"}}"#, "That did not work: not found."),
            (r#"{"temperature":21,"sky":"clear"}"#, "temperature 21, sky clear."),
            ("", "Done."),
        ] {
            assert_eq!(relay(&[result.to_owned()]), expected, "{result}");
        }
    }
}
