//! Requests that are passed through to model servers: unchanged, to the server that has the model, and nothing but what is listed.

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use callboard_test_support::{
    Answer, COUNTER, CharacterFolder, Connection, ModelServer, Program, ask, binary, refused_start,
};
use serde_json::{Value, json};

use super::traces::{attributes, collector, list};

const JSON: &str = "content-type: application/json";

fn send(program: &Program, path: &str, body: &str) -> Answer {
    ask(&program.address, "POST", path, &[JSON], body)
}

/// A server that lists one model and answers with its name, the path and the body of the request.
fn echo(model: &'static str) -> ModelServer {
    ModelServer::start(move |mut exchange| match exchange.path.as_str() {
        "/v1/models" => exchange.json(200, &format!(r#"{{"data":[{{"id":"{model}","object":"model"}}]}}"#)),
        _ => {
            let reply = format!("{model} {} {}", exchange.path, exchange.body);
            exchange.json(200, &reply);
        }
    })
}

#[test]
fn requests_and_replies_are_not_changed() {
    let (seen, requests) = channel();
    let seen = Mutex::new(seen);
    let server = ModelServer::start(move |mut exchange| {
        let text = format!("{}\n{}", exchange.headers, exchange.body);
        seen.lock().unwrap().send((exchange.path.clone(), text)).unwrap();
        exchange
            .write("HTTP/1.1 201 Created\r\ncontent-type: audio/x\r\nx-own: 1\r\naccess-control-allow-origin: *\r\n");
        exchange.write("set-cookie: a=b\r\ncontent-length: 9\r\n\r\n{ 1e400 }");
    });
    let program = Program::with_upstream(&server.url, &[]);
    let body = "{ \"model\" :\"m\",\n\"input\":[\"\\u00fc\", 1e400 ] }";
    for (path, arrives_at) in [
        ("/v1/embeddings", "/v1/embeddings"),
        ("/v1/completions?a=b", "/v1/completions?a=b"),
        ("/v1/audio/speech", "/v1/audio/speech"),
        ("/v1/images/generations", "/v1/images/generations"),
        ("/v1/moderations", "/v1/moderations"),
        ("/v1/rerank", "/v1/rerank"),
        ("/tokenize", "/tokenize"),
    ] {
        let headers = [JSON, "accept: audio/x", "authorization: Bearer mine", "x-private: 1"];
        let answer = ask(&program.address, "POST", path, &headers, body);
        assert_eq!((answer.status, answer.body.as_str()), (201, "{ 1e400 }"), "{answer:?}");
        assert_eq!((answer.header("content-type"), answer.header("x-own")), (Some("audio/x"), Some("1")));
        assert!(answer.header("x-request-id").is_some() && answer.header("content-length") == Some("9"));
        assert_eq!((answer.header("set-cookie"), answer.header("access-control-allow-origin")), (None, None));
        let (path, text) = requests.recv().unwrap();
        assert_eq!(path, arrives_at);
        assert!(text.ends_with(&format!("\n{body}")) && text.contains("accept: audio/x"), "{text}");
        assert!(text.contains("authorization: bearer mine") && !text.contains("x-private"), "{text}");
    }
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    assert!(metrics.contains("callboard_requests_total{endpoint=\"passthrough\",status=\"201\"} 7"), "{metrics}");
    let counted = format!("callboard_upstream_requests_total{{upstream=\"{}\",outcome=\"ok\"}} 7", server.url);
    assert!(metrics.contains(&counted), "{metrics}");
}

#[test]
fn errors_of_the_server_are_passed_on() {
    let server = ModelServer::start(|mut exchange| {
        let status = exchange.request()["input"].as_u64().unwrap();
        exchange.write(&format!("HTTP/1.1 {status} -\r\nretry-after: 7\r\ncontent-length: 12\r\n\r\n{{\"detail\":1}}"));
    });
    let program = Program::with_upstream(&server.url, &[]);
    for status in [400_u16, 404, 422, 429, 500, 503] {
        let answer = send(&program, "/v1/embeddings", &format!("{{\"model\":\"m\",\"input\":{status}}}"));
        assert_eq!((answer.status, answer.body.as_str()), (status, "{\"detail\":1}"), "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("7"));
    }
    let dead = ModelServer::unused_url();
    let program = Program::with_upstream(&dead, &[]);
    let answer = send(&program, "/v1/embeddings", "{\"model\":\"m\"}");
    assert_eq!((answer.status, answer.error("code").as_str()), (503, "upstream_unavailable"), "{answer:?}");
    let expected = format!("the model server at {dead} cannot be reached: Connection refused; is it running?");
    assert_eq!(answer.error("message"), expected);
}

/// Of the newest trace: how the request and its requests to model servers ended.
fn traced(program: &Program, query: &str) -> Value {
    let trace = list(program, query)["data"][0].clone();
    assert_eq!((&trace["endpoint"], &trace["method"]), (&json!("passthrough"), &json!("POST")), "{trace}");
    let asked: Vec<Value> = trace["upstream_requests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| json!([asked["url"], asked["outcome"], asked["status"]]))
        .collect();
    json!([trace["path"], trace["model"], trace["outcome"], trace["error"], asked])
}

#[test]
fn every_request_has_a_trace() {
    let dead = ModelServer::unused_url();
    let server = ModelServer::start(|mut exchange| match exchange.body.contains("bad") {
        true => exchange.json(422, "{\"detail\":\"the secret word\"}"),
        false => exchange.json(200, "[1, 2]"),
    });
    let text = format!(
        "[[upstream]]\nurl = \"{dead}\"\nmodels = [\"m\"]\n[[upstream]]\nurl = \"{}\"\nmodels = [\"m\"]\n",
        server.url
    );
    let store = tempfile::TempDir::new().unwrap();
    let store = format!("sqlite:{}", store.path().join("store.db").display());
    let program = Program::with_settings(&text, &["--store", &store], &[("CALLBOARD_TRACE_CONTENT", "true")]);
    let said = "{\"model\":\"m\",\"input\":\"the secret word\"}";
    let answer = send(&program, "/v1/embeddings?user=secret", said);
    assert_eq!((answer.status, answer.body.as_str()), (200, "[1, 2]"));
    let by_id = format!("?request_id={}", answer.header("x-request-id").unwrap());
    let ok = json!([server.url, "ok", 200]);
    let fallen_back = json!([[dead, "unreachable", null], ok]);
    let expected = json!(["/v1/embeddings", "m", "complete", null]);
    let seen = traced(&program, &by_id);
    assert_eq!(seen.as_array().unwrap()[..4], expected.as_array().unwrap()[..], "{seen}");
    assert!(seen[4] == fallen_back || seen[4] == json!([ok]), "{seen}");
    let trace = list(&program, &by_id)["data"][0].clone();
    assert_eq!((&trace["input"]["bytes"], &trace["output"]["bytes"]), (&json!(said.len()), &json!(6)));
    assert!(trace["duration_ms"].is_number() && !trace.to_string().contains("secret"), "{trace}");

    let refused = send(&program, "/v1/rerank", "{\"model\":\"m\",\"query\":\"bad\"}");
    assert_eq!(refused.status, 422);
    let by_id = format!("?request_id={}", refused.header("x-request-id").unwrap());
    let seen = traced(&program, &by_id);
    assert_eq!(
        (&seen[0], &seen[2], &seen[3]["status"]),
        (&json!("/v1/rerank"), &json!("failed"), &json!(422)),
        "{seen}"
    );
    assert_eq!(seen[4].as_array().unwrap().last().unwrap(), &json!([server.url, "refused", 422]));
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    for (outcome, count) in [("complete", 1), ("failed", 1)] {
        let line = format!("callboard_turns_total{{character=\"\",model=\"m\",outcome=\"{outcome}\"}} {count}");
        assert!(metrics.contains(&line), "{metrics}");
    }
    let output = std::process::Command::new(binary())
        .args(["traces", "--store", &store, "--listen", &program.address])
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("  POST /v1/embeddings  m: complete after "), "{shown}");
    assert!(shown.contains("  POST /v1/rerank  m: failed with 422 "), "{shown}");
}

#[test]
fn a_reply_that_ends_early_is_traced_as_it_ended() {
    let (gone, left) = channel();
    let gone = Mutex::new(gone);
    let server = ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        exchange.event("first");
        if exchange.body.contains("stay") {
            // A write to a client that is gone shows that it is.
            while exchange.stream.write_all(b"3\r\n:\n\n\r\n").is_ok() {}
            gone.lock().unwrap().send(()).unwrap();
        }
        exchange.close();
    });
    let program = Program::with_upstream(&server.url, &[]);
    let stream = |prompt: &str| {
        let body = format!("{{\"model\":\"m\",\"stream\":true,\"prompt\":\"{prompt}\"}}");
        let mut reading = Connection::send(&program.address, "POST", "/v1/completions", &[JSON], &body);
        reading.read_until("first").unwrap();
        reading
    };
    drop(stream("stay"));
    left.recv().unwrap();
    // The program notices a moment after the server.
    while list(&program, "")["data"] == json!([]) {}
    assert_eq!(traced(&program, "")[2], "interrupted");
    drop(stream("break").rest());
    while list(&program, "")["data"].as_array().unwrap().len() < 2 {}
    let seen = traced(&program, "");
    assert_eq!((&seen[2], &seen[3]["code"]), (&json!("failed"), &json!("upstream_error")), "{seen}");
}

#[test]
fn a_server_gets_the_span_and_the_collector_the_request() {
    let (seen, heads) = channel();
    let seen = Mutex::new(seen);
    let server = ModelServer::start(move |mut exchange| {
        seen.lock().unwrap().send(exchange.headers.clone()).unwrap();
        exchange.json(200, "{}");
    });
    let (collector, got) = collector(&[]);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_OTLP_ENDPOINT", collector.url.as_str())]);
    let (trace_id, caller) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
    let header = format!("traceparent: 00-{trace_id}-{caller}-01");
    for (path, names) in [
        ("/v1/embeddings", ["POST /v1/embeddings", "embeddings m"]),
        ("/v1/completions", ["POST /v1/completions", "text_completion m"]),
        ("/v1/rerank", ["POST /v1/rerank", "POST /v1/rerank"]),
    ] {
        assert_eq!(ask(&program.address, "POST", path, &[JSON, &header], "{\"model\":\"m\"}").status, 200);
        let spans = got.recv().unwrap().2["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        assert_eq!([0, 1].map(|span| spans[span]["name"].as_str().unwrap()), names);
        assert_eq!((&spans[0]["traceId"], &spans[0]["parentSpanId"]), (&json!(trace_id), &json!(caller)));
        assert_eq!(attributes(&spans[0])["url.path"]["stringValue"], path);
        let sent = format!("traceparent: 00-{trace_id}-{}-01", spans[1]["spanId"].as_str().unwrap());
        let head = heads.recv().unwrap();
        assert_eq!(head.matches("traceparent:").count(), 1, "{head}");
        assert!(head.contains(&sent), "{head}");
    }
}

#[test]
fn replies_are_streamed_until_either_side_ends() {
    let (ended, gone) = channel();
    let ended = Mutex::new(ended);
    let server = ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        exchange.event("first");
        // A write to a client that is gone shows that it is.
        while exchange.body.contains("busy") && exchange.stream.write_all(b"3\r\n:\n\n\r\n").is_ok() {}
        ended.lock().unwrap().send(exchange.is_closed_by_client()).unwrap();
    });
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_IDLE_SECONDS", "86400")]);
    let body = "{\"model\":\"m\",\"stream\":true}";
    let busy = "{\"model\":\"m\",\"stream\":true,\"prompt\":\"busy\"}";
    let mut reading = Connection::send(&program.address, "POST", "/v1/completions", &[JSON], busy);
    assert_eq!(reading.read_until("first").unwrap().trim(), "data: first");
    drop(reading);
    assert!(gone.recv().unwrap(), "the server learns that the client is gone");

    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_IDLE_SECONDS", "2")]);
    let mut reading = Connection::send(&program.address, "POST", "/v1/completions", &[JSON], body);
    assert!(reading.read_until("first").is_some());
    assert!(reading.read_until("\r\n0\r\n").is_none(), "a reply that stalls does not look whole");
    assert!(gone.recv().unwrap());
}

#[test]
fn the_server_that_has_the_model_is_asked() {
    let (first, second, dead) = (echo("first"), echo("second"), ModelServer::unused_url());
    let text = format!(
        "[[upstream]]\nurl = \"{}\"\naliases = [\"small=first\"]\n[[upstream]]\nurl = \"{dead}\"\nmodels = [\"second\"]\n\
         [[upstream]]\nurl = \"{}\"\n",
        first.url, second.url
    );
    let program = Program::with_settings(&text, &[], &[]);
    let form = "content-type: multipart/form-data; boundary=x";
    let upload = |model: &str| {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\nRIFF\r\n--x\r\n\
             Content-Disposition: form-data; name=\"model\"\r\n\r\n{model}\r\n--x--\r\n"
        )
    };
    for (model, server, name) in
        [("first", "first", "first"), ("second", "second", "second"), ("small", "first", "first")]
    {
        let answer = send(&program, "/v1/embeddings", &format!("{{\"input\": 1.0, \"model\": \"{model}\"}}"));
        assert_eq!(answer.body, format!("{server} /v1/embeddings {{\"input\": 1.0, \"model\": \"{name}\"}}"));
        let answer = ask(&program.address, "POST", "/v1/audio/transcriptions", &[form], &upload(model));
        assert_eq!(answer.body, format!("{server} /v1/audio/transcriptions {}", upload(name)));
    }
    let unknown = send(&program, "/v1/embeddings", "{\"model\":\"secind\"}");
    assert_eq!((unknown.status, unknown.error("code").as_str()), (404, "model_not_found"), "{unknown:?}");
    assert!(unknown.error("message").contains("did you mean \"second\"?"), "{unknown:?}");
    let unnamed = send(&program, "/tokenize", "{\"prompt\":\"x\"}");
    assert_eq!((unnamed.status, unnamed.error("param").as_str()), (400, "model"), "{unnamed:?}");
    let alone = Program::with_upstream(&first.url, &[]);
    assert_eq!(send(&alone, "/tokenize", "{\"prompt\":\"x\"}").body, "first /tokenize {\"prompt\":\"x\"}");
}

/// Each server gets the name that it knows the model by, also where the one before it knows another.
#[test]
fn the_next_server_gets_its_own_name_of_the_model() {
    let busy = ModelServer::start(|mut exchange| match exchange.path.as_str() {
        "/v1/models" => exchange.json(200, r#"{"data":[]}"#),
        _ => exchange.json(503, "{}"),
    });
    let second = echo("embed");
    let text = format!(
        "[[upstream]]\nurl = \"{}\"\naliases = [\"embed=local-embed\"]\n[[upstream]]\nurl = \"{}\"\n",
        busy.url, second.url
    );
    let program = Program::with_settings(&text, &[], &[]);
    let answer = send(&program, "/v1/embeddings", r#"{"model":"embed"}"#);
    assert_eq!(answer.body, r#"embed /v1/embeddings {"model":"embed"}"#, "{answer:?}");
}

#[test]
fn characters_and_the_built_in_model_take_chat_only() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let program = folder.serve(&echo("m"));
    for (model, what) in [("counter", "a character"), ("rehearsal", "the built-in model")] {
        let refused = send(&program, "/v1/embeddings", &format!("{{\"model\":\"{model}\"}}"));
        assert_eq!((refused.status, refused.error("code").as_str()), (400, "model_not_supported"), "{refused:?}");
        assert!(
            refused.error("message").starts_with(&format!("\"{model}\" is {what}, which takes /v1/chat")),
            "{refused:?}"
        );
    }
}

#[test]
fn nothing_else_reaches_a_server() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let server = ModelServer::start(move |mut exchange| {
        counted.fetch_add(1, Ordering::SeqCst);
        exchange.json(200, "{}");
    });
    let environment =
        [("CALLBOARD_PASSTHROUGH_PATHS", "/v1/score,/detokenize"), ("CALLBOARD_LIMITS_BODY_BYTES", "100")];
    let program = Program::with_upstream(&server.url, &environment);
    for path in [
        "/sleep",
        "/v1/load_lora_adapter",
        "/v1/scores",
        "/v1/embeddings/",
        "/v1/audio/../load_lora_adapter",
        "/v1/audio/%2e%2e/load_lora_adapter",
        "/v1/audio/..%2fload_lora_adapter",
        "/v1/audio//load_lora_adapter",
        "/api/pull",
        "/v1/models",
    ] {
        let answer = send(&program, path, "{\"model\":\"m\"}");
        assert!(matches!(answer.status, 404 | 405), "{path}: {answer:?}");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let answer = ask(&program.address, method, "/v1/audio/speech", &[], "");
        assert_eq!((answer.status, answer.error("code").as_str()), (405, "method_not_allowed"), "{method}");
    }
    for (body, status, code) in [
        ("", 400, "invalid_json"),
        ("{\"model\":1}", 400, "invalid_type"),
        (&format!("{{\"model\":\"{}\"}}", "x".repeat(100)), 413, "request_too_large"),
    ] {
        let answer = send(&program, "/v1/embeddings", body);
        assert_eq!((answer.status, answer.error("code").as_str()), (status, code), "{answer:?}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
    for path in ["/v1/score", "/detokenize"] {
        assert_eq!(send(&program, path, "{\"model\":\"m\"}").status, 200);
    }
    for path in ["/sleep", "/v1/*", "score", "/v1/../sleep", "/v1/unload_lora_adapter"] {
        let complaint = refused_start(&[], &[("CALLBOARD_PASSTHROUGH_PATHS", path)]);
        assert!(
            complaint.contains("CALLBOARD_PASSTHROUGH_PATHS") && complaint.contains("none that administers"),
            "{complaint}"
        );
    }
}
