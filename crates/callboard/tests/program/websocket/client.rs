//! A plain WebSocket client that shows every message.

use std::net::TcpStream;

use callboard_test_support::ask;
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::protocol::CloseFrame;
use tungstenite::{Error, Message, WebSocket};

const ENDS: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

pub(crate) struct Socket {
    inner: WebSocket<TcpStream>,
}

/// A refused handshake: its status and body.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Socket {
    pub(crate) fn open(address: &str) -> Self {
        Self::open_with(address, None).unwrap_or_else(|refused| panic!("{refused:?}"))
    }

    /// Opens a connection with an API key.
    pub(crate) fn open_with(address: &str, key: Option<&str>) -> Result<Self, Refused> {
        let mut request = format!("ws://{address}/v1/responses").into_client_request().unwrap();
        if let Some(key) = key {
            request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
        }
        match tungstenite::client(request, TcpStream::connect(address).unwrap()) {
            Ok((inner, _)) => Ok(Self { inner }),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => Err(Refused {
                status: answer.status().as_u16(),
                body: serde_json::from_slice(answer.body().as_deref().unwrap_or_default()).unwrap(),
            }),
            Err(other) => panic!("{other}"),
        }
    }

    pub(crate) fn send(&mut self, message: Message) {
        self.inner.send(message).unwrap();
    }

    /// Asks the model `m` for a response, with these fields as well.
    pub(crate) fn ask(&mut self, input: &str, fields: &Value) {
        let mut message = json!({"type": "response.create", "model": "m", "input": input});
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.send(Message::text(message.to_string()));
    }

    /// The next event.
    pub(crate) fn next(&mut self) -> Value {
        loop {
            match self.inner.read().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// Reads until an event of this type.
    pub(crate) fn read_until(&mut self, kind: &str) -> Value {
        loop {
            let event = self.next();
            assert_ne!(event["type"], "error", "{event}");
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// All events of the next response.
    pub(crate) fn response(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let event = self.next();
            let over = event["type"].as_str().is_some_and(|kind| ENDS.contains(&kind));
            events.push(event);
            if over {
                return events;
            }
        }
    }

    /// The final object of the next response.
    pub(crate) fn object(&mut self) -> Value {
        self.read_until("response.completed")["response"].clone()
    }

    /// Sends a ping and expects the pong as the next message: the server has read everything sent before.
    pub(crate) fn ping(&mut self, words: &'static str) {
        self.send(Message::Ping(words.into()));
        match self.inner.read().unwrap() {
            Message::Pong(back) => assert_eq!(&*back, words.as_bytes()),
            other => panic!("{other:?}"),
        }
    }

    /// Reads until the server sends a ping.
    pub(crate) fn wait_for_ping(&mut self) {
        while !matches!(self.inner.read().unwrap(), Message::Ping(_)) {}
    }

    /// Reads until the server closes the connection; its close code.
    pub(crate) fn close_code(&mut self) -> Option<u16> {
        self.read_close().map(|frame| frame.code.into())
    }

    /// The same, with its reason.
    pub(crate) fn close_frame(&mut self) -> (u16, String) {
        let frame = self.read_close().expect("a close with a code");
        (frame.code.into(), frame.reason.to_string())
    }

    fn read_close(&mut self) -> Option<CloseFrame> {
        loop {
            match self.inner.read() {
                Ok(Message::Close(frame)) => return frame,
                Ok(_) => {}
                Err(error) => panic!("no close: {error}"),
            }
        }
    }

    /// Sends a ping, as long as the connection is open, and reads the next message.
    pub(crate) fn try_ping(&mut self) -> Option<Message> {
        let _ = self.inner.send(Message::Ping("more".into()));
        self.inner.read().ok()
    }

    /// Reads until the connection ends; true when both sides have closed it.
    pub(crate) fn is_closed_properly(&mut self) -> bool {
        loop {
            match self.inner.read() {
                Ok(_) => {}
                Err(error) => return matches!(error, Error::ConnectionClosed),
            }
        }
    }

    /// The connection below the protocol.
    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.inner.get_mut()
    }
}

/// Runs a turn in a conversation without a model request. It waits for earlier turns.
pub(crate) fn wait_for_turn(address: &str, model: &str, conversation: &str) {
    let request = json!({"model": model, "input": "…", "conversation": conversation, "generate": false});
    let answer = ask(address, "POST", "/v1/responses", &[], &request.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// The text of a response.
pub(crate) fn words(response: &Value) -> String {
    let items = response["output"].as_array().into_iter().flatten();
    let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
    parts.filter_map(|part| part["text"].as_str()).collect()
}
