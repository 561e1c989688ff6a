//! What a character keeps: how it is taken back, what a conversation may be called, and what the log says of it.

use serde_json::{Value, json};

use super::stage::{Folder, start};
use super::support::characters::COUNTER;
use super::support::{Program, Script, ask, calls, text};

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

fn made(program: &Program, path: &str, body: &Value) -> Value {
    let answer = ask(&program.address, "POST", path, &[], &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn what_was_undone_is_listed_newest_first() {
    let folder = Folder::new("undone").with("counter", COUNTER);
    let add = || calls("", &[("add", json!({"number": 1}))]);
    let (_script, server) = Script::start([add(), text("One."), add(), text("Two."), add(), text("Three.")]);
    let program = start(&folder, &server);
    let id = made(&program, "/v1/conversations", &json!({}))["id"].as_str().unwrap().to_owned();
    for _ in 0..3 {
        made(&program, "/v1/responses", &json!({"model": "counter", "input": "Add.", "conversation": id}));
    }
    let sequences = |list: &Value| -> Vec<u64> {
        list.as_array().unwrap().iter().map(|entry| entry["sequence"].as_u64().unwrap()).collect()
    };
    let undo = format!("/v1/conversations/{id}/undo");
    let undone = made(&program, &undo, &json!({"last": 2}));
    assert_eq!((sequences(&undone["undone"]), sequences(&undone["restored"])), (vec![3, 2], vec![]));
    let restored = made(&program, &undo, &json!({"call_id": undone["call_id"]}));
    assert_eq!(sequences(&restored["restored"]), [2, 3]);
}

#[test]
fn the_name_of_a_conversation_has_a_limit() {
    let program = Program::start(&[], &[]);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    for (name, status) in [("x".repeat(512), 200), ("é".repeat(512), 200), ("x".repeat(513), 400)] {
        let header = format!("callboard-conversation: {name}");
        let answer = ask(&program.address, "POST", "/v1/chat/completions", &[&header], &body);
        assert_eq!(answer.status, status, "{answer:?}");
        assert_eq!(status == 400, answer.body.contains("\"param\":\"callboard-conversation\""), "{answer:?}");
    }
}

#[test]
fn words_that_cannot_be_kept_stay_out_of_the_log() {
    let folder = Folder::new("hoarder").with("hoarder", HOARDER);
    let (_script, server) = Script::start([calls("", &[("keep", json!({"word": "umbrella"}))]), text("No.")]);
    let arguments = ["--upstream", &server.url, "--characters", folder.path()];
    let path: Vec<(&str, &str)> = option_env!("PATH").into_iter().map(|path| ("PATH", path)).collect();
    let (program, log) = Program::start_with_log(&arguments, &path);
    made(&program, "/v1/responses", &json!({"model": "hoarder", "input": "Keep it."}));
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let lines: Vec<String> = log.iter().collect();
    let told = lines.iter().find(|line| line.contains("self.hoard")).unwrap_or_else(|| panic!("{lines:?}"));
    assert!(told.contains("ERROR") && told.contains("keep a list: sorted(...)"), "{told}");
    assert!(lines.iter().all(|line| !line.contains("umbrella")), "{lines:?}");
}
