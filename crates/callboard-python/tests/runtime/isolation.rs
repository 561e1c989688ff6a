//! What a character can reach of the program, of other conversations, and of its own deadline.

use std::time::Duration;

use callboard_python::{CallOutcome, Character, Limits};

use crate::harness::{TestHost, call, wait_for_exit};

const PLACES: &[&str] = &[
    "builtins",
    "another module",
    "new module",
    "environment",
    "folder",
    "list",
    "name",
    "class",
    "function",
    "default",
    "timer",
];

fn one_worker() -> TestHost {
    TestHost::with_limits(Limits { workers_per_character: 1, ..Limits::default() })
}

async fn text(character: &Character, tool: &str, arguments: serde_json::Value) -> String {
    outcome_text(call(character, tool, &arguments.to_string()).await)
}

fn outcome_text(outcome: CallOutcome) -> String {
    outcome.result.unwrap_or_else(|failure| failure.to_model_text())
}

#[tokio::test]
async fn what_a_call_leaves_in_the_interpreter_does_not_reach_the_next() {
    let host = one_worker();
    let prying = host.load("hostile/prying.py").await;
    for place in PLACES {
        let worker = text(&prying, "leaves", serde_json::json!({ "where": place })).await;
        assert_eq!(text(&prying, "finds", serde_json::json!({})).await, "", "{place}");
        wait_for_exit(worker.parse().unwrap());
    }
}

/// Its source has none of the words for which everything is compared.
const PLAIN: &str = r#"
import json
import math
import os
import signal

CHARACTER_NAME = "Plain"
INSTRUCTIONS = {}
NOTES = {"all": []}


def shared_list():
    items = []
    return items, items.append


# Named nowhere else, but reached by the other.
SHARED, add_to_it = shared_list()
TOOL_TIMEOUT_MS = 10_000


def leaves(where: str) -> str:
    """Leaves something."""
    if where == "module":
        math.secret = "s"
    elif where == "submodule":
        json.decoder.secret = "s"
    elif where == "list":
        NOTES["all"].append("s")
    elif where == "function":
        leaves.secret = "s"
    elif where == "class":
        PromptGenerator.secret = "s"
    elif where == "shared":
        add_to_it("s")
    elif where == "environment":
        os.environ["SECRET"] = "s"
    elif where == "folder":
        os.chdir("/")
    elif where == "timer":
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 600)
    return "left"


def finds() -> str:
    """Looks for what was left."""
    left = [hasattr(owner, "secret") for owner in (math, json.decoder, leaves, PromptGenerator)]
    left += [add_to_it.__self__, "SECRET" in os.environ, os.getcwd() == "/", signal.getitimer(signal.ITIMER_REAL)[0]]
    return str(any(left) or bool(NOTES["all"]))


TOOLS = [leaves, finds]


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return ""
"#;

#[tokio::test]
async fn what_a_plain_character_changes_is_found_by_name() {
    let host = one_worker();
    let plain = host.load_text(PLAIN).await;
    for place in ["module", "submodule", "list", "function", "class", "shared", "environment", "folder", "timer"] {
        assert_eq!(text(&plain, "leaves", serde_json::json!({ "where": place })).await, "left");
        assert_eq!(text(&plain, "finds", serde_json::json!({})).await, "False", "{place}");
    }
}

#[tokio::test]
async fn a_worker_that_imported_a_module_is_kept() {
    let host = one_worker();
    let prying = host.load("hostile/prying.py").await;
    let worker = text(&prying, "imports", serde_json::json!({})).await;
    assert_eq!(text(&prying, "leaves", serde_json::json!({ "where": "nowhere" })).await, worker);
}

#[tokio::test]
async fn a_call_cannot_move_its_deadline() {
    let host = one_worker();
    let prying = host.load("hostile/prying.py").await;
    for how in ["now", "nothing"] {
        let outcome = call(&prying, "resets_its_clock", &serde_json::json!({ "how": how }).to_string()).await;
        // Otherwise at least the ten seconds that a worker may take to start a call.
        assert!(outcome.took < Duration::from_secs(9), "{how}: {outcome:?}");
        assert_eq!(outcome_text(outcome), "Error: Tool execution timed out", "{how}");
    }
}

#[tokio::test]
async fn a_worker_has_no_files_but_its_own() {
    let host = TestHost::start();
    let _other = host.load("narrator.py").await;
    let prying = host.load("hostile/prying.py").await;
    let _listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    assert_eq!(text(&prying, "lists_files", serde_json::json!({})).await, "/dev/null /memfd pipe pipe socket");
}

#[tokio::test]
async fn characters_see_the_usual_variables_and_those_of_the_settings() {
    const SEEN: &str = "CARGO_MANIFEST_DIR";
    assert!(std::env::var_os(SEEN).is_some(), "cargo sets it");
    for named in [None, Some(SEEN)] {
        let host = TestHost::configured(|settings| settings.environment.extend(named.map(str::to_owned)));
        let prying = host.load("hostile/prying.py").await;
        let seen = text(&prying, "lists_variables", serde_json::json!({})).await;
        let names: Vec<&str> = seen.split(' ').collect();
        assert_eq!(names.contains(&SEEN), named.is_some(), "{seen}");
        assert!(names.contains(&"PATH") && !names.contains(&"NEXTEST"), "{seen}");
    }
}

#[tokio::test]
async fn processes_of_other_characters_cannot_be_read() {
    let host = TestHost::start();
    let prying = host.load("hostile/prying.py").await;
    for what in ["environ", "mem"] {
        let said = text(&prying, "reads_its_parent", serde_json::json!({ "what": what })).await;
        assert!(said.starts_with("Error: PermissionError"), "{what}: {said}");
    }
}
