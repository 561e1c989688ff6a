//! The scripted model server: the model's name selects the page, and each request gets the page's next reply.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use callboard_test_support::golden_page::{Page, Reply, Section, StreamPiece};
use callboard_test_support::{Exchange, ModelServer};
use serde_json::{Value, json};

/// How long the server waits at a gate; then it disconnects, and the page fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The script running under one model name.
struct Play {
    page: Arc<Page>,
    first_reply: usize,
    asked: Vec<Value>,
    client_has_text: bool,
}

/// All running scripts, shared with the server's threads.
#[derive(Default)]
pub(super) struct Scripts {
    plays: Mutex<HashMap<String, Play>>,
    text_arrived: Condvar,
}

impl Scripts {
    /// Starts the server.
    pub(super) fn serve(self: Arc<Self>) -> ModelServer {
        ModelServer::start(move |exchange| self.answer(exchange))
    }

    /// Sets the next reply for requests to the page's model.
    pub(super) fn begin(&self, page: &Arc<Page>, first_reply: usize) {
        let play = Play { page: Arc::clone(page), first_reply, asked: Vec::new(), client_has_text: false };
        self.plays.lock().unwrap().insert(page.stem.clone(), play);
    }

    /// All requests since the script began.
    pub(super) fn end(&self, page: &Page) -> Vec<Value> {
        self.plays.lock().unwrap().remove(&page.stem).map(|play| play.asked).unwrap_or_default()
    }

    /// The client has received text.
    pub(super) fn client_has_text(&self, page: &Page) {
        if let Some(play) = self.plays.lock().unwrap().get_mut(&page.stem) {
            play.client_has_text = true;
        }
        self.text_arrived.notify_all();
    }

    /// Serves one request per connection. A client that disconnects is no fault.
    fn answer(&self, mut exchange: Exchange) {
        let request: Value = serde_json::from_str(&exchange.body).unwrap_or_default();
        let (streams, usage) = (request["stream"] == true, request["stream_options"]["include_usage"] == true);
        let out = &mut exchange.stream;
        let _ = match self.next_reply(request) {
            Some((page, number)) => match page.upstreams().get(number - 1) {
                Some(section) => answer(out, section, number, streams.then_some(usage), &|| self.wait_for_text(&page)),
                None => send_body(out, "500 Beyond The Script", "", "application/json", "{}", false),
            },
            None => send_body(out, "404 No Such Page", "", "application/json", "{}", false),
        };
        exchange.close();
    }

    fn next_reply(&self, request: Value) -> Option<(Arc<Page>, usize)> {
        let mut plays = self.plays.lock().unwrap();
        let play = plays.get_mut(request["model"].as_str()?)?;
        play.asked.push(request);
        Some((Arc::clone(&play.page), play.first_reply + play.asked.len() - 1))
    }

    /// False when the client received no text in time.
    fn wait_for_text(&self, page: &Page) -> bool {
        let waits = |plays: &mut HashMap<String, Play>| plays.get(&page.stem).is_some_and(|play| !play.client_has_text);
        !self.text_arrived.wait_timeout_while(self.plays.lock().unwrap(), PATIENCE, waits).unwrap().1.timed_out()
    }
}

/// Sends one reply; `streamed` says for a request that streams whether it asks for usage.
fn answer(
    out: &mut impl Write,
    section: &Section,
    number: usize,
    streamed: Option<bool>,
    wait: &dyn Fn() -> bool,
) -> io::Result<()> {
    let status = section.option("status").unwrap_or("200 OK");
    let headers = section.option("header").map(|header| format!("{header}\r\n")).unwrap_or_default();
    let breaks = section.option("break").is_some();
    let stream = streamed.and_then(|usage| section.stream(number, usage));
    if let Some(pieces) = stream {
        return send_stream(out, &pieces, breaks, wait);
    }
    if let Some(text) = section.fence("text") {
        return send_body(out, status, &headers, "text/html", &text, breaks);
    }
    let written =
        section.fence("json").or_else(|| Some(whole_body(&Reply::read(&section.fence("reply")?, number)).to_string()));
    send_body(out, status, &headers, "application/json", &written.unwrap_or_default(), breaks)
}

fn send_stream(out: &mut impl Write, pieces: &[StreamPiece], breaks: bool, wait: &dyn Fn() -> bool) -> io::Result<()> {
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n")?;
    for piece in pieces {
        match piece {
            StreamPiece::Gate if wait() => {}
            StreamPiece::Gate => return Ok(()),
            StreamPiece::Bytes(bytes) => write!(out, "{:x}\r\n{bytes}\r\n", bytes.len())?,
        }
    }
    if breaks { Ok(()) } else { out.write_all(b"0\r\n\r\n") }
}

fn send_body(
    out: &mut impl Write,
    status: &str,
    headers: &str,
    kind: &str,
    body: &str,
    breaks: bool,
) -> io::Result<()> {
    let length = body.len() + if breaks { 100 } else { 0 };
    write!(
        out,
        "HTTP/1.1 {status}\r\n{headers}content-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn whole_body(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if let Some(reasoning) = &reply.reasoning {
        message["reasoning_content"] = reasoning.as_str().into();
    }
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply.calls.clone().into();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": reply.finish_reason});
    let mut body = json!({"id": "chatcmpl-upstream", "object": "chat.completion", "created": 1, "model": "upstream", "choices": [choice]});
    if !reply.usage.is_null() {
        body["usage"] = reply.usage.clone();
    }
    body
}
