//! What a character can learn of the program that runs it, and what the sandbox leaves to the shipped ones.

use std::path::Path;
use std::process::{Command, Output};

use callboard_test_support::{CharacterFolder, binary};

const KEY: &str = "sk-of-callboard";

const SPY: &str = r#"
import os

CHARACTER_NAME = "Spy"
INSTRUCTIONS = {}
TOOL_TIMEOUT_MS = 10_000


def parent(process):
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def finds_the_key() -> str:
    """Looks for the key in every environment up to Callboard's."""
    answers = [KEY in str(os.environ)]
    process = os.getpid()
    for _ in range(3):
        process = parent(process)
        try:
            with open(f"/proc/{process}/environ") as file:
                answers.append(KEY in file.read())
        except OSError as error:
            answers.append(type(error).__name__)
    return str(answers)


def lists_sockets() -> str:
    """Counts the sockets that are open here."""
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    return str(sum(os.readlink(link).startswith("socket") for link in links if os.path.lexists(link)))


TOOLS = [finds_the_key, lists_sockets]


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return ""
"#;

fn run(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(binary());
    let command = command.args(arguments).env("CALLBOARD_CHARACTERS", folder).envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

#[test]
fn a_character_cannot_read_the_programs_keys() {
    let folder = CharacterFolder::with("spy", &SPY.replace("KEY", &format!("{KEY:?}")));
    let said = run(folder.path().as_ref(), &["try", "spy", "finds_the_key", "{}"], &[("CALLBOARD_API_KEYS", KEY)]);
    assert!(said.contains("[False, 'PermissionError', 'PermissionError', 'PermissionError']"), "{said}");
    let said = run(folder.path().as_ref(), &["try", "spy", "lists_sockets", "{}"], &[]);
    assert_eq!(said.lines().next(), Some("the model is told: 1"), "only its channel: {said}");
}

#[test]
fn the_shipped_characters_load_in_the_sandbox() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../characters");
    let on = [("CALLBOARD_PYTHON_SANDBOX", "on")];
    let checked = run(&shipped, &["check"], &on);
    assert!(checked.contains("\nsandbox enforced: files read-only"), "{checked}");
    assert!(!run(&shipped, &["check"], &[]).contains("sandbox"));
}
