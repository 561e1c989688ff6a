//! Messages of the WebSocket transport: requests in their envelope, errors, events with their stream id.

use axum::extract::ws::{CloseFrame, close_code};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{ResponsesRequest, read_object};
use serde_json::{Map, Value, json};

use crate::memory_budget::MemoryExceeded;
use crate::trace::TraceParent;

const CREATE: &str = "response.create";
/// A connection has headers only once, so some clients (such as Codex) put those of each request here.
const HEADERS: &str = "client_metadata";

/// A request message.
#[derive(Debug)]
pub(super) struct SocketRequest {
    /// The request, or why it is refused.
    pub(super) request: Result<ResponsesRequest, ApiError>,
    /// The response that it continues, also where the request is refused.
    pub(super) continues: Option<String>,
    /// The client's id for this exchange, repeated in every event and error.
    pub(super) stream_id: Option<String>,
    /// The client's trace for this request.
    pub(super) caller: Option<TraceParent>,
}

impl SocketRequest {
    /// Reads a message of at most so many bytes.
    pub(super) fn read(text: &str, most_bytes: usize) -> Self {
        let (mut stream_id, mut caller, mut continues) = (None, None, None);
        let request = fields_of(text, most_bytes).and_then(|mut fields| {
            stream_id = fields.remove("stream_id").and_then(|id| id.as_str().map(str::to_owned));
            caller = caller_of(&fields);
            continues = fields.get("previous_response_id").and_then(Value::as_str).map(str::to_owned);
            check_type(fields.remove("type"))?;
            fields.insert("stream".to_owned(), true.into());
            Ok(ResponsesRequest::of(fields)?)
        });
        Self { request, continues, stream_id, caller }
    }
}

fn caller_of(fields: &Map<String, Value>) -> Option<TraceParent> {
    let header = |header: &str| fields.get(HEADERS)?.get(format!("ws_request_header_{header}"))?.as_str();
    TraceParent::read(header("traceparent")?, header("tracestate").unwrap_or_default())
}

fn fields_of(text: &str, most_bytes: usize) -> Result<Map<String, Value>, ApiError> {
    if text.len() > most_bytes {
        return Err(ApiError::body_too_large(most_bytes));
    }
    let in_words = |refusal: BadRequest| match refusal.param {
        None => BadRequest { message: format!("send a JSON object as text; {}", refusal.message), ..refusal },
        Some(_) => refusal,
    };
    Ok(read_object(text.into()).map_err(in_words)?)
}

fn check_type(kind: Option<Value>) -> Result<(), BadRequest> {
    match kind {
        Some(Value::String(kind)) if kind == CREATE => Ok(()),
        Some(kind) => {
            let message = format!("type is {kind}; messages here are of the type {CREATE:?}");
            Err(BadRequest::at("type", "unsupported_value", message))
        }
        None => Err(BadRequest::missing("type", format!("type is missing; send {CREATE:?}"))),
    }
}

/// The close frame for a client whose messages cannot be read; none where the connection is gone.
pub(super) fn close_frame(error: axum::Error) -> Option<CloseFrame> {
    let (code, reason) = match error.into_inner().downcast_ref::<tungstenite::Error>()? {
        tungstenite::Error::Capacity(_) => (close_code::SIZE, "the message is far larger than limits.body_bytes"),
        tungstenite::Error::Utf8(_) => (close_code::INVALID, "text must be UTF-8"),
        tungstenite::Error::Io(error) => match error.get_ref()?.downcast_ref()? {
            MemoryExceeded::Request(_) => {
                (close_code::SIZE, "the message takes more memory than limits.request_memory_bytes")
            }
            MemoryExceeded::Total(_) => {
                (close_code::AGAIN, "all requests together take more memory than limits.memory_bytes; try again soon")
            }
        },
        tungstenite::Error::Protocol(_) => (close_code::PROTOCOL, "not a valid WebSocket frame"),
        _ => return None,
    };
    Some(CloseFrame { code, reason: reason.into() })
}

/// An error outside of any response.
pub(super) fn error(error: &ApiError) -> String {
    let body: Value = serde_json::from_str(&error.to_json()).unwrap_or_default();
    json!({"type": "error", "status": error.status, "error": body.get("error")}).to_string()
}

/// An event with its stream id.
pub(super) fn with_stream_id(line: &str, stream_id: Option<&str>) -> String {
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
        let message = SocketRequest::read(
            r#"{"type":"response.create","stream_id":"s","model":"m","input":"hi","stream_options":{},"generate":false}"#,
            1000,
        );
        let request = message.request.unwrap();
        assert_eq!((message.stream_id.as_deref(), request.generate, request.stream), (Some("s"), false, true));
        let table = [
            ("hello", None, None, "invalid_json"),
            ("[]", None, None, "invalid_json"),
            ("{}", None, Some("type"), "missing_required_field"),
            (r#"{"type":"response.steer","stream_id":"s"}"#, Some("s"), Some("type"), "unsupported_value"),
            (r#"{"type":"response.create","stream_id":"s"}"#, Some("s"), Some("model"), "missing_required_field"),
            (r#"{"type":"response.create","model":"m","model":"n"}"#, None, Some("model"), "invalid_value"),
        ];
        for (text, stream_id, param, code) in table {
            let message = SocketRequest::read(text, 1000);
            let error = message.request.unwrap_err();
            assert_eq!((error.param.as_deref(), error.code.as_str()), (param, code), "{text}");
            assert_eq!(message.stream_id.as_deref(), stream_id, "{text}");
        }
        assert_eq!(SocketRequest::read("{}", 1).request.unwrap_err().status, 413);
    }

    #[test]
    fn events_carry_their_stream_id() {
        assert_eq!(with_stream_id(r#"{"type":"x"}"#, Some("a\"b")), r#"{"stream_id":"a\"b","type":"x"}"#);
        assert_eq!(with_stream_id(r#"{"type":"x"}"#, None), r#"{"type":"x"}"#);
        let error: Value = serde_json::from_str(&error(&ApiError::response_not_found("r"))).unwrap();
        assert_eq!(
            (error["status"].as_u64(), error["error"]["code"].as_str()),
            (Some(404), Some("response_not_found"))
        );
    }
}
