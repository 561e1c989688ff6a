//! One run of a page over one way, and what the client was told.

use std::net::TcpStream;
use std::sync::Arc;

use serde_json::Value;
use tungstenite::Message;

use super::super::http::Message as HttpMessage;
use super::super::{Stage, client};
use super::event_stream::EventStream;
use crate::golden_page::Page;

const PATH: &str = "/v1/responses";

/// How a response is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Whole,
    Streamed,
    Socket,
}

impl Way {
    pub(super) const ALL: [Way; 3] = [Way::Whole, Way::Streamed, Way::Socket];
}

/// What came back.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) way: Way,
    pub(super) body: Body,
    /// What was said about the contract.
    pub(super) contract: Option<String>,
    pub(super) estimated: bool,
    pub(super) retry_after: Option<String>,
    /// What was wrong with the bytes themselves.
    pub(super) faults: Vec<String>,
    /// What the model server was asked.
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

/// Plays a request.
pub(super) fn play(stage: &Stage, page: &Arc<Page>, request: &Value, way: Way) -> Told {
    let mut request = request.clone();
    request["model"] = page.stem.as_str().into();
    let (mut told, asked) = stage.play(page, |address, on_text| match way {
        Way::Socket => over_socket(address, request, on_text),
        Way::Whole => {
            // The model server is asked for a stream, and the client can tell nothing before it is over.
            on_text();
            of_http(way, &client::post(address, PATH, &request.to_string(), on_text))
        }
        Way::Streamed => {
            request["stream"] = true.into();
            of_http(way, &client::post(address, PATH, &request.to_string(), on_text))
        }
    });
    told.asked = asked;
    told
}

fn of_http(way: Way, response: &HttpMessage) -> Told {
    let text = std::str::from_utf8(&response.body).expect("a body of text");
    let header = |name: &str| response.header(name).map(str::to_owned);
    let mut told = Told {
        way,
        body: Body::Events(Vec::new()),
        contract: header("callboard-contract"),
        estimated: header("callboard-usage").as_deref() == Some("estimated"),
        retry_after: header("retry-after"),
        faults: Vec::new(),
        asked: Vec::new(),
    };
    if response.header("x-request-id").is_none() {
        told.faults.push("there is no x-request-id".to_owned());
    }
    let is_stream = header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let json = || serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    told.body = match response.status() {
        200 if is_stream => {
            let stream = EventStream::read(text);
            told.contract = stream.comment("callboard-contract");
            told.estimated = stream.comment("callboard-usage").as_deref() == Some("estimated");
            told.faults.extend(stream.faults);
            Body::Events(stream.events)
        }
        200 => Body::Object(json()),
        status => Body::Error(status, json()["error"].clone()),
    };
    told
}

/// A WebSocket has neither headers nor comments: only the events, or one error outside of any response.
fn over_socket(address: &str, mut request: Value, on_text: &dyn Fn()) -> Told {
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
    Told { way: Way::Socket, body, contract: None, estimated: false, retry_after: None, faults, asked: Vec::new() }
}
