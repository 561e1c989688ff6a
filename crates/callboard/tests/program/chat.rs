//! `callboard chat`: a conversation at the terminal, with its commands.

use callboard_test_support::{CharacterFolder, ModelServer, Script, calls, text};
use serde_json::json;

use crate::author_commands::{Ran, run};

const CLERK: &str = r#"
import json

CHARACTER_NAME = "Clerk"
INSTRUCTIONS = {"instruction_prompt": "You stamp papers."}

class PromptGenerator:
    def __init__(self, instructions):
        self.stamped = []

    def make_system_prompt(self):
        return "You stamp papers."

    def stamp(self, title: str, colour: str = "blue") -> str:
        """Stamp a paper."""
        if colour == "pink":
            raise ValueError("there is no pink ink")
        self.stamped.append(title)
        return f"Stamped: {title}"

    def archive(self) -> str:
        """List all papers."""
        return "\n".join(f"paper {number}" for number in range(1, 21))

TOOLS = [PromptGenerator.stamp, PromptGenerator.archive]
"#;

fn chat(folder: &CharacterFolder, server: &ModelServer, lines: &[&str]) -> Ran {
    let typed: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["chat", "clerk", "--characters", folder.path(), "--upstream", &server.url];
    run(folder.path().as_ref(), &arguments, &typed)
}

fn assert_has(ran: &Ran, parts: &[&str]) {
    assert!(ran.succeeded, "{}", ran.text);
    let mut rest = ran.text.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not (or not there) in\n{}", ran.text));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_conversation_shows_its_model_its_calls_and_its_state() {
    let folder = CharacterFolder::with("clerk", CLERK);
    let (script, server) = Script::start([
        calls("One moment.", &[("stamp", json!({"title": "A 38"}))]),
        text("It is stamped."),
        text("Blue."),
    ]);
    let ran = chat(&folder, &server, &["Stamp A 38", "/state", "Which colour?", "/quit"]);
    let by = format!("Talking to Clerk, played by m at {}.", server.url);
    assert_has(
        &ran,
        &[&by, "/help lists the commands", "One moment.\n  > stamp({\"title\":\"A 38\"", "\n  < Stamped: A 38\n"],
    );
    assert_has(&ran, &["It is stamped.\n", "\"stamped\": [\n    \"A 38\"\n", "Blue.\n"]);
    let last = script.asked().pop().unwrap();
    let roles: Vec<&str> = last["messages"].as_array().unwrap().iter().filter_map(|one| one["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"], "the turn before is remembered");
}

#[test]
fn tools_are_called_by_hand_and_taken_back() {
    let folder = CharacterFolder::with("clerk", CLERK);
    let (script, server) = Script::start([]);
    let lines = [
        "/undo",
        "/tools",
        "/call stamp {\"title\": \"A\"}",
        "/call stamp {\"title\": \"B\", \"colour\": \"pink\"}",
        "/call stamp {\"titel\": \"C\"}",
        "/call stam",
        "/state",
        "/undo",
        "/undo",
        "/state",
        "/call archive",
        "/results",
        "/nonsense",
    ];
    let ran = chat(&folder, &server, &lines);
    assert_has(
        &ran,
        &[
            "(nothing to undo)",
            "  stamp(title: string, colour?: string)\n      Stamp a paper.\n",
            "  < Stamped: A\n",
            "  ! ValueError: there is no pink ink at ",
            "  ! the model is told: Error: Invalid parameters",
            "(unknown tool `stam`; did you mean `stamp`?)",
            "\"A\"\n",
            "(taken back)\n(nothing to undo)\n",
            "\"stamped\": []",
            "  < paper 1\n    paper 2\n",
            "    … 14 more lines; /results shows them\n",
            "  paper 20\n",
            "(unknown command /nonsense; /help lists the commands)",
        ],
    );
    assert!(script.asked().is_empty(), "no model is asked");
}

#[test]
fn a_reset_begins_a_new_conversation_and_an_undone_turn_is_forgotten() {
    let folder = CharacterFolder::with("clerk", CLERK);
    let (script, server) = Script::start(["One.", "Two.", "Three."].map(text));
    let ran = chat(&folder, &server, &["first", "/undo", "second", "/reset", "third"]);
    assert_has(&ran, &["One.\n", "(taken back)", "Two.\n", "(a new conversation)", "Three.\n"]);
    for (request, words) in script.asked().iter().zip(["first", "second", "third"]) {
        let messages = request["messages"].as_array().unwrap();
        assert_eq!((messages.len(), &messages[1]["content"]), (2, &json!(words)), "{messages:?}");
    }
}

#[test]
fn a_character_that_acts_shows_what_it_did_not_say() {
    let folder = CharacterFolder::with("clerk", &CLERK.replace("import json", "REPLY = {\"deliver_text\": False}"));
    let (_script, server) = Script::start([text("Good morning!"), text("")]);
    let ran = chat(&folder, &server, &["Hello", "Hm"]);
    assert_has(&ran, &["(the model said, and REPLY does not deliver: Good morning!)", "(no reply)"]);
}

#[test]
fn what_is_not_there_is_named_with_a_remedy() {
    let (empty, folder) = (CharacterFolder::default(), CharacterFolder::with("clerk", CLERK));
    let dead = ModelServer::unused_url();
    for (folder, character, upstream, message) in [
        (&empty, "clerk", None, "create one with: callboard new bard"),
        (&folder, "clark", None, "did you mean \"clerk\"?"),
        (&folder, "bard", None, "there are: clerk"),
        (&folder, "clerk", Some(&dead), "cannot be reached"),
    ] {
        let mut arguments = vec!["chat", character, "--characters", folder.path()];
        arguments.extend(upstream.iter().flat_map(|url| ["--upstream", url.as_str()]));
        let ran = run(folder.path().as_ref(), &arguments, "Hello\n");
        assert!(!ran.succeeded && ran.text.contains(message), "{}", ran.text);
        assert_eq!(ran.text.trim().lines().count(), 1, "{}", ran.text);
    }
}

/// Nothing of a chat is stored, and no store is needed.
#[test]
fn a_chat_leaves_no_files() {
    let folder = CharacterFolder::with("clerk", CLERK);
    let (_script, server) = Script::start([text("Hello.")]);
    assert_has(&chat(&folder, &server, &["Hello"]), &["Hello.\n"]);
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.iter().all(|name| name == "clerk.py" || name == "__pycache__"), "{files:?}");
}
