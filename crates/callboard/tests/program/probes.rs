//! Probes of what model servers ignore: which servers get them, when, and what follows from what they find.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use callboard_test_support::{Exchange, ModelServer, Program, ask, binary, post, reply, text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a server does with the fields that a probe tests.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Honors,
    Ignores,
    Refuses,
    /// Ignores tools, forces a named choice, and takes schemas in their older form only.
    LlamaCppPython,
}

/// A scripted model server of known software. It counts the requests of probes and keeps those of clients.
#[derive(Default)]
struct Fake {
    probed: AtomicUsize,
    asked: Mutex<Vec<Value>>,
    /// Changes with an update.
    version: AtomicUsize,
    /// Whether its list says whose models it has.
    is_known: bool,
}

impl Fake {
    fn start(kind: Kind, fake: Self) -> (Arc<Self>, ModelServer) {
        Self::start_with(fake, move |exchange, request| answer(exchange, kind, request))
    }

    /// A server whose probes are answered by a function.
    fn start_with(
        fake: Self,
        probe: impl Fn(&mut Exchange, &Value) + Send + Sync + 'static,
    ) -> (Arc<Self>, ModelServer) {
        let fake = Arc::new(fake);
        let served = Arc::clone(&fake);
        let server = ModelServer::start_probed(move |mut exchange| match exchange.path.as_str() {
            "/v1/models" if served.is_known => {
                exchange.json(200, r#"{"data":[{"id":"m","owned_by":"me","permissions":[]}]}"#);
            }
            "/v1/models" => exchange.json(200, r#"{"data":[{"id":"m","owned_by":"someone"}]}"#),
            "/openapi.json" => {
                let version = format!("0.3.{}", served.version.load(Ordering::SeqCst));
                let info = json!({"title": "llama.cpp Python API", "version": version});
                exchange.json(200, &json!({"openapi": "3.1.0", "info": info}).to_string());
            }
            _ if exchange.headers.contains("(probe)") => {
                served.probed.fetch_add(1, Ordering::SeqCst);
                let request = exchange.request();
                probe(&mut exchange, &request);
            }
            _ => {
                let request = exchange.request();
                let message = spoken(&request);
                served.asked.lock().unwrap().push(request);
                reply(&mut exchange, &message);
            }
        });
        (fake, server)
    }

    fn known() -> Self {
        Self { is_known: true, ..Self::default() }
    }

    fn probed(&self) -> usize {
        self.probed.load(Ordering::SeqCst)
    }
}

fn answer(exchange: &mut Exchange, kind: Kind, request: &Value) {
    let format = &request["response_format"];
    let (named, required) = (request["tool_choice"].is_object(), request["tool_choice"] == "required");
    let is_tested = request["tools"].is_array() || format.is_object();
    let is_refused = match kind {
        Kind::Refuses => is_tested,
        Kind::LlamaCppPython => format["type"] == "json_schema",
        _ => false,
    };
    if is_refused {
        return exchange.json(400, r#"{"error":{"message":"1 validation error: Extra inputs are not permitted"}}"#);
    }
    let word = |schema: &Value| json!({"word": schema["properties"]["word"]["enum"][0]});
    let function = &request["tools"][0]["function"];
    let honors = kind == Kind::Honors;
    let message = if named && (honors || kind == Kind::LlamaCppPython) {
        call("set_word", &word(&function["parameters"]))
    } else if required && honors {
        call(function["name"].as_str().unwrap(), &json!({"valve": 1}))
    } else if format["type"] == "json_schema" && honors {
        text(&word(&format["json_schema"]["schema"]).to_string())
    } else if format["schema"].is_object() && kind == Kind::LlamaCppPython {
        text(&word(&format["schema"]).to_string())
    } else {
        text("I like apples, too.")
    };
    let seen = if honors { request["tools"].to_string().len() / 4 } else { 0 };
    let usage = json!({"prompt_tokens": 20 + seen, "completion_tokens": 1, "total_tokens": 21 + seen});
    // Forced calls are cut by the limit on some servers, although they are whole.
    let finish = if named { "length" } else { "stop" };
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    exchange.json(200, &json!({"choices": [choice], "usage": usage}).to_string());
}

/// What the model says to a client: a call that a named choice forces, else that it is sunny.
fn spoken(request: &Value) -> Value {
    let Some(name) = request["tool_choice"]["function"]["name"].as_str() else { return text("Sunny.") };
    let tool = request["tools"].as_array().unwrap().iter().find(|tool| tool["function"]["name"] == name).unwrap();
    call(name, &any_of(&tool["function"]["parameters"]))
}

/// A value that a small schema allows.
fn any_of(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|allowed| allowed.first()) {
        return first.clone();
    }
    let properties = schema["properties"].as_object();
    properties
        .map_or_else(|| json!("Paris"), |all| all.iter().map(|(name, schema)| (name.clone(), any_of(schema))).collect())
}

fn call(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]})
}

fn with_tools() -> String {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tool = json!({"type": "function", "function": {"name": "get_weather", "parameters": parameters}});
    json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}).to_string()
}

/// What is known of the first server's model `m`: how tools reach it, and the findings by name. The server is asked who it is.
fn known(program: &Program) -> (String, String) {
    let seen = ask(&program.address, "GET", "/v1/upstreams?ask=true", &[], "").ok();
    let known = &seen["data"][0]["known"][0];
    let findings = known["findings"].as_array().into_iter().flatten().map(|finding| {
        let (name, value) = (finding["name"].as_str().unwrap(), finding["value"].as_str().unwrap());
        if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }
    });
    (known["tools_mode"].as_str().unwrap_or_default().to_owned(), findings.collect::<Vec<_>>().join(" "))
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}

/// Waits until a probe is over; its outcome.
fn outcome(program: &Program) -> String {
    loop {
        let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
        let line = metrics.lines().find(|line| line.starts_with("callboard_upstream_probes_total{"));
        if let Some(outcome) = line.and_then(|line| line.split("outcome=\"").nth(1)) {
            return outcome.split('"').next().unwrap_or_default().to_owned();
        }
        std::thread::yield_now();
    }
}

#[test]
fn requests_with_tools_benefit_from_a_probe() {
    let (fake, server) = Fake::start(Kind::LlamaCppPython, Fake::known());
    let program = Program::with_upstream(&server.url, &[]);
    let plain = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    assert_eq!(post(&program.address, &plain).status, 200);
    assert_eq!(fake.probed(), 0, "a request without tools needs no probe");
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert_eq!(outcome(&program), "complete");
    let answer = post(&program.address, &with_tools()).ok();
    let called = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(called["name"], "get_weather", "by constrained decoding: {answer}");
    let probed = fake.probed();
    assert!((5..=9).contains(&probed), "{probed}");
    let (mode, findings) = known(&program);
    assert_eq!(mode, "constrained");
    let expected = "schema_in_json_object tools=ignored tool_choice:required=ignored tool_choice:named=honored \
         response_format=honored";
    assert_eq!(findings, expected);
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert_eq!(fake.probed(), probed, "once");
    let last = fake.asked.lock().unwrap().last().cloned().unwrap();
    assert!(last["messages"].to_string().contains("get_weather"), "the tools are in the prompt: {last}");
    let traces = ask(&program.address, "GET", "/v1/traces", &[], "").ok();
    assert!(!traces.to_string().contains("apples"), "{traces}");
    let command = ["upstreams", "--listen", &program.address];
    let shown = std::process::Command::new(binary()).args(command).env_clear().output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    for line in [
        "  m, llama-cpp-python 0.3.0: tools constrained, by what was found\n",
        "    tools                  ignored        20",
        "    tool_choice:named      honored        20",
        "    schema_in_json_object  worked around  20",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn servers_of_each_kind_are_recognized() {
    for (kind, mode, expected) in [
        (
            Kind::Honors,
            "native",
            "tools=honored tool_choice:required=honored tool_choice:named=honored response_format=honored",
        ),
        (
            Kind::Ignores,
            "prompt",
            "tools=ignored tool_choice:required=ignored tool_choice:named=ignored response_format=ignored",
        ),
        (
            Kind::Refuses,
            "prompt",
            "tools=refused tool_choice:required=refused tool_choice:named=refused response_format=refused",
        ),
    ] {
        let (fake, server) = Fake::start(kind, Fake::known());
        let program = Program::with_upstream(&server.url, &[]);
        assert_eq!(post(&program.address, &with_tools()).status, 200);
        assert_eq!(outcome(&program), "complete", "{expected}");
        assert_eq!(known(&program), (mode.to_owned(), expected.to_owned()));
        assert_eq!(post(&program.address, &with_tools()).status, 200);
        let last = fake.asked.lock().unwrap().last().cloned().unwrap();
        assert_eq!(last["tools"].is_array(), mode == "native", "{last}");
    }
}

/// A scripted server might give a probe the reply that was meant for a client.
#[test]
fn only_servers_that_cost_nothing_and_are_known_are_probed() {
    let start = |settings: &str, url: &str, environment: &[(&str, &str)]| {
        let file = format!("[[upstream]]\nurl = \"{url}\"\n{settings}\n");
        Program::with_settings(&file, &[], environment)
    };
    let key = [("KEY", "sk-metered")];
    for (settings, is_known, environment, is_probed) in [
        ("", true, &[][..], true),
        ("", false, &[], false),
        ("probe = \"on\"", false, &[], true),
        ("probe = \"off\"", true, &[], false),
        ("key_env = \"KEY\"", true, &key, false),
        ("key_env = \"KEY\"\nprobe = \"on\"", true, &key, true),
    ] {
        let (fake, server) = Fake::start(Kind::Honors, Fake { is_known, ..Fake::default() });
        let program = start(settings, &server.url, environment);
        for _ in 0..2 {
            assert_eq!(post(&program.address, &with_tools()).status, 200, "{settings}");
        }
        match is_probed {
            true => wait_until(|| fake.probed() > 0),
            false => assert_eq!(fake.probed(), 0, "{settings} {is_known}"),
        }
    }
}

#[test]
fn what_a_probe_found_is_known_after_a_restart_until_the_server_changes() {
    let (folder, (fake, server)) = (TempDir::new().unwrap(), Fake::start(Kind::Ignores, Fake::known()));
    let store = format!("sqlite:{}", folder.path().join("callboard.db").display());
    let stop = |program: Program| {
        program.terminate();
        assert_eq!(program.exit_code(), Some(0));
    };
    let start = || Program::with_upstream(&server.url, &[("CALLBOARD_STORE", &store)]);
    let program = start();
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert_eq!(outcome(&program), "complete");
    let (probed, found) = (fake.probed(), known(&program));
    assert_eq!(found.0, "prompt");
    stop(program);
    let program = start();
    assert_eq!(known(&program), found);
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert_eq!(fake.probed(), probed, "what is known is not probed");
    stop(program);
    fake.version.store(1, Ordering::SeqCst);
    let program = start();
    wait_until(|| known(&program).1.is_empty());
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert_eq!(outcome(&program), "complete");
    assert_eq!((fake.probed(), known(&program)), (2 * probed, found));
}

#[test]
fn a_probe_that_fails_is_no_error_of_the_request() {
    let (fake, server) =
        Fake::start_with(Fake::known(), |exchange, _| exchange.json(500, r#"{"error":"out of memory"}"#));
    let program = Program::with_upstream(&server.url, &[]);
    for _ in 0..2 {
        assert!(post(&program.address, &with_tools()).body.contains("Sunny."));
    }
    assert_eq!((outcome(&program).as_str(), fake.probed()), ("failed", 1));
    let first = fake.asked.lock().unwrap()[0].clone();
    assert!(first["tools"].is_array(), "{first}");
    let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").ok();
    assert_eq!((&seen["data"][0]["set_aside"], &seen["data"][0]["in_flight"]), (&json!(false), &json!(0)));
}

/// A server that answers probes only once the test allows it.
fn paused() -> (Arc<Fake>, ModelServer, Sender<()>) {
    let (go, paused): (Sender<()>, Receiver<()>) = channel();
    let paused = Mutex::new(paused);
    let (fake, server) = Fake::start_with(Fake::known(), move |exchange, request| {
        paused.lock().unwrap().recv().unwrap();
        answer(exchange, Kind::Ignores, request);
    });
    (fake, server, go)
}

#[test]
fn requests_at_the_same_time_share_one_probe() {
    let (fake, server, go) = paused();
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_THREADS", "2")]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(post(&program.address, &with_tools()).status, 200));
        }
        wait_until(|| fake.probed() == 1);
        (0..20).for_each(|_| go.send(()).unwrap());
    });
    assert_eq!(outcome(&program), "complete");
    assert!(fake.probed() <= 9, "{}", fake.probed());
}

#[test]
fn a_request_does_not_wait_long_for_a_probe() {
    let (fake, server, go) = paused();
    let program = Program::with_upstream(&server.url, &[]);
    known(&program);
    assert_eq!(post(&program.address, &with_tools()).status, 200, "while the probe waits");
    wait_until(|| fake.probed() == 1);
    assert!(fake.asked.lock().unwrap()[0]["tools"].is_array(), "nothing is known yet");
    (0..20).for_each(|_| go.send(()).unwrap());
    assert_eq!(outcome(&program), "complete");
    assert_eq!(post(&program.address, &with_tools()).status, 200);
    assert!(!fake.asked.lock().unwrap()[1]["tools"].is_array(), "the second one benefits");
}

#[test]
fn probing_and_forgetting_on_request() {
    let (fake, server) = Fake::start(Kind::Ignores, Fake::default());
    let program = Program::with_upstream(&server.url, &[]);
    let command = |words: &[&str]| {
        let mut command = std::process::Command::new(binary());
        let output = command.arg("upstreams").args(words).env_clear().output().unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    };
    let running = ["--listen", program.address.as_str()];
    let (_, shown) = command(&[&["--probe"], &running[..]].concat());
    assert!(shown.contains("  m: tools prompt, by what was found\n") && fake.probed() > 0, "{shown}");
    let probed = fake.probed();
    let (_, shown) = command(&[&["--probe", "n"], &running[..]].concat());
    assert!(shown.contains("  m: tools prompt") && shown.contains("  n: tools prompt"), "{shown}");
    assert_eq!(fake.probed(), 2 * probed, "only the one that is named");
    let (_, shown) = command(&[&["--forget", "m"], &running[..]].concat());
    assert!(!shown.contains("  m: ") && shown.contains("  n: tools prompt"), "{shown}");
    let (_, shown) = command(&[&["--forget"], &running[..]].concat());
    assert!(!shown.contains("tools prompt"), "{shown}");
    let no_callboard = ["--listen", "127.0.0.1:1", "--upstream", &server.url];
    let (_, shown) = command(&[&["--probe"], &no_callboard[..]].concat());
    assert!(shown.contains("no Callboard runs") && shown.contains("  m: tools prompt, by what was found\n"), "{shown}");
    let (success, shown) = command(&["m"]);
    assert!(!success && shown.contains("add --probe or --forget"), "{shown}");
    for (body, param) in
        [(r#"{"url":"http://no/v1"}"#, "url"), (r#"{"model":1}"#, "model"), (r#"{"modle":"m"}"#, "modle")]
    {
        let refused = ask(&program.address, "POST", "/v1/upstreams/probe", &["content-type: application/json"], body);
        assert_eq!((refused.status, refused.error("param").as_str()), (400, param), "{body}");
    }
}
