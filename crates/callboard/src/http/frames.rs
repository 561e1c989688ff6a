//! Messages of the WebSocket transport: a request inside its envelope, an error, an event with the name of its stream.

use axum::extract::ws::{CloseFrame, close_code};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::ResponsesRequest;
use serde_json::{Map, Value, json};

const CREATE: &str = "response.create";

/// A request for a response.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) request: ResponsesRequest,
    /// What the client calls this exchange; every event of the response carries it.
    pub(super) stream_id: Option<String>,
}

impl Asked {
    /// Reads a message of at most so many bytes.
    pub(super) fn read(text: &str, most_bytes: usize) -> Result<Self, ApiError> {
        if text.len() > most_bytes {
            return Err(ApiError::body_too_large(most_bytes));
        }
        let mut fields: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
            BadRequest::whole("invalid_json", format!("a message must be text that holds one JSON object: {error}"))
        })?;
        match fields.remove("type") {
            Some(Value::String(kind)) if kind == CREATE => {}
            Some(kind) => {
                let message = format!("type is {kind}; messages here are of the type {CREATE:?}");
                return Err(BadRequest::at("type", "unsupported_value", message).into());
            }
            None => return Err(BadRequest::missing("type", format!("type is missing; send {CREATE:?}")).into()),
        }
        let stream_id = fields.remove("stream_id").and_then(|id| id.as_str().map(str::to_owned));
        fields.insert("stream".to_owned(), true.into());
        let request = ResponsesRequest::read(Value::Object(fields).to_string().into_bytes())?;
        Ok(Self { request, stream_id })
    }
}

/// What is said to a client whose bytes cannot be read on; nothing where the connection itself is gone.
pub(super) fn parting(error: axum::Error) -> Option<CloseFrame> {
    let (code, reason) = match error.into_inner().downcast_ref::<tungstenite::Error>()? {
        tungstenite::Error::Capacity(_) => (close_code::SIZE, "the message is far larger than limits.body_bytes"),
        tungstenite::Error::Utf8(_) => (close_code::INVALID, "text must be UTF-8"),
        tungstenite::Error::Protocol(_) => (close_code::PROTOCOL, "this is not what WebSockets send"),
        _ => return None,
    };
    Some(CloseFrame { code, reason: reason.into() })
}

/// An error outside of any response.
pub(super) fn error(error: &ApiError) -> String {
    let body: Value = serde_json::from_str(&error.to_json()).unwrap_or_default();
    json!({"type": "error", "status": error.status, "error": body.get("error")}).to_string()
}

/// An event with the name of its stream.
pub(super) fn marked(line: &str, stream_id: Option<&str>) -> String {
    match (stream_id, line.strip_prefix('{')) {
        (Some(id), Some(rest)) => format!("{{\"stream_id\":{},{rest}", json!(id)),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_faults_named() {
        let asked = Asked::read(
            r#"{"type":"response.create","stream_id":"s","model":"m","input":"hi","stream_options":{},"generate":false}"#,
            1000,
        )
        .unwrap();
        assert_eq!(
            (asked.stream_id.as_deref(), asked.request.generate, asked.request.stream),
            (Some("s"), false, true)
        );
        let table = [
            ("hello", None, "invalid_json"),
            ("[]", None, "invalid_json"),
            ("{}", Some("type"), "missing_required_field"),
            (r#"{"type":"response.steer"}"#, Some("type"), "unsupported_value"),
            (r#"{"type":"response.create"}"#, Some("model"), "missing_required_field"),
        ];
        for (text, param, code) in table {
            let error = Asked::read(text, 1000).unwrap_err();
            assert_eq!((error.param.as_deref(), error.code.as_str()), (param, code), "{text}");
        }
    }

    #[test]
    fn events_carry_the_name_of_their_stream() {
        assert_eq!(marked(r#"{"type":"x"}"#, Some("a\"b")), r#"{"stream_id":"a\"b","type":"x"}"#);
        assert_eq!(marked(r#"{"type":"x"}"#, None), r#"{"type":"x"}"#);
        let error: Value = serde_json::from_str(&error(&ApiError::response_not_found("r"))).unwrap();
        assert_eq!(
            (error["status"].as_u64(), error["error"]["code"].as_str()),
            (Some(404), Some("response_not_found"))
        );
    }
}
