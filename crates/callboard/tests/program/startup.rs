//! The start of the program: what it prints, and what may happen before it listens.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::traces::COUNTER;
use callboard_test_support::{CharacterFolder, Program, ask, binary, greeting_server};
use tempfile::TempDir;

/// Starts the program in a folder, without waiting.
fn start(folder: &TempDir, arguments: &[&str]) -> Child {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(folder.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("CALLBOARD_STORE", "sqlite::memory:").env("CALLBOARD_API_KEYS", "one");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line
}

fn end(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_first_line_names_an_address_that_clients_can_use() {
    let folder = TempDir::new().unwrap();
    let upstream = greeting_server().url;
    let mut child = start(&folder, &["--listen", "0.0.0.0:0", "serve", "--upstream", &upstream]);
    let line = first_line(&mut child);
    let address = line.trim().split("listening on http://").nth(1).unwrap_or_else(|| panic!("{line}")).to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    assert_eq!(ask(&address, "GET", "/v1/models", &["authorization: Bearer one"], "").status, 200);
    end(child);
}

const WAITS_FOR_A_PIPE: &str = r#"
import os
open(os.path.join(os.path.dirname(__file__), "pipe")).read()
CHARACTER_NAME = "Late"
INSTRUCTIONS = {}

class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "You are late."
"#;

#[test]
fn a_hangup_before_the_program_listens_does_not_end_it() {
    let folder = TempDir::new().unwrap();
    let characters = folder.path().join("characters");
    std::fs::create_dir(&characters).unwrap();
    std::fs::write(characters.join("late.py"), WAITS_FOR_A_PIPE).unwrap();
    let pipe = characters.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = start(&folder, &["--listen", "127.0.0.1:0"]);
    // The pipe opens when the character reads it: the program is loading now.
    let opened = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    assert!(Command::new("kill").args(["-s", "HUP", &child.id().to_string()]).status().unwrap().success());
    drop(opened);
    assert!(first_line(&mut child).contains("listening on http://127.0.0.1:"));
    end(child);
}

const BROKEN: &str = "CHARACTER_NAME = \"Broken\"\nINSTRUCTIONS = \"none\"\n";

/// A newcomer sees at once what was found and what was not.
#[test]
fn the_start_says_what_was_found() {
    let (server, characters) = (greeting_server(), CharacterFolder::with("counter", COUNTER));
    characters.write("broken", BROKEN);
    let flags = ["--upstream", &server.url, "--characters", characters.path(), "--store", "sqlite::memory:"];
    let program = Program::start(&flags, &[]);
    let address = program.address.clone();
    program.terminate();
    let printed = program.printed_until_exit().join("\n");
    for line in [
        format!("  page:          http://{address}/  (open it in a browser)"),
        format!("  clients:       http://{address}/v1  (the base URL for any OpenAI client)"),
        format!("  model server:  {} answers, ", server.url),
        format!("  characters:    1 loaded from {}: counter\n", characters.path()),
        "/broken.py:2: INSTRUCTIONS is str; it must be a dict; write INSTRUCTIONS = ".to_owned(),
    ] {
        assert!(printed.contains(&line), "{line}\n{printed}");
    }
}
