//! A character over a WebSocket: its tools run here, and its state goes from response to response.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::support::{ModelServer, Program, Script, calls, text};
use super::client::{Socket, words};

const COUNTER: &str = r#"
CHARACTER_NAME = "Counter"
INSTRUCTIONS = {"instruction_prompt": "You count."}

class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "You count."

    def make_turn_context(self):
        return f"The count is {self.count}."

    def add(self, number: int = 1) -> str:
        """Add a number to the count."""
        self.count += number
        return f"The count is {self.count}."

TOOLS = [PromptGenerator.add]
"#;

/// A folder with the character, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sockets-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("counter.py"), COUNTER).unwrap();
        Self(path)
    }

    fn open(&self, server: &ModelServer) -> Program {
        let path = option_env!("PATH").map(|path| ("PATH", path));
        let arguments = ["--upstream", &server.url, "--characters", self.0.to_str().unwrap()];
        Program::start(&arguments, path.as_slice())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn add(number: u64) -> [Value; 2] {
    [calls("Adding.", &[("add", json!({"number": number}))]), text("Added.")]
}

fn context(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap().iter();
    messages.filter_map(|message| message["content"].as_str()).filter(|text| text.contains("The count is")).collect()
}

#[test]
fn state_goes_from_response_to_response_without_a_store() {
    let folder = Folder::new("state");
    let (script, server) = Script::start(add(2));
    let program = folder.open(&server);
    let mut socket = Socket::open(&program.address);
    let mut fields = json!({"model": "counter", "store": false});
    let mut contexts = Vec::new();
    for number in [2, 3, 4] {
        script.then(add(number + 1));
        socket.ask("Add.", &fields);
        let response = socket.object();
        let kinds: Vec<&Value> = response["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
        assert_eq!(kinds, ["message", "mcp_call", "message"], "{response}");
        let call = &response["output"][1];
        assert_eq!(
            (&call["server_label"], &call["arguments"]),
            (&json!("counter"), &json!(format!("{{\"number\":{number}}}")))
        );
        assert_eq!(words(&response), "Adding.Added.");
        contexts.push(call["output"].as_str().unwrap().to_owned());
        fields["previous_response_id"] = response["id"].clone();
    }
    assert_eq!(contexts, ["The count is 2.", "The count is 5.", "The count is 9."]);
    let asked = script.asked();
    assert!(context(&asked[2]).ends_with("The count is 2."), "{}", asked[2]);
}

#[test]
fn two_ways_on_from_one_response_have_their_own_state() {
    let folder = Folder::new("branches");
    let (script, server) = Script::start(add(1));
    let program = folder.open(&server);
    let mut socket = Socket::open(&program.address);
    socket.ask("Add.", &json!({"model": "counter", "store": false}));
    let first = socket.object();
    for number in [10, 20] {
        script.then(add(number));
        socket.ask("Add.", &json!({"model": "counter", "store": false, "previous_response_id": first["id"]}));
        let output = socket.object()["output"][1]["output"].clone();
        assert_eq!(output, format!("The count is {}.", number + 1));
    }
}
