//! The commands of authors, as they are typed: what they print, and how they exit.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use callboard_test_support::binary;
use tempfile::TempDir;

/// What a command printed, and whether it succeeded.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) succeeded: bool,
    pub(super) text: String,
}

/// Runs a command in a folder, with these lines typed.
pub(super) fn run(folder: &Path, arguments: &[&str], typed: &str) -> Ran {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that fails at once does not read it.
    let _ = child.stdin.take().unwrap().write_all(typed.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    Ran { succeeded: output.status.success(), text }
}

fn works(folder: &TempDir, arguments: &[&str]) -> String {
    let ran = run(folder.path(), arguments, "");
    assert!(ran.succeeded, "{arguments:?}: {}", ran.text);
    ran.text
}

fn fails(folder: &TempDir, arguments: &[&str]) -> String {
    let ran = run(folder.path(), arguments, "");
    assert!(!ran.succeeded, "{arguments:?}: {}", ran.text);
    ran.text
}

#[test]
fn a_new_character_works_and_its_scenarios_pass() {
    let folder = TempDir::new().unwrap();
    let written = works(&folder, &["new", "Élise"]);
    assert!(written.starts_with("wrote characters/elise.py and characters/elise.scenario.toml"), "{written}");
    let checked = works(&folder, &["check"]);
    assert!(checked.contains("elise") && checked.contains("Élise: take_note"), "{checked}");
    let tested = works(&folder, &["test", "--strict"]);
    assert!(tested.ends_with("2 passed, 0 failed\n"), "{tested}");
    let refused = fails(&folder, &["new", "élise"]);
    assert!(refused.contains("characters/elise.py already exists"), "{refused}");
}

/// The lines that `new` suggests are run as they stand.
#[test]
fn the_next_steps_of_a_new_character_work() {
    let folder = TempDir::new().unwrap();
    let written = works(&folder, &["--characters", "my cast", "new", "bard"]);
    assert!(written.contains("callboard check --characters 'my cast'"), "{written}");
    let path = format!("{}:{}", binary().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let steps: Vec<&str> = written.lines().filter_map(|line| line.trim().split("   ").next()).skip(1).collect();
    assert_eq!(steps.len(), 4, "{written}");
    for step in steps {
        let mut shell = Command::new("sh");
        shell.args(["-c", step]).current_dir(folder.path()).env("PATH", &path).stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{step}: {output:?}");
    }
}

const CALL: &str = "model = [{ calls = [{ tool = \"TOOL\", arguments = ARGUMENTS }] }, { text = \"Done.\" }]\n";

fn scenario(tool: &str, arguments: &str, expected: &str) -> String {
    let call = CALL.replace("TOOL", tool).replace("ARGUMENTS", arguments);
    format!("[[scenario]]\nname = \"one\"\n[[scenario.turn]]\nuser = \"Hi\"\n{call}{expected}\n")
}

#[test]
fn a_scenario_that_shows_nothing_is_not_passed() {
    let folder = TempDir::new().unwrap();
    works(&folder, &["new", "bard"]);
    let play = |text: &str| {
        std::fs::write(folder.path().join("characters/bard.scenario.toml"), text).unwrap();
        run(folder.path(), &["test"], "")
    };
    let note = r#"{ note = "tea" }"#;
    for (text, complaint) in [
        (scenario("take_noot", note, ""), "unknown tool `take_noot`; did you mean `take_note`?"),
        (scenario("take_noot", note, "results = [\"\"]"), "unknown tool `take_noot`"),
        (scenario("take_noot", note, "results = [\"Noted\"]"), "did you mean `take_note`?"),
        (
            scenario("take_note", r#"{ noot = "tea" }"#, ""),
            "the call of take_note failed, and `results` does not expect it",
        ),
        (scenario("take_note", note, "says = \"\""), "expected nothing in the reply, got \"Done.\""),
        (String::new(), "the file has no scenarios: begin one with [[scenario]]"),
        ("[[scenario]]\nname = \"one\"\n".to_owned(), "the scenario has no turns"),
        ("[[scenario]]\nnaem = \"one\"\n".to_owned(), "unknown field `naem`"),
    ] {
        let played = play(&text);
        assert!(!played.succeeded && played.text.contains(complaint), "{text}\n{}", played.text);
        assert!(played.text.ends_with("0 passed, 1 failed\n"), "{}", played.text);
    }
    for text in [
        scenario("take_note", note, "results = [\"Noted\"]\nprints = \"noted: tea\""),
        scenario("take_noot", note, "results = [\"Error: Unknown tool: take_noot\"]"),
    ] {
        let played = play(&text);
        assert!(played.succeeded && played.text.ends_with("1 passed, 0 failed\n"), "{text}\n{}", played.text);
    }
}

#[test]
fn a_folder_without_scenarios_says_so_and_fails_when_strict() {
    let folder = TempDir::new().unwrap();
    works(&folder, &["new", "bard"]);
    std::fs::remove_file(folder.path().join("characters/bard.scenario.toml")).unwrap();
    let line = "none  bard: no scenarios; write them in bard.scenario.toml, beside bard.py";
    for (arguments, succeeds) in [(&["test"][..], true), (&["test", "--strict"], false)] {
        let tested = run(folder.path(), arguments, "");
        assert!(tested.text.contains(line) && tested.text.ends_with("0 passed, 0 failed\n"), "{}", tested.text);
        assert_eq!(tested.succeeded, succeeds, "{arguments:?}");
    }
    let empty = TempDir::new().unwrap();
    let message = "no characters in characters; create one with: callboard new bard";
    assert!(works(&empty, &["test"]).contains(message));
    assert!(fails(&empty, &["test", "--strict"]).contains(message));
}
