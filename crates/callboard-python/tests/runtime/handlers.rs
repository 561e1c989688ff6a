//! `handle_tool_call` in all the ways that Python has to choose a function by its name.

use std::fs;

use callboard_python::Character;

use crate::harness::{TestHost, call, scratch};

const HEAD: &str = r#"
CHARACTER_NAME = "Dispatcher"
INSTRUCTIONS = {}


def described(name, properties=None):
    parameters = {"type": "object", "properties": properties or {}}
    return {"type": "function", "function": {"name": name, "description": "The tool " + name, "parameters": parameters}}


TOOLS = [described("roll", {"sides": {"type": "integer"}}), described("flip")]


class PromptGenerator:
    def __init__(self, instructions):
        self._table = {"roll": self._roll, "flip": lambda: "heads"}

    def make_system_prompt(self):
        return "Be brief."

    def _roll(self, sides=6):
        return f"{sides} of {sides}"
"#;

/// A handler, and what its `roll` and `flip` return.
const HANDLERS: &[(&str, [&str; 2])] = &[
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        return getattr(self, "do_" + tool_name)(**tool_input)

    do_roll = _roll

    def do_flip(self):
        return "tails"
"#,
        ["6 of 6", "tails"],
    ),
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        return self._table[tool_name](**tool_input)
"#,
        ["6 of 6", "heads"],
    ),
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        print(f"{tool_name} {tool_input}")
        tool_input = tool_input or {}
        tool = self._table.get(tool_name)
        if tool is None:
            return f"Unknown tool: {tool_name}"
        return tool(**tool_input)
"#,
        ["6 of 6", "heads"],
    ),
    (
        r#"
    async def handle_tool_call(self, tool_name, tool_input):
        return await dispatch(self, tool_name, tool_input)


async def dispatch(self, name, arguments):
    match_name = name.lower()
    if match_name == "roll":
        return self._roll(**arguments)
    if match_name == "flip":
        return "edge"
    raise ValueError(f"Unknown tool: {name}")
"#,
        ["6 of 6", "edge"],
    ),
    // The methods have the tools' names, but what they return is not text: the handler makes it text.
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        return str(getattr(self, tool_name)(**tool_input))

    def roll(self, sides):
        return [sides]

    def flip(self):
        return {"side": 1}
"#,
        ["[6]", "{'side': 1}"],
    ),
    // They take the arguments as one dict.
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        return getattr(self, tool_name)(tool_input)

    def roll(self, arguments):
        return str(arguments)

    flip = roll
"#,
        ["{'sides': 6}", "{}"],
    ),
    // The handler knows one of them; the other has a method.
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        if tool_name == "roll":
            return "handled"
        raise ValueError(tool_name)

    def flip(self):
        return "a method"
"#,
        ["handled", "a method"],
    ),
    // It does the same for every name.
    (
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        return "Logged: " + str(tool_input)
"#,
        ["Logged: {'sides': 6}", "Logged: {}"],
    ),
];

async fn results(character: &Character) -> [String; 2] {
    let roll = call(character, "roll", r#"{"sides":6}"#).await.result;
    let flip = call(character, "flip", "{}").await.result;
    [roll, flip].map(|result| result.unwrap_or_else(|failure| panic!("{failure}")))
}

#[tokio::test]
async fn any_way_to_choose_a_tool_is_accepted() {
    let host = TestHost::start();
    for (handler, expected) in HANDLERS {
        let character = host.load_text(&format!("{HEAD}{handler}")).await;
        assert_eq!(character.manifest().warnings, [""; 0], "{handler}");
        assert_eq!(results(&character).await, *expected, "{handler}");
    }
}

#[tokio::test]
async fn no_tool_runs_while_its_file_is_loaded() {
    let host = TestHost::start();
    let trace = scratch().join("trace");
    let handler = format!(
        r#"
    def handle_tool_call(self, tool_name, tool_input):
        tool = getattr(self, "mark_" + tool_name, None)
        if tool is None:
            raise KeyError(tool_name)
        tool()
        return tool_name

    def mark_roll(self):
        open({trace:?}, "a").write("x")

    mark_flip = mark_roll
"#
    );
    let character = host.load_text(&format!("{HEAD}{handler}")).await;
    assert!(!trace.exists(), "a tool ran");
    assert_eq!(results(&character).await, ["roll", "flip"]);
    assert_eq!(fs::read_to_string(&trace).unwrap(), "xx");
}

#[tokio::test]
async fn what_cannot_be_seen_is_accepted_with_a_warning() {
    let host = TestHost::start();
    let rows = [
        (
            "who = tool_input.get(\"who\")\n        return getattr(self, \"do_\" + tool_name)(who)",
            "it looks at the arguments before it refuses a name",
        ),
        ("return tool_name.title() and \"done\"", "it returns done for any name"),
        ("while tool_name:\n            pass", "it does not answer in time"),
    ];
    for (body, words) in rows {
        let handler = format!("\n    def handle_tool_call(self, tool_name, tool_input):\n        {body}\n");
        let character = host.load_text(&format!("{HEAD}{handler}")).await;
        let warnings = &character.manifest().warnings;
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        for (warning, tool) in warnings.iter().zip(["roll", "flip"]) {
            let expected = format!("whether handle_tool_call implements tool `{tool}` cannot be seen: {words}");
            assert!(warning.starts_with(&expected), "{warning}");
        }
    }
}

#[tokio::test]
async fn nothing_of_the_probe_is_left_behind() {
    let host = TestHost::start();
    let handler = r#"
    def handle_tool_call(self, tool_name, tool_input):
        import os, time
        if os.fork() == 0:
            time.sleep(1000)
        return self._table[tool_name](**tool_input)
"#;
    let before = host.processes().len();
    let character = host.load_text(&format!("{HEAD}{handler}")).await;
    // The zygote; neither the probe nor what it forked.
    host.wait_for_at_most(before + 1).await;
    drop(character);
}
