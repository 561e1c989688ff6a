//! The scripted model server: the model's name selects the page, and each request gets the page's next reply.
//!
//! It keeps what it was asked. Its threads end with the connections they serve, the listening one with the process.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::read_message;
use crate::golden_page::{Page, Reply, Section, StreamPiece};

/// How long the server waits at a gate; then it breaks off, and the page fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is being played under one model name.
struct Play {
    page: Arc<Page>,
    asked: Vec<Value>,
    client_has_text: bool,
}

/// The scripts of all plays, shared with the server's threads.
#[derive(Default)]
pub(super) struct Scripts {
    plays: Mutex<HashMap<String, Play>>,
    text_arrived: Condvar,
}

impl Scripts {
    /// From now on requests for the page's model are answered from its first reply on.
    pub(super) fn begin(&self, page: &Arc<Page>) {
        let play = Play { page: Arc::clone(page), asked: Vec::new(), client_has_text: false };
        self.plays.lock().unwrap().insert(page.stem.clone(), play);
    }

    /// All requests since the beginning of the play.
    pub(super) fn end(&self, page: &Page) -> Vec<Value> {
        self.plays.lock().unwrap().remove(&page.stem).map(|play| play.asked).unwrap_or_default()
    }

    /// The client has got some text.
    pub(super) fn client_has_text(&self, page: &Page) {
        if let Some(play) = self.plays.lock().unwrap().get_mut(&page.stem) {
            play.client_has_text = true;
        }
        self.text_arrived.notify_all();
    }

    fn next_reply(&self, request: Value) -> Option<(Arc<Page>, usize)> {
        let mut plays = self.plays.lock().unwrap();
        let play = plays.get_mut(request["model"].as_str()?)?;
        play.asked.push(request);
        Some((Arc::clone(&play.page), play.asked.len()))
    }

    /// False when the client got no text in time.
    fn wait_for_text(&self, page: &Page) -> bool {
        let waits = |plays: &mut HashMap<String, Play>| plays.get(&page.stem).is_some_and(|play| !play.client_has_text);
        !self.text_arrived.wait_timeout_while(self.plays.lock().unwrap(), PATIENCE, waits).unwrap().1.timed_out()
    }
}

/// Starts the server and returns its port.
pub(super) fn start(scripts: Arc<Scripts>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let scripts = Arc::clone(&scripts);
            std::thread::spawn(move || serve(&stream, &scripts));
        }
    });
    port
}

/// One request per connection. A client that hangs up is no fault of the server.
fn serve(mut stream: &TcpStream, scripts: &Scripts) {
    let Ok(Some(message)) = read_message(&mut BufReader::new(stream), |_| {}) else { return };
    let request: Value = serde_json::from_slice(&message.body).unwrap_or_default();
    let (streams, usage) = (request["stream"] == true, request["stream_options"]["include_usage"] == true);
    let _ = stream.set_nodelay(true);
    let sent = match scripts.next_reply(request) {
        Some((page, number)) => match page.upstreams().get(number - 1) {
            Some(section) => {
                answer(&mut stream, section, number, streams.then_some(usage), &|| scripts.wait_for_text(&page))
            }
            None => send_body(&mut stream, "500 Beyond The Script", "", "application/json", "{}", false),
        },
        None => send_body(&mut stream, "404 No Such Page", "", "application/json", "{}", false),
    };
    let _ = sent;
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
