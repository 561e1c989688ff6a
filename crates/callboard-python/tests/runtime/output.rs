//! What characters print.

use crate::harness::{TestHost, call};

const PRINTING: &str = r#"
import logging
import sys

CHARACTER_NAME = "Printer"
INSTRUCTIONS = {}
print("while importing")


def prints(what: str) -> str:
    """Prints."""
    exec(what)
    return "done"


TOOLS = [prints]
TOOL_TIMEOUT_MS = 10_000


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return ""
"#;

#[tokio::test]
async fn lines_reach_the_terminal_under_the_characters_name() {
    let host = TestHost::start();
    let printer = host.load_text(PRINTING).await;
    let rows: [(&str, &[&str]); 7] = [
        ("print('one'); print('two')", &["one", "two"]),
        ("sys.stdout.write('no end')", &["no end"]),
        ("print('é😀')", &["é😀"]),
        ("print('red \\x1b[31m', 'a\\tb')", &["red \\u{1b}[31m a\tb"]),
        ("print('\\ud800')", &["\\ud800"]),
        ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush()", &["\u{fffd}"]),
        ("print('to stderr', file=sys.stderr)", &["to stderr"]),
    ];
    let mut before = host.lines();
    assert_eq!(before, ["[character] while importing"]);
    for (what, expected) in rows {
        let arguments = serde_json::json!({"what": what}).to_string();
        assert_eq!(call(&printer, "prints", &arguments).await.result.as_deref(), Ok("done"), "{what}");
        let lines = host.lines();
        let expected: Vec<String> = expected.iter().map(|line| format!("[character] {line}")).collect();
        assert_eq!(lines.strip_prefix(before.as_slice()).unwrap(), expected, "{what}");
        before = lines;
    }
}

#[tokio::test]
async fn what_was_printed_before_a_kill_is_not_lost() {
    let host = TestHost::start();
    let printer = host.load_text(&PRINTING.replace("10_000", "1_000")).await;
    let arguments = r#"{"what":"print('before the loop')\nwhile True: pass"}"#;
    let text = call(&printer, "prints", arguments).await.result.unwrap_err().to_model_text();
    assert_eq!(text, "Error: Tool execution timed out");
    assert_eq!(host.lines().last().unwrap(), "[character] before the loop");
}

#[tokio::test]
async fn a_traceback_is_for_the_log() {
    let host = TestHost::start();
    let printer = host.load_text(PRINTING).await;
    let failure = call(&printer, "prints", r#"{"what":"raise KeyError('north')"}"#).await.result.unwrap_err();
    let callboard_python::CallError::Tool(callboard_python::ToolError::Raised { message, traceback, .. }) = &failure
    else {
        panic!("{failure:?}");
    };
    assert_eq!(message, "'north'");
    assert!(traceback.contains("character.py\", line 12, in prints"), "{traceback}");
    assert!(!traceback.contains("<callboard>"), "{traceback}");
}
