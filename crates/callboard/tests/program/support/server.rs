//! A model server on a real socket: each request is handed to the test's own function together with its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::json;

/// One request and the way back.
pub(crate) struct Visit {
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) stream: TcpStream,
}

impl Visit {
    /// The head of a stream of events.
    pub(crate) fn begin_stream(&mut self) {
        self.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    }

    /// One event, flushed by itself.
    pub(crate) fn event(&mut self, data: &str) {
        let event = format!("data: {data}\n\n");
        self.write(&format!("{:x}\r\n{event}\r\n", event.len()));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#));
    }

    /// A proper end.
    pub(crate) fn finish(&mut self, reason: &str) {
        self.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#));
        self.event("[DONE]");
        self.write("0\r\n\r\n");
    }

    pub(crate) fn json(&mut self, status: u16, body: &str) {
        self.write(&format!(
            "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ));
    }

    /// A short answer in words, streamed or whole as it was asked for.
    pub(crate) fn answer(&mut self, text: &str) {
        if self.body.contains("\"stream\":true") {
            self.begin_stream();
            self.text(text);
            return self.finish("stop");
        }
        let message = format!(r#"{{"role":"assistant","content":"{text}"}}"#);
        self.json(200, &format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#));
    }

    /// True when the other side has closed the connection.
    pub(crate) fn is_left(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    /// Bytes as they stand.
    pub(crate) fn write(&mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes());
    }
}

pub(crate) struct ModelServer {
    /// The base URL.
    pub(crate) url: String,
}

impl ModelServer {
    /// Serves until the test process ends.
    pub(crate) fn start(handle: impl Fn(Visit) + Send + Sync + 'static) -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").unwrap(), handle)
    }

    /// Serves at a base URL at which nobody listened.
    pub(crate) fn start_at(url: &str, handle: impl Fn(Visit) + Send + Sync + 'static) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/v1");
        Self::serve(TcpListener::bind(address).unwrap(), handle)
    }

    fn serve(listener: TcpListener, handle: impl Fn(Visit) + Send + Sync + 'static) -> Self {
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let handle = Arc::new(handle);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let handle = Arc::clone(&handle);
                std::thread::spawn(move || serve(&stream, handle.as_ref()));
            }
        });
        Self { url }
    }

    /// An address at which nobody listens.
    pub(crate) fn nowhere() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    }
}

fn serve(stream: &TcpStream, handle: &impl Fn(Visit)) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !matches!(reader.read_line(&mut head), Ok(1..)) {
                return;
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let body = String::from_utf8(body).unwrap();
        handle(Visit { path, headers: head.to_ascii_lowercase(), body, stream: stream.try_clone().unwrap() });
    }
}

/// A model server that answers everything.
pub(crate) fn polite() -> ModelServer {
    ModelServer::start(|mut visit| match visit.path.as_str() {
        "/v1/models" => visit.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#),
        _ => visit.answer("Hello."),
    })
}

/// A model server that stops in the middle of a reply until the test lets it go on.
pub(crate) fn halting(
    first: impl Fn(&mut Visit) + Send + Sync + 'static,
    then: impl Fn(&mut Visit) + Send + Sync + 'static,
    go: Receiver<()>,
) -> ModelServer {
    let go = Mutex::new(go);
    ModelServer::start(move |mut visit| {
        visit.begin_stream();
        first(&mut visit);
        go.lock().unwrap().recv().unwrap();
        then(&mut visit);
    })
}

/// A model server whose reply has no end: it talks for as long as somebody listens.
pub(crate) fn pouring() -> ModelServer {
    let words = "word ".repeat(4000);
    ModelServer::start(move |mut visit| {
        visit.begin_stream();
        let event = format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": words}}]}));
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        while visit.stream.write_all(chunk.as_bytes()).is_ok() {}
    })
}
