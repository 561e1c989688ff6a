//! Tool results summarised in a sentence or two.
//!
//! A JSON result is reduced to its message or its first fields; any other text is passed on, truncated to a length that
//! can be listened to. A result counts as failed if it says so: `Error: …`, `"success": false` or an `"error"`.

use serde_json::Value;

use super::{ToolOutcome, ToolResult};

const LONGEST: usize = 400;
const MESSAGE_KEYS: &[&str] =
    &["message", "text", "summary", "result", "answer", "description", "content", "detail", "error", "status"];

/// A text that summarises the results.
#[must_use]
pub fn summarize_results<'a>(results: impl IntoIterator<Item = &'a str>) -> String {
    let summaries: Vec<String> = results.into_iter().map(summary).filter(|text| !text.is_empty()).collect();
    if summaries.is_empty() { "Done.".to_owned() } else { summaries.join(" ") }
}

/// Whether every call of a round succeeded, by its outcome and by its own words.
pub(super) fn all_succeeded(results: &[ToolResult]) -> bool {
    let succeeded = |result: &ToolResult| result.outcome == ToolOutcome::Success && !reports_failure(&result.text);
    !results.is_empty() && results.iter().all(succeeded)
}

/// Whether a result reports a failure in its text.
fn reports_failure(result: &str) -> bool {
    let trimmed = result.trim();
    error_text(trimmed).is_some() || serde_json::from_str(trimmed).is_ok_and(|value| is_failure(&value))
}

fn error_text(result: &str) -> Option<&str> {
    result.strip_prefix("Error: ").or_else(|| result.strip_prefix("Error "))
}

fn is_failure(result: &Value) -> bool {
    result.get("success") == Some(&Value::Bool(false))
        || result.get("error").is_some_and(|error| !error.is_null() && error != &Value::Bool(false))
}

fn summary(result: &str) -> String {
    let trimmed = result.trim();
    if let Some(problem) = error_text(trimmed) {
        return format!("That did not work: {}", sentence(problem));
    }
    match serde_json::from_str::<Value>(trimmed) {
        Ok(object @ Value::Object(_)) => {
            let words = text_in(&object, 3).map(|text| sentence(&text));
            match (is_failure(&object), words) {
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
            assert_eq!(summarize_results([result]), expected, "{result}");
            assert_eq!(reports_failure(result), expected.starts_with("That did not work"), "{result}");
        }
    }
}
