//! What authors of characters see: `check`, `try`, the list of characters and the log.

use std::process::{Command, Output};

use callboard_test_support::{CharacterFolder, Program, Script, ask, binary, calls, post, text};
use serde_json::{Value, json};

/// A character whose tools and methods are filled in.
fn character(tools: &str, methods: &str) -> String {
    format!(
        "CHARACTER_NAME = \"Sample\"\nINSTRUCTIONS = {{}}\n{tools}\n\n\nclass PromptGenerator:\n    def __init__(self, \
         instructions):\n        pass\n\n    def make_system_prompt(self):\n        return \"Be brief.\"\n{methods}"
    )
}

/// A tool `roll` with these parameters; its properties are on line 4 of the file.
fn with_parameters(parameters: &str) -> String {
    let tools = format!(
        "TOOLS = [{{\"type\": \"function\", \"function\": {{\"name\": \"roll\", \"description\": \"Roll a die\",\n    \
         \"parameters\": {parameters}}}}}]"
    );
    character(&tools, "\n    def roll(self, **arguments):\n        return str(arguments)\n")
}

fn run(folder: &CharacterFolder, arguments: &[&str]) -> (String, bool) {
    let mut command = Command::new(binary());
    let Output { status, stdout, stderr } =
        command.args(arguments).args(["--characters", folder.path()]).output().unwrap();
    (String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr), status.success())
}

fn check(code: &str) -> (String, bool) {
    let folder = CharacterFolder::with("sample", code);
    let Output { status, stdout, .. } = Command::new(binary()).args(["check", folder.path()]).output().unwrap();
    (String::from_utf8_lossy(&stdout).replace(folder.path(), "characters"), status.success())
}

#[test]
fn a_schema_that_no_turn_could_use_is_refused_when_it_is_loaded() {
    let rows = [
        (r#"{"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}"#, "/properties/a/pattern"),
        (r#"{"type": "object", "properties": {"a": {"type": "integer", "minimum": "one"}}}"#, "\"one\" is not of type"),
        (r#"{"type": "object", "properties": {"a": {"type": "string", "minLength": -1}}}"#, "/properties/a/minLength"),
        (r#"{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "a"]}"#, "non-unique"),
        (r#"{"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0}}}"#, "/properties/a/multipleOf"),
        (r#"{"type": "object", "properties": {}, "$schema": "https://example.com/none"}"#, "https://example.com/none"),
        (
            r#"{"type": "object", "properties": {"a": {"type": "integer", "default": "six"}}}"#,
            "tool `roll`: the default of parameter `a` does not fit: \"six\" is not of type \"integer\"",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "string", "enum": ["x"], "default": "y"}}}"#,
            "\"y\" is not one of \"x\"",
        ),
    ];
    for (parameters, words) in rows {
        let (page, is_ok) = check(&with_parameters(parameters));
        assert!(!is_ok && page.contains("characters/sample.py:4: ") && page.contains("tool `roll`"), "{page}");
        assert!(page.contains(words) && page.ends_with("0 characters OK, 1 failed\n"), "{words}\n{page}");
    }
}

/// What `check` accepts can be called; so can tools that only get_tools() returns.
#[test]
fn what_loads_works() {
    let undo = "UNDO = True\n\n\ndef undo() -> str:\n    \"\"\"Undo.\"\"\"\n    return \"\"\n\n\nTOOLS = [undo]";
    let (page, is_ok) = check(&character(undo, ""));
    assert!(!is_ok && page.contains("two tools are named \"undo\"; names must be unique; rename the tool"), "{page}");
    let offered = r#"
    def get_tools(self):
        parameters = {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}
        return [{"type": "function", "function": {"name": "roll", "description": "Roll", "parameters": parameters}}]

    def roll(self, a=""):
        return a
"#;
    let (page, is_ok) = check(&character("", offered));
    assert!(!is_ok && page.contains("sample.py:13: the schema of tool `roll` is not a valid JSON Schema"), "{page}");
    let (page, is_ok) = check(&character("", &offered.replace("\"(\"", "\"^[a-z]*$\"")));
    assert!(is_ok && page.contains("Sample: roll\n"), "{page}");
}

const DOORKEEPER: &str = r#"
    def get_tools(self):
        if self.is_open:
            schema = {"type": "object", "properties": {"door": {"type": "string", "pattern": "("}}}
            return [{"type": "function", "function": {"name": "shut", "description": "Shut it", "parameters": schema}}]
        return [PromptGenerator.open]

    def open(self) -> str:
        """Open the door."""
        self.is_open = True
        return "open"

    def shut(self, **_):
        self.is_open = False
        return "shut"

    is_open = False
"#;

#[test]
fn tools_of_get_tools_are_listed_and_tried_and_their_faults_are_the_characters() {
    let folder = CharacterFolder::with("door", &character("", DOORKEEPER));
    let (page, is_ok) = run(&folder, &["try", "door", "open"]);
    assert!(is_ok && page.starts_with("the model is told: open\nstate: {\"is_open\":true}\ntook "), "{page}");
    let (script, server) = Script::start([calls("", &[("open", json!({}))]), text("It is open.")]);
    let program = folder.serve(&server);
    let listed = ask(&program.address, "GET", "/v1/characters", &[], "").json();
    assert_eq!(listed["data"][0]["tools"], json!(["open"]));
    let shown = ask(&program.address, "GET", "/v1/characters/door", &[], "").json();
    assert_eq!(shown["tools"][0]["description"], "Open the door.");
    let user = |words: &str| json!({"role": "user", "content": words});
    let first = post(&program.address, &json!({"model": "door", "messages": [user("Open.")]}).to_string()).ok();
    let messages = json!([user("Open."), first["choices"][0]["message"], user("Shut.")]);
    let refused = post(&program.address, &json!({"model": "door", "messages": messages}).to_string());
    assert_eq!((refused.status, refused.error("code")), (500, "character_failed".to_owned()), "{refused:?}");
    let words = "get_tools() of the character \"door\" cannot be offered: the schema of tool `shut`";
    assert!(refused.error("message").starts_with(words), "{refused:?}");
    assert_eq!(script.asked().len(), 2);
}

const CLUMSY: &str = r#"
    def get_names(self):
        return {"units": ["Terminator Squad", "Carnifex"]}

    def stumble(self, step: str) -> str:
        """Stumble."""
        return _fall(step)

    def forget(self) -> str:
        """Forget."""

    def pack(self) -> str:
        """Pack."""
        return {"a": 1}

    def dawdle(self, milliseconds: int) -> str:
        """Dawdle."""
        import time
        time.sleep(milliseconds / 1000)
        return "here"

    def ramble(self, length: int) -> str:
        """Ramble."""
        return "x" * length

    def name(self, unit):
        return unit


def _fall(step):
    raise ValueError("fell over " + step)


TOOLS = [PromptGenerator.stumble, PromptGenerator.forget, PromptGenerator.pack, PromptGenerator.dawdle,
         PromptGenerator.ramble, {"type": "function", "function": {"name": "name", "description": "Name it",
         "parameters": {"type": "object", "properties": {"unit": {"type": "string", "x-names": "units"}}, "required": ["unit"]}}}]
TOOL_TIMEOUT_MS = 5000
"#;

/// Each row: the tool, its arguments, whether it succeeds, and what is shown, in order.
const TRIED: &[(&str, &str, bool, &[&str])] = &[
    (
        "stumble",
        r#"{"step": "a root"}"#,
        false,
        &[
            "failed: ValueError: fell over a root at characters/clumsy.py:42 in _fall\n",
            "the model is told: Error: ValueError: fell over a root\n",
            "took ",
            "\nTraceback (most recent call last):\n  File \"characters/clumsy.py\", line 18, in stumble\n",
            "line 42, in _fall\n    raise ValueError(\"fell over \" + step)\nValueError: fell over a root\n",
        ],
    ),
    (
        "forget",
        "{}",
        false,
        &[
            "failed: it returned None, not text; is a `return` missing?\n",
            "the model is told: Error: Tool must return string\n",
        ],
    ),
    ("pack", "{}", false, &["failed: it returned a value of the type dict, not text; return json.dumps(…)\n"]),
    (
        "dawdle",
        r#"{"milliseconds": 60000}"#,
        false,
        &[
            "failed: it was stopped after 5",
            " ms, its limit is 5000 ms; make it faster, or write TOOL_TIMEOUT_MS = {\"dawdle\": 10000}\n",
        ],
    ),
    (
        "dawdle",
        r#"{"milliseconds": 4100}"#,
        true,
        &["warning: it took ", " ms of its 5000 ms; make it faster, or raise TOOL_TIMEOUT_MS\n"],
    ),
    (
        "ramble",
        r#"{"length": "1200"}"#,
        true,
        &[
            "repaired: number_from_text\n",
            "arguments: {\"length\":1200}\n",
            "cut: 1200 characters, of which a model gets 1000; ",
            "x… [cut: 1000 of 1200 characters]\n",
        ],
    ),
    (
        "name",
        r#"{"unit": "terminators"}"#,
        true,
        &["arguments: {\"unit\":\"Terminator Squad\"}\n", "the model is told: Terminator Squad\n"],
    ),
    ("name", r#"{"unit": "zebra"}"#, false, &["the model is told: Error: Invalid parameters - "]),
    (
        "name",
        r#"{"unit": "Carnifex", "colour": "red"}"#,
        false,
        &["the model is told: Error: Invalid parameters - ", "'colour' was unexpected"],
    ),
    ("stumbel", "{}", false, &["unknown tool `stumbel`; did you mean `stumble`?"]),
];

#[test]
fn a_tried_tool_shows_its_author_what_the_model_is_told_and_why() {
    let folder = CharacterFolder::with("clumsy", &character("", CLUMSY));
    for (tool, arguments, succeeds, expected) in TRIED {
        let (page, is_ok) = run(&folder, &["try", "clumsy", tool, arguments]);
        let page = page.replace(folder.path(), "characters");
        assert_eq!(is_ok, *succeeds, "{page}");
        let mut rest = page.as_str();
        for words in *expected {
            let at = rest.find(words).unwrap_or_else(|| panic!("{words:?} is not in {rest:?} of\n{page}"));
            rest = rest.get(at + words.len()..).unwrap();
        }
        assert!(page.matches("the model is told: ").count() <= 1, "{page}");
        assert!(!page.contains("callboard_host") && !page.contains("<callboard>"), "{page}");
    }
}

#[test]
fn the_log_names_the_authors_line() {
    let folder = CharacterFolder::with("clumsy", &character("", CLUMSY));
    let (_script, server) = Script::start([
        calls("", &[("stumble", json!({"step": "a root"})), ("dawdle", json!({"milliseconds": 4100}))]),
        text("Ouch."),
    ]);
    let arguments = ["--upstream", &server.url, "--characters", folder.path(), "--log", "info"];
    let (program, log) = Program::start_with_log(&arguments, &[]);
    let body = json!({"model": "clumsy", "messages": [{"role": "user", "content": "Walk."}]});
    post(&program.address, &body.to_string()).ok();
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let lines: Vec<String> = log.iter().collect();
    let line = |words: &str| lines.iter().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{lines:#?}"));
    let failed = line("Tool execution error");
    for part in ["ERROR", "tool=stumble", "ValueError", "fell over a root", "clumsy.py:42 in _fall"] {
        assert!(failed.contains(part), "{part}: {failed}");
    }
    let slow = line("nearly exceeded its deadline");
    assert!(slow.contains("WARN") && slow.contains("took_ms=4") && slow.contains("limit_ms=5000"), "{slow}");
}

/// The limit on a character's arguments is its own, and its error names where it is set.
#[test]
fn a_limit_is_named_where_it_is_set() {
    let long = json!({"step": "x".repeat(3000)});
    let told = |limits: &str| {
        let folder = CharacterFolder::with("clumsy", &character(limits, CLUMSY));
        let (page, is_ok) = run(&folder, &["try", "clumsy", "stumble", &long.to_string()]);
        assert!(!is_ok);
        page
    };
    let own = told("LIMITS = {\"arguments\": 100}");
    assert!(own.contains("are 3011 bytes; the limit LIMITS[\"arguments\"] is 100"), "{own}");
    let usual = told("");
    assert!(usual.contains("are 3011 bytes; the limit stage.arguments_bytes is 2048"), "{usual}");
    let (script, server) = Script::start([calls("", &[("stumble", long)]), text("Ouch.")]);
    let folder = CharacterFolder::with("clumsy", &character("", CLUMSY));
    let program = folder.serve(&server);
    let body = json!({"model": "clumsy", "messages": [{"role": "user", "content": "Walk."}]});
    post(&program.address, &body.to_string()).ok();
    let asked: Vec<Value> = script.asked();
    let result = asked[1]["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert!(result.contains("the limit stage.arguments_bytes is 2048"), "{result}");
}
