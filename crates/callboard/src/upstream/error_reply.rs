//! Error replies of model servers. Servers put the message in different fields.

use callboard_core::wire::chat::adapt::is_validation_error;
use serde_json::Value;

/// Longer plain text is a page, not an error message.
const MOST_TEXT_BYTES: usize = 4 << 10;

/// The body of an error reply.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ErrorReply {
    /// Its message.
    pub message: Option<String>,
    /// Its code.
    pub code: Option<String>,
    /// The place it names.
    pub param: Option<String>,
    /// All of it, for traces.
    pub body: String,
}

impl ErrorReply {
    /// Reads a body: JSON of any shape, or a line of text.
    pub(super) fn read(body: &[u8]) -> Self {
        let read = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of_json(&value),
            Err(_) => Self { message: plain_text(body), ..Self::default() },
        };
        Self { body: String::from_utf8_lossy(body).into_owned(), ..read }
    }

    fn of_json(value: &Value) -> Self {
        // Some wrap the one object in a list.
        let value = value.as_array().and_then(|list| list.first()).filter(|first| is_wrapped(first)).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        Self { message: message(value, error), code: text("code"), param: text("param"), ..Self::default() }
    }

    /// The error of a server that redirects.
    pub(super) fn redirect(target: &str) -> Self {
        let message = format!("it redirects to {target}; give the upstream that address");
        Self { message: Some(message), ..Self::default() }
    }

    /// True when it lists what is wrong with the request.
    pub(super) fn is_validation_error(&self) -> bool {
        self.message.as_deref().is_some_and(is_validation_error)
    }
}

fn is_wrapped(value: &Value) -> bool {
    value.get("error").is_some()
}

fn message(value: &Value, error: &Value) -> Option<String> {
    let said = ["message", "detail", "errors", "error", "msg", "reason"];
    let words = said.iter().find_map(|key| [error, value].into_iter().find_map(|holder| words_at(holder, key)));
    let words = error.as_str().map(str::to_owned).or(words).or_else(|| value.is_array().then(|| value.to_string()))?;
    // A gateway in between quotes the server behind it.
    let quoted = error.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(Value::as_str);
    Some(quoted.map_or(words.clone(), |quoted| format!("{words}\n{}", inner(quoted))))
}

fn words_at(holder: &Value, key: &str) -> Option<String> {
    match holder.get(key)? {
        Value::Null => None,
        Value::String(words) => Some(words.clone()).filter(|words| !words.is_empty()),
        Value::Object(fields) if key == "error" && fields.is_empty() => None,
        other => Some(other.to_string()),
    }
}

fn inner(quoted: &str) -> String {
    let value: Value = serde_json::from_str(quoted).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    words_at(error, "message").or_else(|| error.as_str().map(str::to_owned)).unwrap_or_else(|| quoted.to_owned())
}

fn plain_text(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?.trim();
    (!text.is_empty() && text.len() <= MOST_TEXT_BYTES && !text.starts_with('<')).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_in_any_field() {
        for (body, expected) in [
            (r#"{"error":{"message":"why"}}"#, Some("why")),
            (r#"{"message":"why"}"#, Some("why")),
            (r#"{"detail":"why"}"#, Some("why")),
            (r#"{"error":"why"}"#, Some("why")),
            (r#"{"error":null,"message":"why"}"#, Some("why")),
            (r#"{"error":{"message":null,"detail":"why"}}"#, Some("why")),
            (r#"[{"error":{"code":400,"message":"why"}}]"#, Some("why")),
            (r#"{"detail":[{"loc":["body"]}]}"#, Some(r#"[{"loc":["body"]}]"#)),
            (r#"[{"loc":["body"]}]"#, Some(r#"[{"loc":["body"]}]"#)),
            (
                r#"{"error":{"message":"provider","metadata":{"raw":"{\"error\":{\"message\":\"why\"}}"}}}"#,
                Some("provider\nwhy"),
            ),
            (r#"{"error":{"message":"provider","metadata":{"raw":"why"}}}"#, Some("provider\nwhy")),
            ("why\n", Some("why")),
            ("<html>why</html>", None),
            ("{}", None),
            ("", None),
            (r#"{"error":{}}"#, None),
        ] {
            assert_eq!(ErrorReply::read(body.as_bytes()).message.as_deref(), expected, "{body}");
        }
        assert_eq!(ErrorReply::read(b"\xff").message, None);
        let error = ErrorReply::read(br#"{"error":{"message":"why","code":"x","param":"stop"}}"#);
        assert_eq!((error.code.as_deref(), error.param.as_deref()), (Some("x"), Some("stop")));
    }
}
