//! The start: with Callboard or on demand, waited for, with its own environment, and mistakes in the settings.

use std::path::Path;
use std::process::Command;

use callboard_test_support::{
    COUNTER, CharacterFolder, Connection, Program, ask, binary, post, refused_start, startable_model,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::setup::{CHAT, Gate, eventually, kill, line_with, process, program_with_log, request, said, wait_for};

#[test]
fn requests_wait_until_the_server_is_ready() {
    let gate = Gate::new();
    let (program, log, _folder) = program_with_log(&startable_model(&[&gate.word()], ""), "info");
    let line = line_with(&log, "loading the model");
    assert!(line.contains("INFO") && line.contains("upstream=python3"), "{line}");
    assert_eq!(wait_for(&program, "starting")["restarts"], 0);
    let ready = ask(&program.address, "GET", "/ready", &[], "");
    assert!(ready.status == 503 && ready.error("message").contains("python3 is starting, for "), "{ready:?}");
    let (address, waiting) = (program.address.clone(), [false, true].map(request));
    let listing = std::thread::spawn({
        let address = address.clone();
        move || ask(&address, "GET", "/v1/models", &[], "")
    });
    let asking = std::thread::spawn(move || waiting.map(|body| post(&address, &body)));
    eventually(|| {
        let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").ok();
        (seen["data"][0]["in_flight"] == 1).then_some(())
    });
    gate.open();
    let answers = asking.join().unwrap();
    assert_eq!(listing.join().unwrap().ok()["data"][0]["id"], "m");
    let process = process(&program);
    assert_eq!((process["state"].as_str(), process["restarts"].as_u64()), (Some("ready"), Some(0)), "{process}");
    for answer in &answers {
        assert_eq!(said(answer)["pid"], process["pid"]);
    }
    assert_eq!(ask(&program.address, "GET", "/ready", &[], "").status, 200);
    let line = line_with(&log, "model server is ready");
    assert!(line.contains("upstream=python3"), "{line}");
}

#[test]
fn a_request_does_not_wait_for_ever() {
    let gate = Gate::new();
    let settings = startable_model(&[&gate.word()], "") + "[timeouts]\nstart_seconds = 0.2\n";
    let program = Program::with_settings(&settings, &[], &[]);
    let answer = post(&program.address, &request(false));
    assert_eq!((answer.status, answer.error("code").as_str()), (503, "upstream_unavailable"), "{answer:?}");
    assert!(answer.error("message").contains("python3 is not running: it is still starting"), "{answer:?}");
    gate.open();
    wait_for(&program, "ready");
    assert_eq!(post(&program.address, &request(false)).status, 200);
}

/// It names its models, so the first question for one of them starts it, and nothing before.
#[test]
fn the_first_request_starts_a_server_on_demand() {
    let settings = startable_model(&[], "start = \"on_demand\"\nmodels = [\"m\"]");
    let program = Program::with_settings(&settings, &[], &[]);
    assert_eq!(ask(&program.address, "GET", "/ready", &[], "").status, 200);
    let models = ask(&program.address, "GET", "/v1/models", &[], "").ok();
    assert_eq!(models["data"][0]["id"], "m", "{models}");
    let before = process(&program);
    assert_eq!((before["state"].as_str(), &before["pid"]), (Some("on_demand"), &Value::Null), "{before}");
    let answered_by = said(&post(&program.address, &request(false)))["pid"].take();
    assert_eq!(process(&program)["pid"], answered_by);
}

/// Its prompts have as many tokens with a tool as without, which the first request already benefits from.
#[test]
fn a_server_is_probed_once_it_is_ready() {
    let gate = Gate::new();
    let program = Program::with_settings(&startable_model(&[&gate.word(), "vllm"], ""), &[], &[]);
    wait_for(&program, "starting");
    let tool = json!({"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}});
    let mut body: Value = serde_json::from_str(&request(true)).unwrap();
    body["tools"] = json!([tool]);
    let client = Connection::send(&program.address, "POST", CHAT, &[], &body.to_string());
    gate.open();
    assert_eq!(client.rest().status, 200);
    eventually(|| findings(&program).contains("\"name\":\"tools\",\"value\":\"ignored\"").then_some(()));
}

/// What was found out about the models of the first server.
fn findings(program: &Program) -> String {
    let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").ok();
    seen["data"][0]["known"].as_array().unwrap().iter().map(|known| known["findings"].to_string()).collect()
}

/// A character without a model of its own is played by the first one in the list, which only a server that runs has.
#[test]
fn a_character_starts_the_server_that_plays_it() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let settings = startable_model(&[], "start = \"on_demand\"");
    let program = Program::with_settings(&settings, &["--characters", folder.path()], &[]);
    assert_eq!(process(&program)["state"], "on_demand");
    let answer = post(&program.address, &request(false).replace("\"m\"", "\"counter\""));
    assert_eq!((answer.status, process(&program)["state"].as_str()), (200, Some("ready")), "{answer:?}");
}

/// Its list is only asked for where no other server has the model.
#[test]
fn a_server_on_demand_is_started_for_a_model_that_no_other_has() {
    let listed = startable_model(&["model=listed"], "");
    let settings = listed + &startable_model(&["model=m"], "start = \"on_demand\"");
    let program = Program::with_settings(&settings, &[], &[]);
    let states = || {
        let seen = ask(&program.address, "GET", "/v1/upstreams", &[], "").ok();
        [0, 1].map(|number| {
            let server = &seen["data"][number];
            (server["url"].as_str().unwrap().to_owned(), server["process"]["state"].as_str().unwrap().to_owned())
        })
    };
    wait_for(&program, "ready");
    said(&post(&program.address, &request(false).replace("\"m\"", "\"listed\"")));
    let [_, second] = states();
    assert_eq!((second.0.as_str(), second.1.as_str()), ("python3-2", "on_demand"));
    said(&post(&program.address, &request(false)));
    let [_, second] = states();
    assert_eq!(second.1, "ready");
}

#[test]
fn a_program_that_does_not_exist_is_a_mistake_in_the_settings() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("callboard.toml");
    std::fs::write(&file, "\n[[upstream]]\ncommand = [\"llama-sever\", \"--port\", \"{port}\"]\n").unwrap();
    let refusal = refused_start(&["--config", file.to_str().unwrap()], &[]);
    let expected = format!(
        "callboard: {} line 3: command = [\"llama-sever\", …]: there is no program llama-sever in PATH: install it, or write the path to it\n",
        file.display()
    );
    assert_eq!(refusal, expected);
}

#[test]
fn a_server_that_ends_at_once_shows_why() {
    let settings = "[[upstream]]\ncommand = [\"sh\", \"-c\", \"echo no model at {port} >&2; exit 3\"]\n";
    let program = Program::with_settings(settings, &[], &[]);
    for stream in [false, true] {
        let answer = post(&program.address, &request(stream));
        assert_eq!((answer.status, answer.error("code").as_str()), (503, "upstream_unavailable"), "{answer:?}");
        let message = answer.error("message");
        assert!(message.contains("the model server sh is not running: it exited with status 3, "), "{message}");
        assert!(!message.contains("no model at"), "its output is for operators: {message}");
    }
    let process = process(&program);
    let exit = &process["last_exit"];
    assert_eq!(exit["words"], "exited with status 3", "{process}");
    assert!(exit["output"][0].as_str().unwrap().starts_with("no model at "), "{process}");
    let mut upstreams = Command::new(binary());
    upstreams.args(["upstreams", "--listen", &program.address]).current_dir(program.folder());
    let shown = String::from_utf8(upstreams.output().unwrap().stdout).unwrap();
    assert!(shown.contains("exited with status 3: no model at "), "{shown}");
}

#[test]
fn a_long_start_does_not_fill_the_log() {
    let script = "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i.; done; exit 3";
    let settings = format!("[[upstream]]\ncommand = [\"sh\", \"-c\", \"{script}\", \"{{port}}\"]\n");
    let (_program, log, _folder) = program_with_log(&settings, "info");
    let lines: Vec<String> = log.iter().take_while(|line| !line.contains("exited with status 3: line 300.")).collect();
    let numbers = lines.iter().filter_map(|line| line.split("line ").nth(1)?.split('.').next()?.parse::<usize>().ok());
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=100).chain(281..=300).collect::<Vec<_>>());
}

/// Keys of Callboard are not among the variables; the working directory and further variables are settings.
#[test]
fn a_server_gets_the_environment_and_the_directory_of_its_settings() {
    let folder = TempDir::new().unwrap();
    let directory = folder.path().canonicalize().unwrap();
    let keys = format!(
        "directory = \"{}\"\nenvironment = [\"MODEL_TOKEN\", \"PLACE=port {{port}}\"]\nkey_env = \"SERVER_KEY\"",
        directory.display()
    );
    let settings = startable_model(&[], &keys);
    let own = [("MODEL_TOKEN", "t"), ("SERVER_KEY", "secret"), ("HF_HOME", "/models"), ("OPENAI_API_KEY", "secret")];
    let program = Program::with_settings(&settings, &[], &own);
    let seen = said(&post(&program.address, &request(false)));
    let environment = &seen["environment"];
    assert_eq!(Path::new(seen["folder"].as_str().unwrap()), directory);
    assert_eq!((environment["MODEL_TOKEN"].as_str(), environment["HF_HOME"].as_str()), (Some("t"), Some("/models")));
    let port = environment["PLACE"].as_str().unwrap().strip_prefix("port ").unwrap();
    assert!(process(&program)["url"].as_str().unwrap().contains(port), "{environment}");
    assert!(!seen.to_string().contains("secret") && environment["CALLBOARD_STORE"].is_null(), "{environment}");
}

/// Servers print prompts: what comes after the start is logged, and shown when the server ends, at debug level only.
#[test]
fn what_a_server_prints_of_requests_is_logged_at_debug_level() {
    for (level, is_shown) in [("info", false), ("debug", true)] {
        let (program, log, _folder) = program_with_log(&startable_model(&[], ""), level);
        let seen = said(&post(&program.address, &request(false)));
        kill(seen["pid"].as_u64().unwrap());
        let ended = eventually(|| Some(process(&program)).filter(|process| process["restarts"] == 1));
        assert_eq!(ended["last_exit"]["output"].to_string().contains("a secret of m"), is_shown, "{ended}");
        let mut lines = log.iter().take_while(|line| !line.contains("restart_in_seconds"));
        assert_eq!(lines.any(|line| line.contains("a secret of m")), is_shown, "{level}");
    }
}
