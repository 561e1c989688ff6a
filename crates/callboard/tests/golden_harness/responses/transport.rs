//! One run of a page over one transport, and what the client received.

use std::net::TcpStream;
use std::sync::Arc;

use callboard_test_support::Answer;
use callboard_test_support::golden_page::Page;
use serde_json::Value;
use tungstenite::Message;

use super::super::Harness;
use super::super::harness::post;
use super::event_stream::EventStream;

const PATH: &str = "/v1/responses";

/// How a response is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Whole,
    Streamed,
    Socket,
}

impl Transport {
    pub(super) const ALL: [Transport; 3] = [Transport::Whole, Transport::Streamed, Transport::Socket];
}

/// The received response.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) transport: Transport,
    pub(super) body: Body,
    /// The contract report.
    pub(super) contract: Option<String>,
    pub(super) estimated: bool,
    pub(super) retry_after: Option<String>,
    /// Faults of the encoding.
    pub(super) faults: Vec<String>,
    /// The upstream requests.
    pub(super) asked: Vec<Value>,
}

/// A response in one of its forms, or the error in its place.
#[derive(Debug)]
pub(super) enum Body {
    Object(Value),
    Events(Vec<Value>),
    Error(u16, Value),
    /// The connection ended before the response did.
    Ended,
}

/// Sends a request.
pub(super) fn play(harness: &Harness, page: &Arc<Page>, request: &Value, transport: Transport) -> Received {
    let mut request = request.clone();
    request["model"] = page.stem.as_str().into();
    let (mut received, asked) = harness.play(page, |address, on_text| match transport {
        Transport::Socket => over_socket(address, request, on_text),
        Transport::Whole => {
            // The upstream request is streamed, but the client gets nothing before it is complete.
            on_text();
            of_http(transport, &post(address, PATH, &request.to_string(), on_text))
        }
        Transport::Streamed => {
            request["stream"] = true.into();
            of_http(transport, &post(address, PATH, &request.to_string(), on_text))
        }
    });
    received.asked = asked;
    received
}

fn of_http(transport: Transport, response: &Answer) -> Received {
    let text = response.body.as_str();
    let header = |name: &str| response.header(name).map(str::to_owned);
    let mut received = Received {
        transport,
        body: Body::Events(Vec::new()),
        contract: header("callboard-contract"),
        estimated: header("callboard-usage").as_deref() == Some("estimated"),
        retry_after: header("retry-after"),
        faults: Vec::new(),
        asked: Vec::new(),
    };
    if response.header("x-request-id").is_none() {
        received.faults.push("there is no x-request-id".to_owned());
    }
    let is_stream = header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let json = || response.json();
    received.body = match response.status {
        200 if is_stream => {
            let stream = EventStream::read(text);
            received.contract = stream.comment("callboard-contract");
            received.estimated = stream.comment("callboard-usage").as_deref() == Some("estimated");
            received.faults.extend(stream.faults);
            Body::Events(stream.events)
        }
        200 => Body::Object(json()),
        status => Body::Error(status, json()["error"].clone()),
    };
    received
}

/// A WebSocket has neither headers nor comments: only the events, or one error outside of any response.
fn over_socket(address: &str, mut request: Value, on_text: &dyn Fn()) -> Received {
    request["type"] = "response.create".into();
    let stream = TcpStream::connect(address).expect("a connection to Callboard");
    let (mut socket, _) = tungstenite::client(format!("ws://{address}{PATH}"), stream).expect("a WebSocket");
    socket.send(Message::text(request.to_string())).expect("the request goes out");
    let (mut events, mut faults) = (Vec::new(), Vec::new());
    let body = loop {
        let event = match socket.read() {
            Ok(Message::Text(text)) => serde_json::from_str::<Value>(&text).expect("an event"),
            Ok(Message::Ping(_) | Message::Pong(_)) => continue,
            other => {
                faults.push(format!("instead of an event came {other:?}"));
                break Body::Ended;
            }
        };
        if event["type"] == "response.output_text.delta" {
            on_text();
        }
        if event["type"] == "error" && event.get("sequence_number").is_none() {
            let status = event["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or_default();
            break Body::Error(status, event["error"].clone());
        }
        let is_last =
            matches!(event["type"].as_str(), Some("response.completed" | "response.incomplete" | "response.failed"));
        events.push(event);
        if is_last {
            break Body::Events(events);
        }
    };
    let _ = socket.close(None);
    Received {
        transport: Transport::Socket,
        body,
        contract: None,
        estimated: false,
        retry_after: None,
        faults,
        asked: Vec::new(),
    }
}
