//! Characters beyond the golden pages: files that change while the program runs, unavailable model servers, clients that
//! disconnect, and the log.

use callboard_test_support::{
    Answer, COUNTER, CharacterFolder, Connection, ModelServer, Program, Script, ask, calls, new_conversation, post,
    text,
};
use serde_json::{Value, json};

const HOARDER: &str = r#"
CHARACTER_NAME = "Hoarder"
INSTRUCTIONS = {"instruction_prompt": "You hoard."}

class PromptGenerator:
    def __init__(self, instructions):
        self.hoard = {}

    def make_system_prompt(self):
        return "You hoard."

    def keep(self, word: str) -> str:
        """Keep a word."""
        self.hoard[word] = {1}
        return "kept"

TOOLS = [PromptGenerator.keep]
"#;

fn talk(program: &Program, messages: &Value) -> Answer {
    post(&program.address, &json!({"model": "counter", "messages": messages}).to_string())
}

fn said(answer: &Answer) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

fn user(words: &str) -> Value {
    json!({"role": "user", "content": words})
}

fn assistant(words: &str) -> Value {
    json!({"role": "assistant", "content": words})
}

fn respond(program: &Program, body: &Value) -> Answer {
    ask(&program.address, "POST", "/v1/responses", &[], &body.to_string())
}

fn get(program: &Program, path: &str) -> Value {
    ask(&program.address, "GET", path, &[], "").ok()
}

fn reload(program: &Program) {
    ask(&program.address, "POST", "/v1/characters/reload", &[], "").ok();
}

#[test]
fn an_interrupted_turn_is_stored() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let (gate, turns) = (std::sync::Mutex::new(gate), std::sync::atomic::AtomicUsize::new(0));
    let (seen, requests) = std::sync::mpsc::channel();
    let seen = std::sync::Mutex::new(seen);
    let server = ModelServer::start(move |mut exchange| {
        if exchange.path == "/v1/models" {
            return exchange.json(200, r#"{"data":[{"id":"m"}]}"#);
        }
        seen.lock().unwrap().send(exchange.body.clone()).unwrap();
        match turns.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => {
                exchange.begin_stream();
                exchange.event(r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"add","arguments":"{}"}}]}}]}"#);
                exchange.finish("tool_calls");
            }
            1 => {
                exchange.begin_stream();
                exchange.text("It is");
                let _ = gate.lock().unwrap().recv();
            }
            _ => exchange.answer("As you wish."),
        }
    });
    let program = folder.serve(&server);
    let body = json!({"model": "counter", "stream": true, "messages": [user("add")]}).to_string();
    let mut client = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], &body);
    client.read_until("It is").unwrap();
    drop(client);
    drop(go);
    requests.recv().unwrap();
    requests.recv().unwrap();
    // The program detects the disconnect only when it polls the connection; until then the turn is running.
    let history = json!([user("add"), assistant("It is"), user("stop")]);
    let next = loop {
        assert_eq!(said(&talk(&program, &history)), "As you wish.");
        let request: Value = serde_json::from_str(&requests.recv().unwrap()).unwrap();
        if request["messages"][0]["content"] == "You count.\n\nThe count is 1." {
            break request;
        }
    };
    let roles: Vec<&str> = next["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
}

#[test]
fn a_changed_file_is_reloaded_unless_it_is_invalid() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let (_, server) = Script::start([]);
    let program = folder.serve(&server);
    let name = |program: &Program| {
        let character = ask(&program.address, "GET", "/v1/characters/counter", &[], "").json();
        character["name"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(name(&program), "Counter");
    let models = ask(&program.address, "GET", "/v1/models", &[], "").body;
    assert!(models.contains("\"counter\"") && models.contains("\"m\""), "{models}");
    folder.write("counter", &COUNTER.replace("\"Counter\"", "\"Second\""));
    while name(&program) != "Second" {}
    folder.write("counter", "CHARACTER_NAME = 7\n");
    while !ask(&program.address, "GET", "/v1/characters", &[], "").body.contains("\"earlier_version_on_stage\":true") {}
    assert_eq!(name(&program), "Second");
}

#[test]
fn a_character_rests_between_turns() {
    let add = || calls("", &[("add", json!({}))]);
    let (_, server) = Script::start([add(), text("One."), add(), text("Two.")]);
    let folder = CharacterFolder::with("counter", COUNTER);
    let arguments = ["--upstream", &server.url, "--characters", folder.path()];
    let program = Program::start(&arguments, &[("CALLBOARD_PYTHON_REST_SECONDS", "0.05")]);
    let is_at_rest = || ask(&program.address, "GET", "/v1/characters/counter", &[], "").json()["at_rest"] == true;
    let mut messages = Vec::new();
    for expected in ["One.", "Two."] {
        while !is_at_rest() {}
        let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
        assert!(metrics.contains("worker_characters_at_rest 1"), "{metrics}");
        messages.push(user("Count."));
        let answer = said(&talk(&program, &json!(messages)));
        assert_eq!(answer, expected);
        messages.push(assistant(&answer));
    }
}

#[test]
fn a_conversation_waits_for_its_character() {
    let (script, server) = Script::start(["One.", "Two.", "Three.", "Four."].map(text));
    let folder = CharacterFolder::with("counter", COUNTER);
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    let played = respond(&program, &json!({"model": "counter", "input": "Count.", "conversation": conversation})).ok();
    assert_eq!(played["conversation"]["id"], conversation);
    let stored = respond(&program, &json!({"model": "counter", "input": "Count."})).ok();
    script.asked();

    folder.remove("counter");
    reload(&program);
    let in_conversation = json!({"model": "counter", "input": "Go on.", "conversation": conversation});
    let behind_response = json!({"model": "counter", "input": "Go on.", "previous_response_id": stored["id"]});
    for request in [&in_conversation, &behind_response] {
        let refused = respond(&program, request);
        assert_eq!((refused.status, refused.error("code")), (404, "character_not_found".to_owned()), "{refused:?}");
        assert!(refused.error("message").contains("\"counter\""), "{refused:?}");
    }
    assert_eq!(script.asked(), Vec::<Value>::new());

    folder.write("counter", COUNTER);
    reload(&program);
    for request in [&in_conversation, &behind_response] {
        respond(&program, request).ok();
    }
}

/// The rehearsal model does not replace a model server that is unavailable or does not list its models.
#[test]
fn the_model_of_a_character_is_never_replaced() {
    let folder = CharacterFolder::with("counter", COUNTER);
    let silent = ModelServer::start(|mut exchange| exchange.json(404, r#"{"detail":"Not Found"}"#));
    let away = ModelServer { url: ModelServer::unused_url() };
    for (server, status, words) in [(silent, 502, "--model"), (away, 503, "cannot be reached")] {
        let refused = respond(&folder.serve(&server), &json!({"model": "counter", "input": "Count."}));
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.error("message").contains(words), "{refused:?}");
    }
}

#[test]
fn unserializable_state_is_logged_without_content() {
    let folder = CharacterFolder::with("hoarder", HOARDER);
    let (_script, server) = Script::start([calls("", &[("keep", json!({"word": "umbrella"}))]), text("No.")]);
    let arguments = ["--upstream", &server.url, "--characters", folder.path()];
    let (program, log) = Program::start_with_log(&arguments, &[]);
    respond(&program, &json!({"model": "hoarder", "input": "Keep it."})).ok();
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let lines: Vec<String> = log.iter().collect();
    let logged = lines.iter().find(|line| line.contains("self.hoard")).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(logged.contains("ERROR") && logged.contains("keep a list: sorted(...)"), "{logged}");
    assert!(lines.iter().all(|line| !line.contains("umbrella")), "{lines:?}");
}

#[test]
fn a_characters_view_is_served_with_it() {
    let (_, server) = Script::start([]);
    let view = json!({"title": "Score", "parts": [{"show": "facts", "items": [{"label": "Count", "path": "/count"}]}]});
    let folder = CharacterFolder::with("counter", &format!("{COUNTER}\nVIEW = {view}\n"));
    folder.write("plain", &COUNTER.replace("\"Counter\"", "\"Plain\""));
    let program = folder.serve(&server);
    assert_eq!(get(&program, "/v1/characters/counter")["view"], view);
    assert_eq!(get(&program, "/v1/characters/plain")["view"], Value::Null);
    folder.write("plain", &COUNTER.replace("\"Counter\"", "\"Plain\"\nVIEW = {\"parts\": \"<b>\"}"));
    reload(&program);
    let problems = get(&program, "/v1/characters")["problems"].clone();
    let problem = &problems[0]["problems"][0];
    assert_eq!(problem["what"], "VIEW['parts'] must be a list of 1 to 50 entries", "{problems}");
    assert_eq!(problem["line"], 3, "{problems}");
}
