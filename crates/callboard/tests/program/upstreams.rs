//! Several model servers: routing, load balancing, failover, recovery, and learned quirks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};

use callboard_test_support::{KillableModelServer, ModelServer, Program, ask, post};
use serde_json::{Value, json};

fn request(model: &str, stream: bool) -> String {
    json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

fn server(words: &'static str, count: &Arc<AtomicUsize>) -> ModelServer {
    let count = Arc::clone(count);
    ModelServer::start(move |mut exchange| {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"data":[{"id":"m","object":"model"}]}"#);
        }
        count.fetch_add(1, Ordering::SeqCst);
        exchange.answer(words);
    })
}

/// Also beside a server that serves every model, as the only one or by a pattern. Only an alias overrides it.
#[test]
fn the_rehearsal_model_is_selected_by_name() {
    let rows = [("", false), ("models = [\"*\"]", false), ("aliases = [\"rehearsal=m\"]", true)];
    for (settled, passed_on) in rows {
        let count = Arc::default();
        let url = server("served elsewhere", &count).url;
        let text = format!("[[upstream]]\nurl = \"{url}\"\n{settled}\n");
        let program = Program::with_settings(&text, &[], &[]);
        for _ in 0..2 {
            let answer = post(&program.address, &request("rehearsal", false));
            assert_eq!(
                (answer.status, answer.body.contains("served elsewhere")),
                (200, passed_on),
                "{settled}: {answer:?}"
            );
        }
        assert!(post(&program.address, &request("m", false)).body.contains("served elsewhere"), "{settled}");
    }
}

#[test]
fn requests_fail_over_from_a_dead_server() {
    let count = Arc::default();
    let alive = server("alive", &count);
    let dead = ModelServer::unused_url();
    let program = Program::with_upstreams(&[&dead, &alive.url], &[]);
    for stream in [true, false, true, false] {
        let answer = post(&program.address, &request("m", stream));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains("alive"));
    }
    assert_eq!(count.load(Ordering::SeqCst), 4);
    let seen: Value = ask(&program.address, "GET", "/v1/upstreams", &[], "").json();
    assert_eq!(seen["data"][0]["set_aside"], true, "after three failures it is set aside: {seen}");
}

#[test]
fn a_reply_that_breaks_before_any_text_fails_over() {
    let count = Arc::default();
    let alive = server("alive", &count);
    let breaking = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.event(r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#);
        exchange.stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    let program = Program::with_upstreams(&[&breaking.url, &alive.url], &[]);
    let answer = post(&program.address, &request("m", true));
    assert!(answer.body.contains("alive") && answer.body.contains("[DONE]"), "{answer:?}");
}

#[test]
fn an_unreadable_reply_fails_over() {
    let count = Arc::default();
    let alive = server("alive", &count);
    let garbage = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.event("<html>no</html>");
        exchange.finish("stop");
    });
    let program = Program::with_upstreams(&[&garbage.url, &alive.url], &[]);
    for _ in 0..4 {
        let answer = post(&program.address, &request("m", true));
        assert!(answer.body.contains("alive") && answer.body.contains("[DONE]"), "{answer:?}");
    }
    let seen: Value = ask(&program.address, "GET", "/v1/upstreams", &[], "").json();
    assert_eq!(seen["data"][0]["set_aside"], true, "{seen}");
}

#[test]
fn a_pooled_connection_closed_by_the_server_is_replaced() {
    let closing = ModelServer::start(|mut exchange| {
        exchange.answer("fine");
        exchange.stream.shutdown(std::net::Shutdown::Both).unwrap();
    });
    let program = Program::with_upstream(&closing.url, &[("CALLBOARD_LIMITS_RETRIES", "0")]);
    for _ in 0..30 {
        assert_eq!(post(&program.address, &request("m", false)).status, 200);
    }
}

#[test]
fn a_recovered_server_is_used_again() {
    let url = ModelServer::unused_url();
    let program = Program::with_upstream(&url, &[("CALLBOARD_LIMITS_RETRIES", "0")]);
    for _ in 0..3 {
        assert_eq!(post(&program.address, &request("m", false)).status, 503);
    }
    assert!(ask(&program.address, "GET", "/v1/upstreams", &[], "").body.contains("\"set_aside\":true"));
    let _back = ModelServer::start_at(&url, |mut exchange| exchange.answer("back"));
    assert!(post(&program.address, &request("m", false)).body.contains("back"));
    assert!(ask(&program.address, "GET", "/v1/upstreams", &[], "").body.contains("\"set_aside\":false"));
}

#[test]
fn models_are_routed_by_pattern_and_alias() {
    let (first, second) = (Arc::default(), Arc::default());
    let (a, b) = (server("from a", &first), server("from b", &second));
    let text = format!(
        "[[upstream]]\nurl = \"{}\"\nmodels = [\"qwen*\"]\naliases = [\"gpt-4=qwen3:32b\"]\n[[upstream]]\nurl = \"{}\"\nmodels = [\"llama*\"]\n",
        a.url, b.url
    );
    let program = Program::with_settings(&text, &[], &[]);
    for (model, words) in [("qwen3:8b", "from a"), ("llama3", "from b"), ("gpt-4", "from a")] {
        assert!(post(&program.address, &request(model, false)).body.contains(words), "{model}");
    }
    let unknown = post(&program.address, &request("mistral", false));
    assert_eq!((unknown.status, unknown.error("param").as_str()), (404, "model"));
}

#[test]
fn openai_base_url_names_a_server() {
    let keyed = ModelServer::start(|mut exchange| match exchange.headers.contains("authorization: bearer theirs") {
        true => exchange.answer("from there"),
        false => exchange.json(401, "{}"),
    });
    let environment = [("OPENAI_BASE_URL", keyed.url.as_str()), ("OPENAI_API_KEY", "theirs")];
    let program = Program::start(&[], &environment);
    assert!(post(&program.address, &request("m", false)).body.contains("from there"));
    let named = Program::start(&["--upstream", &server("named", &Arc::default()).url], &environment);
    assert!(post(&named.address, &request("m", false)).body.contains("named"), "what is named comes first");
}

#[test]
fn a_model_is_not_unknown_while_a_server_does_not_answer() {
    let count = Arc::default();
    let (alive, dead) = (server("alive", &count), ModelServer::unused_url());
    let program = Program::start(&["--upstream", &dead, "--upstream", &alive.url], &[]);
    for _ in 0..5 {
        assert!(post(&program.address, &request("m", false)).body.contains("alive"));
        let answer = post(&program.address, &request("elsewhere", false));
        assert_eq!((answer.status, answer.error("code").as_str()), (503, "upstream_unavailable"));
    }
    let seen: Value = ask(&program.address, "GET", "/v1/upstreams", &[], "").json();
    assert_eq!(seen["data"][0]["set_aside"], true, "it is not asked for its models each time: {seen}");
}

#[test]
fn a_server_that_only_lists_its_models_is_half_open() {
    let (count, failed) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let alive = server("alive", &count);
    let counted = Arc::clone(&failed);
    let broken = ModelServer::start(move |mut exchange| match exchange.path.as_str() {
        "/v1/models" => exchange.json(200, r#"{"data":[{"id":"m","object":"model"}]}"#),
        _ => {
            counted.fetch_add(1, Ordering::SeqCst);
            exchange.json(500, "{}");
        }
    });
    let program = Program::start(&["--upstream", &broken.url, "--upstream", &alive.url], &[]);
    let set_aside = || ask(&program.address, "GET", "/v1/upstreams", &[], "").body.contains("\"set_aside\":true");
    for _ in 0..3 {
        assert!(post(&program.address, &request("m", false)).body.contains("alive"));
    }
    assert!(set_aside() && failed.load(Ordering::SeqCst) == 3);
    while set_aside() {
        std::thread::yield_now();
    }
    assert!(post(&program.address, &request("m", false)).body.contains("alive"));
    assert!(set_aside(), "one failure is enough this time");
}

/// Two failures are two, also where no other server is left to ask, and whether the reply is checked or passed on.
#[test]
fn a_failure_is_counted_once() {
    let failing = ModelServer::start(|mut exchange| exchange.json(500, r#"{"error":"out of memory"}"#));
    let breaking = ModelServer::start(|mut exchange| {
        exchange.begin_stream();
        exchange.text("Hel");
        exchange.close();
    });
    let other = ModelServer::start(|mut exchange| exchange.json(500, "{}"));
    for (urls, mode, path, stream) in [
        (&[&failing.url][..], "enforce", "/v1/chat/completions", false),
        (&[&failing.url, &other.url], "enforce", "/v1/chat/completions", true),
        (&[&breaking.url], "enforce", "/v1/chat/completions", true),
        (&[&failing.url], "observe", "/v1/chat/completions", false),
        (&[&breaking.url], "off", "/v1/chat/completions", true),
        (&[&failing.url], "enforce", "/v1/embeddings", false),
        (&[&breaking.url], "enforce", "/v1/completions", true),
    ] {
        let server =
            |url: &&String| format!("[[upstream]]\nurl = \"{url}\"\nmodels = [\"*\"]\ncontract = \"{mode}\"\n");
        let program = Program::with_settings(&urls.iter().map(server).collect::<String>(), &[], &[]);
        for number in 1..=3 {
            ask(&program.address, "POST", path, &[], &request("m", stream));
            let seen: Value = ask(&program.address, "GET", "/v1/upstreams", &[], "").json();
            for server in seen["data"].as_array().unwrap() {
                assert_eq!(server["set_aside"], number == 3, "{mode} {path} after {number}: {seen}");
            }
        }
    }
}

/// The output of `callboard upstreams`, and whether it succeeded.
fn shown(arguments: &[&str], environment: &[(&str, &str)]) -> (String, bool) {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_callboard"));
    let folder = tempfile::TempDir::new().unwrap();
    command.arg("upstreams").args(arguments).env_clear().envs(environment.iter().copied()).current_dir(folder.path());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[test]
fn the_command_upstreams_asks_a_running_callboard_with_its_key() {
    let count = Arc::default();
    let server = server("Hello.", &count);
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_API_KEYS", "one,two")]);
    let listen = ["--listen", &program.address, "--upstream", &server.url];
    let address = &program.address;
    let (page, succeeded) = shown(&listen, &[("CALLBOARD_API_KEYS", "two")]);
    let expected = format!("as seen by the Callboard at {address}:\n{}: in use, 0 requests in flight\n", server.url);
    assert_eq!((page, succeeded), (expected, true));
    for keys in ["", "three"] {
        let (page, succeeded) = shown(&listen, &[("CALLBOARD_API_KEYS", keys)]);
        let expected = format!(
            "the Callboard at {address} wants one of its keys, in api_keys or CALLBOARD_API_KEYS; the model servers are asked \
             directly:\n{}: answers, 1 model: m\n",
            server.url
        );
        assert_eq!((page, succeeded), (expected, true));
    }
}

#[test]
fn the_command_upstreams_asks_directly_where_nothing_runs() {
    let nothing = ModelServer::unused_url();
    let address = nothing.trim_start_matches("http://").trim_end_matches("/v1");
    let head = format!("no Callboard runs at {address}; the model servers are asked directly:\n");
    let (dead, keyed) = (ModelServer::unused_url(), ModelServer::start(|mut exchange| exchange.json(401, "{}")));
    let (page, succeeded) = shown(&["--listen", address, "--upstream", &dead], &[]);
    let expected = format!("{head}{dead}: does not answer: cannot connect: Connection refused\n");
    assert_eq!((page, succeeded), (expected, false));
    let (page, succeeded) = shown(&["--listen", address, "--upstream", &keyed.url], &[]);
    assert!(page.contains(&format!("{}: wants a key (status 401)", keyed.url)) && succeeded, "{page}");
    // Without a model server on this machine, the built-in model plays.
    let (page, succeeded) = shown(&["--listen", address], &[]);
    assert!(page.starts_with(&head) && !page.contains("invalid") && succeeded, "{page}");
}

#[test]
fn requests_go_to_the_server_with_the_fewest_in_flight() {
    let (seen, arrivals) = channel();
    let seen = Mutex::new(seen);
    let seen = Arc::new(seen);
    let meet = Arc::new(Barrier::new(4));
    let start = |name: &'static str| {
        let (seen, meet) = (Arc::clone(&seen), Arc::clone(&meet));
        ModelServer::start(move |mut exchange| {
            seen.lock().unwrap().send(name).unwrap();
            meet.wait();
            exchange.answer(name);
        })
    };
    let (a, b) = (start("a"), start("b"));
    let text = format!(
        "threads = 1\n[[upstream]]\nurl = \"{}\"\nmodels = [\"*\"]\n[[upstream]]\nurl = \"{}\"\nmodels = [\"*\"]\n",
        a.url, b.url
    );
    let program = Program::with_settings(&text, &[], &[]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(post(&program.address, &request("m", false)).status, 200));
        }
    });
    let mut names: Vec<&str> = arrivals.try_iter().collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "a", "b", "b"]);
}

#[test]
fn a_quirk_is_learned_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let picky = ModelServer::start(move |mut exchange| {
        counted.fetch_add(1, Ordering::SeqCst);
        if exchange.body.contains("\"seed\"") {
            return exchange.json(400, r#"{"error":{"message":"Unsupported parameter: 'seed'","param":"seed","code":"unsupported_parameter"}}"#);
        }
        exchange.answer("fine");
    });
    let program = Program::with_upstream(&picky.url, &[]);
    let body = json!({"model": "m", "seed": 7, "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    for _ in 0..3 {
        assert!(post(&program.address, &body).body.contains("fine"));
    }
    assert_eq!(count.load(Ordering::SeqCst), 4, "refused once, then left out");
    let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").body;
    assert!(seen.contains(r#""learned":{"m":["field:seed"]}"#), "{seen}");
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    let counted = format!("callboard_upstream_learned_total{{upstream=\"{}\",quirk=\"field\"}} 1", picky.url);
    assert!(metrics.contains(&counted), "{metrics}");
    let command = [env!("CARGO_BIN_EXE_callboard"), "upstreams", "--listen", &program.address];
    let shown = std::process::Command::new(command[0]).args(&command[1..]).env_clear().output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    assert!(shown.contains("  m: tools native, by default\n    field:seed  worked around  20"), "{shown}");
}

#[test]
fn a_quirk_that_does_not_help_is_dropped() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let odd = ModelServer::start(move |mut exchange| {
        counted.fetch_add(1, Ordering::SeqCst);
        exchange.json(400, r#"{"error":{"message":"Unsupported parameter: 'seed'"}}"#);
    });
    let program = Program::with_upstream(&odd.url, &[]);
    let body = json!({"model": "m", "seed": 7, "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    for round in 1..3 {
        assert_eq!(post(&program.address, &body).status, 400);
        assert_eq!(count.load(Ordering::SeqCst), 2 * round, "with and without it");
    }
    let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").body;
    assert!(seen.contains(r#""learned":{}"#), "{seen}");
}

#[test]
fn no_request_is_lost_when_one_of_two_servers_dies() {
    let counts: [Arc<AtomicUsize>; 2] = Default::default();
    let staying = server("stays", &counts[0]);
    let mut leaving = KillableModelServer::start("goes");
    let program = Program::with_upstreams(&[&leaving.url, &staying.url], &[]);
    let (asked, is_dead) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut after_the_kill = 0;
                while after_the_kill < 40 {
                    after_the_kill += usize::from(is_dead.load(Ordering::SeqCst));
                    let number = asked.fetch_add(1, Ordering::SeqCst);
                    let answer = post(&program.address, &request("m", number.is_multiple_of(2)));
                    assert_eq!(answer.status, 200, "{answer:?}");
                    assert!(answer.body.contains("stays") || answer.body.contains("goes"), "{answer:?}");
                }
            });
        }
        while asked.load(Ordering::SeqCst) < 40 {
            std::thread::yield_now();
        }
        leaving.kill();
        is_dead.store(true, Ordering::SeqCst);
    });
    assert!(counts[0].load(Ordering::SeqCst) >= 160, "all requests after the kill go to the server that stays");
}

/// Anyone may ask whether Callboard is ready, so only those with a key learn where its model servers are.
#[test]
fn readiness_names_model_servers_only_to_those_with_a_key() {
    let dead = ModelServer::unused_url();
    let program = Program::with_upstream(&dead, &[("CALLBOARD_API_KEYS", "mine")]);
    for (headers, asked) in
        [(&[][..], "send an API key to see which were asked"), (&["authorization: Bearer mine"], dead.as_str())]
    {
        let ready = ask(&program.address, "GET", "/ready", headers, "");
        assert_eq!((ready.status, ready.error("message")), (503, format!("no model server answers: {asked}")));
    }
}
