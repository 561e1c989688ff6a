//! A model server on a real socket: each request is passed to a function of the test, with its connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One request, and the connection for the reply.
pub struct Exchange {
    /// The path of the request.
    pub path: String,
    /// Its head in lower case.
    pub headers: String,
    /// Its body.
    pub body: String,
    /// The connection.
    pub stream: TcpStream,
}

impl Exchange {
    /// The body of the request as JSON.
    pub fn request(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The head of a stream of events.
    pub fn begin_stream(&mut self) {
        self.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    }

    /// One event, flushed by itself.
    pub fn event(&mut self, data: &str) {
        let event = format!("data: {data}\n\n");
        self.write(&format!("{:x}\r\n{event}\r\n", event.len()));
    }

    /// A delta of text.
    pub fn text(&mut self, text: &str) {
        self.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#));
    }

    /// The end of a stream, with its reason.
    pub fn finish(&mut self, reason: &str) {
        self.event(&format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#));
        self.event("[DONE]");
        self.write("0\r\n\r\n");
    }

    /// A whole body of JSON.
    pub fn json(&mut self, status: u16, body: &str) {
        self.write(&format!(
            "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ));
    }

    /// A short text reply, streamed or whole as requested.
    pub fn answer(&mut self, text: &str) {
        if self.body.contains("\"stream\":true") {
            self.begin_stream();
            self.text(text);
            return self.finish("stop");
        }
        let message = format!(r#"{{"role":"assistant","content":"{text}"}}"#);
        self.json(200, &format!(r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}]}}"#));
    }

    /// Waits for the client; true when it has closed the connection.
    pub fn is_closed_by_client(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    /// Closes the connection.
    pub fn close(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Sends bytes unchanged.
    pub fn write(&mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes());
    }
}

/// A server that runs until the test process ends.
pub struct ModelServer {
    /// The base URL.
    pub url: String,
}

impl ModelServer {
    /// Serves until the test process ends.
    pub fn start(handle: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").unwrap(), handle, false)
    }

    /// Serves probes too, which other servers do not see.
    pub fn start_probed(handle: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self::serve(TcpListener::bind("127.0.0.1:0").unwrap(), handle, true)
    }

    /// Serves at a base URL that is not in use.
    pub fn start_at(url: &str, handle: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches("/v1");
        Self::serve(TcpListener::bind(address).unwrap(), handle, false)
    }

    fn serve(listener: TcpListener, handle: impl Fn(Exchange) + Send + Sync + 'static, answers_probes: bool) -> Self {
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let handle = Arc::new(handle);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let handle = Arc::clone(&handle);
                std::thread::spawn(move || serve(&stream, handle.as_ref(), answers_probes));
            }
        });
        Self { url }
    }

    /// A base URL that nothing listens on.
    pub fn unused_url() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    }
}

fn serve(stream: &TcpStream, handle: &impl Fn(Exchange), answers_probes: bool) {
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
        // Comes at some time after the start, so tests that count requests do not see it.
        if head.contains("(probe)") && !answers_probes {
            let empty = "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\n{\"data\":[]}";
            let _ = stream.try_clone().unwrap().write_all(empty.as_bytes());
            continue;
        }
        handle(Exchange { path, headers: head.to_ascii_lowercase(), body, stream: stream.try_clone().unwrap() });
    }
}

/// A model server that answers every request with `Hello.`.
pub fn greeting_server() -> ModelServer {
    ModelServer::start(|mut exchange| match exchange.path.as_str() {
        "/v1/models" => exchange.json(200, r#"{"object":"list","data":[{"id":"m","object":"model"}]}"#),
        _ => exchange.answer("Hello."),
    })
}

/// A model server that pauses in the middle of a stream until the test sends a signal.
pub fn paused_stream(
    first: impl Fn(&mut Exchange) + Send + Sync + 'static,
    then: impl Fn(&mut Exchange) + Send + Sync + 'static,
    go: Receiver<()>,
) -> ModelServer {
    let go = Mutex::new(go);
    ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        first(&mut exchange);
        go.lock().unwrap().recv().unwrap();
        then(&mut exchange);
    })
}

/// A model server whose reply ends only when the client closes the connection.
pub fn endless_stream() -> ModelServer {
    let words = "word ".repeat(4000);
    ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        let event = format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": words}}]}));
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        while exchange.stream.write_all(chunk.as_bytes()).is_ok() {}
    })
}
