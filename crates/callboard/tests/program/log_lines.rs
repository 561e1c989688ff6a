//! The log that operators read: one line for each request, reasons of failures, servers that do not answer; as text and as JSON.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use callboard_test_support::{Connection, ModelServer, Program, Script, ask, calls, endless_stream, post, text};
use serde_json::{Value, json};

/// The first line with this text.
fn line_with(log: &Receiver<String>, text: &str) -> String {
    log.iter().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no line with {text}"))
}

/// The `key=value` pairs of a line, read as parsers of that form do: a value may be quoted, and quotes in it escaped.
fn pairs(line: &str) -> BTreeMap<String, String> {
    let (mut found, mut rest) = (BTreeMap::new(), line);
    while let Some((before, after)) = rest.split_once('=') {
        let key = before.rsplit(' ').next().unwrap().to_owned();
        let (value, end) = match after.strip_prefix('"') {
            None => after.split_once(' ').map_or((after.to_owned(), ""), |(value, end)| (value.to_owned(), end)),
            Some(_) => {
                let mut values = serde_json::Deserializer::from_str(after).into_iter::<String>();
                let value = values.next().unwrap().unwrap();
                (value, &after[values.byte_offset()..])
            }
        };
        found.insert(key, value);
        rest = end;
    }
    found
}

fn start(upstream: &str, flags: &[&str]) -> (Program, Receiver<String>) {
    Program::start_with_log(&[&["--upstream", upstream, "--log", "info"], flags].concat(), &[])
}

const TOOL: &str = r#""tools":[{"type":"function","function":{"name":"note","parameters":{"type":"object",
    "properties":{"count":{"type":"integer"}},"required":["count"]}}}]"#;

fn request(stream: bool) -> String {
    format!(r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"my secret"}}],{TOOL}}}"#)
}

#[test]
fn each_request_is_one_line() {
    let bad = || calls("", &[("note", json!("{\"count\": \"1\",}"))]);
    let (_script, server) = Script::start([bad(), bad(), text("Hi."), text("Hi."), text("Hi.")]);
    let (program, log) = start(&server.url, &[]);
    for stream in [false, true] {
        let id = format!("mine-{stream}");
        let header = format!("x-request-id: {id}");
        ask(&program.address, "POST", "/v1/chat/completions", &[&header], &request(stream));
        let line = line_with(&log, &id);
        assert!(line.contains(" INFO ") && !line.contains("secret"), "{line}");
        let seen = pairs(&line);
        for (key, value) in [
            ("method", "POST"),
            ("path", "/v1/chat/completions"),
            ("model", "m"),
            ("upstream", &server.url),
            ("status", "200"),
            ("contract", "repaired=trailing_comma,number_from_text,call_id"),
            ("request_id", &id),
        ] {
            assert_eq!(seen.get(key).map(String::as_str), Some(value), "{key}: {line}");
        }
        assert!(seen["ms"].parse::<f64>().unwrap() > 0.0 && !seen.contains_key("error"), "{line}");
    }
    ask(&program.address, "POST", "/v1/responses", &["x-request-id: other"], r#"{"model":"m","input":"my secret"}"#);
    let seen = pairs(&line_with(&log, "other"));
    assert_eq!(
        (seen["path"].as_str(), seen["contract"].as_str(), seen["status"].as_str()),
        ("/v1/responses", "ok", "200")
    );
    for (method, path, body, status, error) in [
        ("POST", "/v1/chat/completions", "{", "400", Some("invalid_json")),
        ("GET", "/v1/models", "", "200", None),
        ("GET", "/v1/conversations/conv_none", "", "404", Some("conversation_not_found")),
        ("DELETE", "/v1/models", "", "405", Some("method_not_allowed")),
        ("GET", "/no%20where?my=secret", "", "404", Some("unknown_url")),
    ] {
        ask(&program.address, method, path, &[&format!("x-request-id: r{status}")], body);
        let line = line_with(&log, &format!("request_id=r{status}"));
        let seen = pairs(&line);
        assert_eq!((seen["method"].as_str(), seen["status"].as_str()), (method, status), "{line}");
        assert_eq!(
            (seen["path"].as_str(), seen.get("error").map(String::as_str)),
            (path.split('?').next().unwrap(), error)
        );
    }
    // Asked by monitoring every few seconds, so not at this level.
    ask(&program.address, "GET", "/health", &["x-request-id: probe"], "");
    program.terminate();
    assert!(!log.iter().any(|line| line.contains("probe")));
}

#[test]
fn a_client_that_leaves_is_one_line_too() {
    let (program, log) = start(&endless_stream().url, &[]);
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;
    let mut reading = Connection::send(&program.address, "POST", "/v1/chat/completions", &["x-request-id: left"], body);
    reading.read_until("word").unwrap();
    drop(reading);
    let seen = pairs(&line_with(&log, "request_id=left"));
    assert_eq!((seen["status"].as_str(), seen["error"].as_str()), ("200", "client_disconnected"));
}

/// The server's own reasons are kept; what it says about a request may quote the user.
#[test]
fn reasons_of_failures_are_kept() {
    let server = ModelServer::start(|mut exchange| match exchange.body.contains("secret") {
        true => exchange.json(400, r#"{"error":{"message":"my secret is too long"}}"#),
        false => exchange.json(500, r#"{"error":{"message":"CUDA out of memory. Tried to allocate 2 GiB"}}"#),
    });
    let (program, log) = start(&server.url, &[]);
    post(&program.address, r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#);
    let line = line_with(&log, "upstream failed");
    assert_eq!(pairs(&line)["failure"], "status 500: CUDA out of memory. Tried to allocate 2 GiB", "{line}");
    assert_eq!(pairs(&line)["upstream"], server.url);
    post(&program.address, &request(false));
    let line = line_with(&log, "upstream failed");
    assert_eq!(pairs(&line)["failure"], "status 400", "{line}");
    let passed = r#"{"model":"m","input":"Hi"}"#;
    ask(&program.address, "POST", "/v1/embeddings", &["x-request-id: passed"], passed);
    let is_request = |line: &String| line.contains(" request method=") && line.contains("request_id=passed");
    let seen = pairs(&log.iter().find(is_request).unwrap());
    assert_eq!((seen["model"].as_str(), seen["upstream"].as_str()), ("m", server.url.as_str()));
}

#[test]
fn configured_servers_are_probed_at_start() {
    let (dead, alive) = (ModelServer::unused_url(), callboard_test_support::greeting_server());
    let text = format!("[[upstream]]\nurl = \"{dead}\"\n[[upstream]]\nurl = \"{}\"\n", alive.url);
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("settings.toml");
    std::fs::write(&file, text).unwrap();
    let (_program, log) = Program::start_with_log(&["--log", "info", "--config", file.to_str().unwrap()], &[]);
    let lines: Vec<String> = log.iter().filter(|line| line.contains("model server ")).take(2).collect();
    let of = |url: &str| lines.iter().find(|line| pairs(line)["upstream"] == url).unwrap();
    assert!(of(&dead).contains("WARN") && of(&dead).contains("does not answer: cannot connect: Connection refused"));
    assert!(of(&alive.url).contains("INFO") && of(&alive.url).contains("model server answers"), "{lines:?}");
}

#[test]
fn the_log_can_be_json() {
    let (_script, server) = Script::start([text("Hi.")]);
    let (program, log) = start(&server.url, &["--log-format", "json"]);
    ask(&program.address, "POST", "/v1/chat/completions", &["x-request-id: mine"], &request(false));
    let line: Value = serde_json::from_str(&line_with(&log, "mine")).unwrap();
    let expected = json!({"level": "INFO", "message": "request", "method": "POST", "path": "/v1/chat/completions", "model": "m",
        "upstream": server.url, "status": 200, "contract": "ok", "request_id": "mine"});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&line[key], value, "{line}");
    }
    assert!(line["ms"].is_number() && line["timestamp"].is_string(), "{line}");
    program.terminate();
    for line in log.iter() {
        serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}
