//! Operation: API keys, limits, timeouts, draining, failing model servers, contract modes.
//!
//! Real processes and real sockets; channels enforce the order of events.

use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use callboard_test_support::{
    COUNTER, CharacterFolder, Connection, ModelServer, Program, ask, greeting_server, paused_stream, post,
    refused_start,
};

const WHOLE: &str = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
const STREAMED: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}"#;
const WITH_TOOL: &str = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function",
    "function":{"name":"note","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}}]}"#;

#[test]
fn keys_are_required_and_not_forwarded() {
    let (seen, requests) = channel();
    let seen = Mutex::new(seen);
    let server = ModelServer::start(move |mut exchange| {
        seen.lock().unwrap().send(exchange.headers.clone()).unwrap();
        exchange.answer("Hello.");
    });
    let keyed = Program::with_upstream(&server.url, &[("CALLBOARD_API_KEYS", "one,two")]);
    for headers in [&[][..], &["authorization: Bearer three"], &["authorization: one"]] {
        let refused = ask(&keyed.address, "POST", "/v1/chat/completions", headers, WHOLE);
        assert_eq!((refused.status, refused.error("code").as_str()), (401, "invalid_api_key"));
        assert!(refused.headers.contains("x-request-id: "));
    }
    assert_eq!(ask(&keyed.address, "GET", "/metrics", &[], "").status, 401);
    assert_eq!(ask(&keyed.address, "GET", "/health", &[], "").status, 200);
    assert_eq!(ask(&keyed.address, "POST", "/v1/chat/completions", &["authorization: Bearer two"], WHOLE).status, 200);
    assert!(!requests.recv().unwrap().contains("authorization"), "Callboard's own keys never leave");

    let open = Program::with_upstream(&server.url, &[]);
    assert_eq!(ask(&open.address, "POST", "/v1/chat/completions", &["authorization: Bearer mine"], WHOLE).status, 200);
    assert!(
        requests.recv().unwrap().contains("authorization: bearer mine"),
        "without keys the client's own is passed on"
    );

    let own = Program::start(&["--upstream", &server.url, "--upstream-key-env", "SECRET"], &[("SECRET", "theirs")]);
    assert_eq!(ask(&own.address, "POST", "/v1/chat/completions", &["authorization: Bearer mine"], WHOLE).status, 200);
    assert!(requests.recv().unwrap().contains("authorization: bearer theirs"));
}

/// What one spelling of the header has made, the others find.
#[test]
fn a_key_is_one_owner_however_its_header_is_written() {
    let program = Program::with_upstream(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one")]);
    let made = ask(&program.address, "POST", "/v1/conversations", &["authorization: Bearer one"], "{}").ok();
    let path = format!("/v1/conversations/{}", made["id"].as_str().unwrap());
    for header in ["Bearer  one", "bearer one", "BEARER one  "] {
        let found = ask(&program.address, "GET", &path, &[&format!("authorization: {header}")], "");
        assert_eq!(found.status, 200, "{header}: {found:?}");
    }
}

#[test]
fn a_hangup_reloads_the_keys() {
    let settings = |keys: &str| format!("api_keys = [{keys}]\n");
    let program = Program::with_settings(&settings("\"one\""), &["--upstream", &greeting_server().url], &[]);
    let status =
        |key: &str| ask(&program.address, "GET", "/v1/models", &[&format!("authorization: Bearer {key}")], "").status;
    let file = program.folder().join("callboard.toml");
    std::fs::write(&file, settings("\"two\"")).unwrap();
    assert_eq!((status("one"), status("two")), (200, 401));
    program.hang_up();
    while status("two") != 200 {
        std::thread::yield_now();
    }
    assert_eq!(status("one"), 401);
    // No keys at all, and no settings at all: the last ones stay.
    for damaged in [settings(""), "api_keys = ".to_owned()] {
        std::fs::write(&file, damaged).unwrap();
        program.hang_up();
        assert_eq!((status("one"), status("two")), (401, 200));
    }
    std::fs::write(&file, settings("\"three\"")).unwrap();
    program.hang_up();
    while status("three") != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn without_keys_only_loopback_is_served() {
    let complaint = refused_start(&["--listen", "0.0.0.0:0"], &[]);
    assert!(complaint.contains("CALLBOARD_API_KEYS") && complaint.contains("127.0.0.1"), "{complaint}");
    let complaint = refused_start(&["--upstream", "ftp://x"], &[]);
    assert!(complaint.contains("http://"), "{complaint}");
}

/// Runs a command; whether it succeeded, and its stderr.
fn run_command(arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callboard"));
    let output = command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn missing_folders_and_stores_are_refused() {
    let rows = [
        (
            &["chat", "bard", "--characters", "caracters"][..],
            "caracters (command line --characters) does not exist: make it, or",
        ),
        (
            &["serve", "--listen", "127.0.0.1:0", "--characters", env!("CARGO_BIN_EXE_callboard")],
            "(command line --characters) is not a folder",
        ),
        (&["check", "caracters"], "the folder caracters does not exist"),
        (&["test", "--characters", env!("CARGO_BIN_EXE_callboard")], "(command line --characters) is not a folder"),
        (
            &["stats", "--store", "sqlite::memory:"],
            "the store sqlite::memory: exists only in the memory of the serving process",
        ),
    ];
    for (arguments, complaint) in rows {
        let (succeeded, stderr) = run_command(arguments);
        assert!(!succeeded && stderr.contains(complaint), "{arguments:?}: {stderr}");
        assert_eq!(stderr.trim().lines().count(), 1, "{stderr}");
    }
}

#[test]
fn request_ids_are_returned() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let named = ask(&program.address, "POST", "/v1/chat/completions", &["x-request-id: my-name.1"], WHOLE);
    assert!(named.headers.contains("x-request-id: my-name.1"));
    assert!(named.headers.contains("callboard-contract: ok") && named.headers.contains("callboard-usage: estimated"));
    assert!(post(&program.address, "{").headers.contains("x-request-id: req_"));
}

#[test]
fn unknown_paths_methods_and_models_are_refused() {
    let program = Program::with_upstream(&greeting_server().url, &[]);
    let path = ask(&program.address, "GET", "/v2/chat", &[], "");
    assert_eq!((path.status, path.error("code").as_str()), (404, "unknown_url"));
    let method = ask(&program.address, "GET", "/v1/chat/completions", &[], "");
    assert_eq!((method.status, method.error("code").as_str()), (405, "method_not_allowed"));
    assert_eq!(ask(&program.address, "GET", "/v1/models/m", &[], "").status, 200);
    let model = ask(&program.address, "GET", "/v1/models/org/other", &[], "");
    assert_eq!((model.status, model.error("code").as_str()), (404, "model_not_found"));
    assert_eq!(model.error("message"), "the model \"org/other\" does not exist; there are: m");
    let listed = ask(&program.address, "GET", "/v1/models", &[], "").body;
    assert!(!listed.contains("rehearsal"), "it is listed only while it plays: {listed}");
}

#[test]
fn without_a_model_server_the_rehearsal_model_answers() {
    let program = Program::start(&[], &[]);
    let unknown = post(&program.address, WHOLE);
    assert_eq!((unknown.status, unknown.error("code").as_str()), (404, "model_not_found"), "{unknown:?}");
    let answer = post(&program.address, &WHOLE.replace("\"m\"", "\"rehearsal\""));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("--upstream"), "it says what it is and how to connect a real model: {answer:?}");
    assert_eq!(ask(&program.address, "GET", "/ready", &[], "").status, 200);
    assert!(ask(&program.address, "GET", "/v1/models", &[], "").body.contains("\"rehearsal\""));
}

/// The names of characters are near names, too, on every wire, and with or without a model server.
#[test]
fn an_unknown_model_is_answered_with_near_names() {
    let folder = CharacterFolder::with("narrator", COUNTER);
    let alone = Program::start(&["--characters", folder.path()], &[]);
    let listing = ModelServer::start(|mut exchange| match exchange.path.as_str() {
        "/v1/models" => exchange.json(200, r#"{"data":[{"id":"qwen3:8b"}]}"#),
        _ => exchange.answer("Hello."),
    });
    let other = ModelServer::unused_url();
    let text =
        format!("[[upstream]]\nurl = \"{}\"\n[[upstream]]\nurl = \"{other}\"\nmodels = [\"gpt*\"]\n", listing.url);
    let served = Program::with_settings(&text, &["--characters", folder.path()], &[]);
    for (program, model, near, all) in [
        (&alone, "narator", "narrator", "narrator, rehearsal"),
        (&alone, "rehersal", "rehearsal", "narrator, rehearsal"),
        (&served, "narator", "narrator", "narrator, qwen3:8b, gpt*"),
        (&served, "qwen3", "qwen3:8b", "narrator, qwen3:8b, gpt*"),
    ] {
        let expected = format!("the model {model:?} does not exist; did you mean {near:?}? There are: {all}");
        let chat = post(&program.address, &WHOLE.replace("\"m\"", &format!("{model:?}")));
        let body = format!("{{\"model\":{model:?},\"input\":\"Hi\"}}");
        let at = |path: &str| ask(&program.address, "POST", path, &[], &body);
        let [response, compaction] = ["/v1/responses", "/v1/responses/compact"].map(at);
        for answer in [chat, response, compaction] {
            assert_eq!((answer.status, answer.error("code").as_str()), (404, "model_not_found"), "{answer:?}");
            assert_eq!((answer.error("message"), answer.error("param")), (expected.clone(), "model".to_owned()));
        }
    }
}

#[test]
fn models_are_routed_to_the_server_that_lists_them() {
    let server = |model: &'static str| {
        ModelServer::start(move |mut exchange| match exchange.path.as_str() {
            "/v1/models" => exchange.json(200, &format!(r#"{{"data":[{{"id":"{model}","object":"model"}}]}}"#)),
            _ => exchange.answer(model),
        })
    };
    let (first, second) = (server("first"), server("second"));
    let program = Program::start(&["--upstream", &first.url, "--upstream", &second.url], &[]);
    let list = ask(&program.address, "GET", "/v1/models", &[], "");
    assert!(list.body.contains("\"first\"") && list.body.contains("\"second\""));
    assert!(post(&program.address, &WHOLE.replace("\"m\"", "\"second\"")).body.contains("\"content\":\"second\""));
    let unknown = post(&program.address, WHOLE);
    assert_eq!((unknown.status, unknown.error("param").as_str()), (404, "model"));
    assert!(unknown.error("message").contains("first, second"));
}

#[test]
fn requests_over_the_limit_are_refused_with_retry_after() {
    let (go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |exchange| exchange.finish("stop"), gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_LIMITS_IN_FLIGHT", "1")]);
    let mut first = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], STREAMED);
    first.read_until("One").unwrap();
    let second = post(&program.address, STREAMED);
    assert_eq!((second.status, second.error("code").as_str()), (503, "overloaded"));
    assert!(second.headers.contains("retry-after: 1"));
    go.send(()).unwrap();
    assert!(first.read_until("[DONE]").is_some());
}

#[test]
fn a_dead_model_server_is_a_503() {
    let dead = ModelServer::unused_url();
    let program = Program::with_upstream(&dead, &[]);
    for body in [WHOLE, STREAMED] {
        let answer = post(&program.address, body);
        assert_eq!((answer.status, answer.error("code").as_str()), (503, "upstream_unavailable"));
        assert!(answer.headers.contains("retry-after: ") && answer.error("message").contains(&dead), "{answer:?}");
    }
    let ready = ask(&program.address, "GET", "/ready", &[], "");
    assert_eq!((ready.status, ready.error("message")), (503, format!("no model server answers: {dead}")));
}

#[test]
fn a_silent_model_server_is_a_504() {
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let server = ModelServer::start(move |_exchange| gate.lock().unwrap().recv().unwrap_or_default());
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_FIRST_BYTE_SECONDS", "0.1")]);
    let answer = post(&program.address, WHOLE);
    assert_eq!((answer.status, answer.error("code").as_str()), (504, "upstream_timeout"));
    assert!(answer.headers.contains("retry-after: "));
    drop(go);
}

#[test]
fn a_stalled_stream_ends_with_an_error() {
    let (go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |_| {}, gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_IDLE_SECONDS", "2")]);
    let answer = post(&program.address, STREAMED);
    assert!(answer.body.contains("One") && answer.body.contains("upstream_timeout"), "{}", answer.body);
    assert!(!answer.body.contains("[DONE]"));
    go.send(()).unwrap();
}

#[test]
fn a_waiting_client_gets_keep_alives() {
    let (go, gate) = channel();
    let head = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"note","arguments":"{\"text\":"}}]}}]}"#;
    let tail = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"long\"}"}}]}}]}"#;
    let server = paused_stream(
        move |exchange| exchange.event(head),
        move |exchange| {
            exchange.event(tail);
            exchange.finish("tool_calls");
        },
        gate,
    );
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_KEEP_ALIVE_SECONDS", "0.05")]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], WITH_TOOL);
    assert!(client.read_until(": keep-alive").is_some());
    go.send(()).unwrap();
    assert!(client.read_until(r#"{\"text\":\"long\"}"#).is_some());
    assert!(client.read_until("[DONE]").is_some());
}

#[test]
fn arguments_are_streamed_in_fragments_when_enabled() {
    let (go, gate) = channel();
    let call = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"note","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let more = |arguments: &str| {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let (begun, good, bad) = (call(r#"{\"text\":"#), more(r#"\"long\"}"#), more("7}"));
    let broken = std::sync::atomic::AtomicBool::new(false);
    let server = paused_stream(
        move |exchange| exchange.event(&begun),
        move |exchange| {
            exchange.event(if broken.swap(true, std::sync::atomic::Ordering::Relaxed) { &bad } else { &good });
            exchange.finish("tool_calls");
        },
        gate,
    );
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_CONTRACT_STREAM_ARGUMENTS", "true")]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], WITH_TOOL);
    assert!(client.read_until(r#"{\"text\":"#).is_some(), "the first piece comes before the last is written");
    go.send(()).unwrap();
    assert!(client.read_until("\"finish_reason\":\"tool_calls\"").is_some());
    go.send(()).unwrap();
    let answer = post(&program.address, WITH_TOOL);
    assert!(answer.body.contains("invalid_tool_arguments") && !answer.body.contains("[DONE]"), "{}", answer.body);
}

#[test]
fn a_disconnect_cancels_the_model_request() {
    let (left, leaving) = channel();
    let left = Mutex::new(left);
    let server = ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        exchange.text("One");
        left.lock().unwrap().send(exchange.is_closed_by_client()).unwrap();
    });
    let program = Program::with_upstream(&server.url, &[]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], STREAMED);
    client.read_until("One").unwrap();
    drop(client);
    assert!(leaving.recv().unwrap(), "the connection to the model server is closed");
}

#[test]
fn draining_finishes_requests_in_flight() {
    let (go, gate) = channel();
    let server = paused_stream(
        |exchange| exchange.text("One"),
        |exchange| {
            exchange.text("Two");
            exchange.finish("stop");
        },
        gate,
    );
    let program = Program::with_upstream(&server.url, &[]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], STREAMED);
    client.read_until("One").unwrap();
    program.terminate();
    program.wait_until_closed();
    go.send(()).unwrap();
    assert!(client.read_until("Two").is_some() && client.read_until("[DONE]").is_some());
    assert_eq!(program.exit_code(), Some(0));
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let (_go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |exchange| exchange.finish("stop"), gate);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_TIMEOUTS_DRAIN_SECONDS", "600")]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], STREAMED);
    client.read_until("One").unwrap();
    program.terminate();
    program.wait_until_closed();
    assert_eq!(program.terminate_until_it_ends(), Some(143));
}

/// A supervisor that signals a process and its group sends the signal twice.
#[test]
fn a_duplicate_signal_counts_once() {
    let (go, gate) = channel();
    let server = paused_stream(|exchange| exchange.text("One"), |exchange| exchange.finish("stop"), gate);
    let program = Program::with_upstream(&server.url, &[]);
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], STREAMED);
    client.read_until("One").unwrap();
    program.terminate();
    program.terminate();
    program.wait_until_closed();
    go.send(()).unwrap();
    assert!(client.read_until("[DONE]").is_some());
    assert_eq!(program.exit_code(), Some(0));
}

#[test]
fn observe_mode_passes_replies_through_and_counts_violations() {
    let odd =
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"x","function":{"name":"note","arguments":"{'text': 'a'}"}}]}}]}"#;
    let server = ModelServer::start(move |mut exchange| {
        exchange.begin_stream();
        exchange.event(odd);
        exchange.finish("stop");
    });
    for (mode, counted) in [("observe", true), ("off", false)] {
        let program = Program::with_upstream(&server.url, &[("CALLBOARD_CONTRACT_MODE", mode)]);
        let answer = post(&program.address, WITH_TOOL);
        assert!(answer.body.contains(odd), "{mode}: {}", answer.body);
        assert!(answer.headers.contains(&format!("callboard-contract: {mode}")));
        let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
        assert_eq!(metrics.contains(r#"violation="single_quotes",outcome="observed""#), counted, "{mode}: {metrics}");
    }
}
