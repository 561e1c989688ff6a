//! Characters over the wire: their tools run here, their clients see words, their conversations are remembered.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::characters::{COUNTER, POSTMAN, TELLER};
use super::support::{Answer, Connection, ModelServer, Program, Script, ask, calls, post, text};

/// A folder of characters that is removed when the test ends.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("stage-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn with(self, name: &str, code: &str) -> Self {
        self.write(name, code);
        self
    }

    pub(super) fn write(&self, name: &str, code: &str) {
        std::fs::write(self.0.join(format!("{name}.py")), code).unwrap();
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.0.join(format!("{name}.py"))).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn start(folder: &Folder, server: &ModelServer) -> Program {
    Program::start(&["--upstream", &server.url, "--characters", folder.0.to_str().unwrap()], &path_variable())
}

/// The interpreter is looked up, so the program needs the path.
fn path_variable() -> Vec<(&'static str, &'static str)> {
    option_env!("PATH").into_iter().map(|path| ("PATH", path)).collect()
}

fn talk(program: &Program, model: &str, stream: bool, messages: &Value) -> Answer {
    post(&program.address, &json!({"model": model, "stream": stream, "messages": messages}).to_string())
}

fn said(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("{answer:?}"));
    body["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn user(words: &str) -> Value {
    json!({"role": "user", "content": words})
}

fn assistant(words: &str) -> Value {
    json!({"role": "assistant", "content": words})
}

fn last_message(request: &Value) -> &Value {
    request["messages"].as_array().and_then(|messages| messages.last()).unwrap()
}

#[test]
fn a_tool_is_run_here_and_the_client_sees_words() {
    let folder = Folder::new("words").with("teller", TELLER);
    for stream in [true, false] {
        let (script, server) =
            Script::start([calls("Let me say it.", &[("say", json!({"word": "yes"}))]), text("It is said.")]);
        let program = start(&folder, &server);
        let answer = talk(&program, "teller", stream, &json!([user("Say yes.")]));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains("Let me say it.") && answer.body.contains("It is said."), "{answer:?}");
        assert!(!answer.body.contains("tool_calls"), "the client never sees the call: {answer:?}");
        let asked = script.asked();
        assert_eq!(asked[0]["messages"][0], json!({"role": "system", "content": "You tell stories."}));
        assert_eq!(asked[0]["tools"][0]["function"]["name"], "say");
        assert_eq!(last_message(&asked[1])["content"], "You said yes.");
        assert_eq!(last_message(&asked[1])["role"], "tool");
        assert!(program.prints_line("[teller] said yes"));
    }
}

#[test]
fn a_name_that_nobody_has_is_one_error() {
    let folder = Folder::new("names").with("postman", POSTMAN);
    let (_script, server) = Script::start([calls("", &[("bring", json!({"to": "Zebediah"}))]), text("Who?")]);
    let program = start(&folder, &server);
    assert_eq!(said(&talk(&program, "postman", false, &json!([user("A letter.")]))), "Who?");
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    assert!(metrics.contains(r#"character_tool_errors_total{error_type="validation"} 1"#), "{metrics}");
}

#[test]
fn errors_go_to_the_model_in_fixed_words() {
    let folder = Folder::new("errors").with("teller", TELLER);
    let rows = [
        (("dance", json!({})), "Error: Unknown tool: dance"),
        (("say", json!("{\"word\": ")), "Error: Invalid JSON arguments - "),
        (("say", json!({"word": 7, "loud": true})), "Error: Invalid parameters - "),
        (("nap", json!({})), "Error: Tool execution timed out"),
        (("fail", json!({"reason": "no luck"})), "Error: ValueError: no luck"),
    ];
    let (script, server) = Script::start([]);
    let program = start(&folder, &server);
    for (call, error) in rows {
        script.then([calls("", &[call]), text("I see.")]);
        assert_eq!(said(&talk(&program, "teller", false, &json!([user(error)]))), "I see.");
        let told = last_message(&script.asked()[1])["content"].as_str().unwrap().to_owned();
        assert!(told.starts_with(error), "{told}");
    }
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    for line in [
        r#"character_tool_calls_total{character_name="Teller",tool_name="nap",outcome="error",error_type="timeout"} 1"#,
        r#"character_tool_errors_total{error_type="timeout"} 1"#,
        r#"character_tool_errors_total{error_type="execution"} 1"#,
        r#"character_tool_errors_total{error_type="json_parse"} 1"#,
        r#"character_tool_errors_total{error_type="validation"} 1"#,
        r#"character_tools_loaded_total{character_name="Teller"} 3"#,
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
}

#[test]
fn calls_of_one_reply_are_answered_in_their_order() {
    let folder = Folder::new("order").with("teller", TELLER);
    let both =
        calls("", &[("fail", json!({"reason": "x"})), ("say", json!({"word": "a"})), ("say", json!({"word": "b"}))]);
    let (script, server) = Script::start([both, text("Done.")]);
    let program = start(&folder, &server);
    assert_eq!(said(&talk(&program, "teller", false, &json!([user("go")]))), "Done.");
    let asked = script.asked();
    let messages = asked[1]["messages"].as_array().unwrap();
    let told: Vec<&str> =
        messages.iter().filter(|m| m["role"] == "tool").map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(told, ["Error: ValueError: x", "You said a.", "You said b."]);
    let ids: Vec<&Value> = messages.iter().filter(|m| m["role"] == "tool").map(|m| &m["tool_call_id"]).collect();
    let made: Vec<&Value> = messages[2]["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(ids, made);
}

#[test]
fn state_that_only_a_tool_sets_is_kept_in_order() {
    let code = COUNTER
        .replace("self.count = 0", "pass")
        .replace("return f\"The count is {self.count}.\"", "return \"\"")
        .replace("self.count += number", "self.count = getattr(self, \"count\", 0) + number")
        .replace("        return \"\"\n\nTOOLS", "        return f\"The count is {self.count}.\"\n\nTOOLS");
    let folder = Folder::new("late-state").with("counter", &code);
    let three = calls("", &[("add", json!({})), ("add", json!({})), ("add", json!({}))]);
    let (script, server) = Script::start([three, text("Three.")]);
    let program = start(&folder, &server);
    assert_eq!(said(&talk(&program, "counter", false, &json!([user("go")]))), "Three.");
    assert_eq!(last_message(&script.asked()[1])["content"], "The count is 3.");
}

#[test]
fn a_character_may_require_a_call() {
    let folder = Folder::new("choice")
        .with("teller", &TELLER.replace("TOOLS = [say", "TOOL_CHOICE = \"required\"\nTOOLS = [say"));
    let (script, server) = Script::start([calls("", &[("say", json!({"word": "yes"}))]), text("Said.")]);
    let program = start(&folder, &server);
    assert_eq!(said(&talk(&program, "teller", false, &json!([user("go")]))), "Said.");
    let asked = script.asked();
    assert_eq!((&asked[0]["tool_choice"], &asked[1]["tool_choice"]), (&json!("required"), &Value::Null));
}

#[test]
fn rounds_end_with_an_answer_without_tools() {
    let folder = Folder::new("rounds").with("teller", TELLER);
    let again = || calls("", &[("say", json!({"word": "more"}))]);
    let (script, server) = Script::start([again(), again(), again(), text("Enough.")]);
    let arguments = ["--upstream", &server.url, "--characters", folder.0.to_str().unwrap()];
    let mut variables = path_variable();
    variables.push(("CALLBOARD_STAGE_ROUNDS", "3"));
    let program = Program::start(&arguments, &variables);
    assert_eq!(said(&talk(&program, "teller", false, &json!([user("go")]))), "Enough.");
    let asked = script.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked[2]["tools"].is_array() && asked[3]["tools"].is_null());
}

#[test]
fn a_conversation_goes_on_from_the_history_that_clients_send() {
    let folder = Folder::new("history").with("counter", COUNTER);
    let (script, server) = Script::start([calls("", &[("add", json!({"number": 5}))]), text("Five.")]);
    let program = start(&folder, &server);
    let first = json!([user("add five")]);
    assert_eq!(said(&talk(&program, "counter", false, &first)), "Five.");
    assert_eq!(script.asked()[0]["messages"][0]["content"], "You count.\n\nThe count is 0.");

    script.then([calls("", &[("add", json!({}))]), text("Six.")]);
    let second = json!([user("add five"), assistant("Five."), user("one more")]);
    assert_eq!(said(&talk(&program, "counter", false, &second)), "Six.");
    let asked = script.asked();
    assert_eq!(asked[0]["messages"][0]["content"], "You count.\n\nThe count is 5.");
    let roles: Vec<&str> =
        asked[0]["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["system", "user", "assistant", "tool", "assistant", "user"],
        "calls and results stay in the conversation"
    );
    assert_eq!(last_message(&asked[1])["content"], "The count is 6.");

    script.then([calls("", &[("add", json!({"number": 10}))]), text("Fifteen.")]);
    let edited = json!([user("add five"), assistant("Five."), user("ten more")]);
    assert_eq!(said(&talk(&program, "counter", false, &edited)), "Fifteen.");
    assert_eq!(last_message(&script.asked()[1])["content"], "The count is 15.", "an edited history forks");

    script.then([calls("", &[("add", json!({"number": 2}))]), text("Two.")]);
    assert_eq!(said(&talk(&program, "counter", false, &json!([user("start anew")]))), "Two.");
    assert_eq!(last_message(&script.asked()[1])["content"], "The count is 2.");
}

#[test]
fn a_failed_call_leaves_the_state_as_it_was() {
    let folder = Folder::new("rollback").with("counter", COUNTER);
    let two =
        calls("", &[("add", json!({"number": 1})), ("add", json!({"number": 500})), ("add", json!({"number": 1}))]);
    let (script, server) = Script::start([two, text("Two.")]);
    let program = start(&folder, &server);
    assert_eq!(said(&talk(&program, "counter", false, &json!([user("go")]))), "Two.");
    let asked = script.asked();
    let told: Vec<&str> = asked[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["The count is 1.", "Error: ValueError: too many", "The count is 2."]);
}

#[test]
fn a_named_conversation_needs_no_history() {
    let folder = Folder::new("named").with("counter", COUNTER);
    let (script, server) = Script::start([]);
    let program = start(&folder, &server);
    for (name, count) in [("a", "The count is 1."), ("a", "The count is 2."), ("b", "The count is 1.")] {
        script.then([calls("", &[("add", json!({}))]), text("Yes.")]);
        let body = json!({"model": "counter", "messages": [user("add")]}).to_string();
        let header = format!("callboard-conversation: {name}");
        let answer = ask(&program.address, "POST", "/v1/chat/completions", &[&header], &body);
        assert_eq!(said(&answer), "Yes.");
        assert_eq!(last_message(&script.asked()[1])["content"], count);
    }
}

#[test]
fn an_interrupted_turn_is_on_record() {
    let folder = Folder::new("interrupt").with("counter", COUNTER);
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let (gate, turns) = (std::sync::Mutex::new(gate), std::sync::atomic::AtomicUsize::new(0));
    let (seen, requests) = std::sync::mpsc::channel();
    let seen = std::sync::Mutex::new(seen);
    let server = ModelServer::start(move |mut visit| {
        if visit.path == "/v1/models" {
            return visit.json(200, r#"{"data":[{"id":"m"}]}"#);
        }
        seen.lock().unwrap().send(visit.body.clone()).unwrap();
        match turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => {
                visit.begin_stream();
                visit.event(r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"add","arguments":"{}"}}]}}]}"#);
                visit.finish("tool_calls");
            }
            1 => {
                visit.begin_stream();
                visit.text("It is");
                let _ = gate.lock().unwrap().recv();
            }
            _ => visit.answer("As you wish."),
        }
    });
    let program = start(&folder, &server);
    let body = json!({"model": "counter", "stream": true, "messages": [user("add")]}).to_string();
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], &body);
    client.read_until("It is").unwrap();
    drop(client);
    drop(go);
    requests.recv().unwrap();
    requests.recv().unwrap();
    // The program notices that the client is gone when it looks; until then the turn is still running.
    let history = json!([user("add"), assistant("It is"), user("stop")]);
    let next = loop {
        assert_eq!(said(&talk(&program, "counter", false, &history)), "As you wish.");
        let request: Value = serde_json::from_str(&requests.recv().unwrap()).unwrap();
        if request["messages"][0]["content"] == "You count.\n\nThe count is 1." {
            break request;
        }
    };
    let roles: Vec<&str> = next["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
}

#[test]
fn what_a_client_cannot_ask_of_a_character_is_said() {
    let folder = Folder::new("refused").with("teller", TELLER);
    let (script, server) = Script::start([]);
    let program = start(&folder, &server);
    let tools = json!([{"type": "function", "function": {"name": "x", "parameters": {"type": "object"}}}]);
    let answer =
        post(&program.address, &json!({"model": "teller", "messages": [user("hi")], "tools": tools}).to_string());
    assert_eq!((answer.status, answer.error("param").as_str()), (400, "tools"));
    assert!(answer.error("message").contains("teller"));
    assert!(script.asked().is_empty());
}

#[test]
fn broken_files_are_reported_and_harm_nobody() {
    let broken = "CHARACTER_NAME = 'Broken'\nINSTRUCTIONS = 'text'\n";
    let folder =
        Folder::new("broken").with("teller", TELLER).with("broken", broken).with("exits", "import sys\nsys.exit(3)\n");
    let (_, server) = Script::start([text("Hello.")]);
    let program = start(&folder, &server);
    let list: Value = serde_json::from_str(&ask(&program.address, "GET", "/v1/characters", &[], "").body).unwrap();
    assert_eq!(list["data"][0]["id"], "teller");
    assert_eq!(list["data"][0]["tools"], json!(["say", "nap", "fail"]));
    let ids: Vec<&Value> = list["problems"].as_array().unwrap().iter().map(|file| &file["id"]).collect();
    assert_eq!(ids, ["broken", "exits"]);
    let problem = &list["problems"][0]["problems"][0];
    assert!(problem["line"].is_u64() && problem["what"].is_string() && problem["remedy"].is_string(), "{problem}");
    assert_eq!(said(&talk(&program, "teller", false, &json!([user("hi")]))), "Hello.");
    let models = ask(&program.address, "GET", "/v1/models", &[], "").body;
    assert!(models.contains("\"teller\"") && models.contains("\"m\""));
    assert_eq!(ask(&program.address, "GET", "/v1/characters/nobody", &[], "").status, 404);
}

#[test]
fn a_changed_file_is_loaded_by_itself_and_a_bad_change_is_not() {
    let folder = Folder::new("reload").with("teller", TELLER);
    let (_, server) = Script::start([]);
    let program = start(&folder, &server);
    let name = |program: &Program| {
        let one: Value =
            serde_json::from_str(&ask(&program.address, "GET", "/v1/characters/teller", &[], "").body).unwrap();
        one["name"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(name(&program), "Teller");
    folder.write("teller", &TELLER.replace("\"Teller\"", "\"Second\""));
    while name(&program) != "Second" {}
    folder.write("teller", "CHARACTER_NAME = 7\n");
    while !ask(&program.address, "GET", "/v1/characters", &[], "").body.contains("\"earlier_version_on_stage\":true") {}
    assert_eq!(name(&program), "Second");
}
