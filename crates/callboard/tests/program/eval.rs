//! `callboard eval`: cases of characters, and BFCL questions through the gateway.

use std::path::{Path, PathBuf};
use std::process::Command;

use callboard_test_support::{ModelServer, Script, calls, text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The least accuracy of the rehearsal model on the cases for Grimlog.
const REHEARSAL_FLOOR: f64 = 80.0;

const CASES: &str = "tests/characters/grimlog_cases.json";

const COUNTER: &str = r#"
CHARACTER_NAME = "Counter"
INSTRUCTIONS = {"instruction_prompt": "You count."}
UNDO = True

class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "You count."

    def add(self, number: int = 1) -> str:
        """Add a number to the count."""
        if number < 0:
            raise ValueError("only more")
        self.count += number
        return f"The count is {self.count}."

TOOLS = [PromptGenerator.add]
"#;

/// A folder for the files of a test.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("possible_answer")).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a command at the root of the repository; its output, and whether it succeeded.
fn run(words: &[&str]) -> (String, bool) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callboard"));
    command.args(words).args(["--store", "sqlite::memory:"]).current_dir(repository()).env_remove("OPENAI_BASE_URL");
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (words, output.status.success())
}

/// The figure of a line such as `overall: 82.1 %`.
fn figure(page: &str, name: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{page}"));
    line.trim().split(' ').next().unwrap().parse().unwrap_or_else(|_| panic!("{name} in\n{page}"))
}

fn grimlog_cases() -> Value {
    serde_json::from_str(&std::fs::read_to_string(repository().join(CASES)).unwrap()).unwrap()
}

#[test]
fn the_expected_calls_lead_to_the_expected_state_and_finding() {
    let (page, succeeded) = run(&["eval", "grimlog", "--expected", "--verbose", CASES]);
    assert!(succeeded && page.ends_with("overall: 100.0 %\n"), "{page}");
    assert!((figure(&page, "state accuracy") - 100.0).abs() < 1e-9, "{page}");
    let alternatives = |case: &Value| case["expect"]["calls_any_of"].as_array().map_or(1, Vec::len);
    let count: usize = grimlog_cases()["cases"].as_array().unwrap().iter().map(alternatives).sum();
    let passed: usize = page.lines().filter(|line| line.ends_with("100.0 %")).filter_map(row).sum();
    assert_eq!(passed, count, "{page}");
}

#[test]
fn arguments_are_accepted_or_refused_without_repair() {
    let rows = grimlog_cases()["arguments"].as_array().unwrap().clone();
    assert!(rows.len() >= 8, "{} rows", rows.len());
    for row in rows {
        let (page, succeeded) = run(&["try", "grimlog", row["tool"].as_str().unwrap(), &row["args"].to_string()]);
        assert_eq!(json!(succeeded), row["valid"], "{row}\n{page}");
        assert!(!page.contains("repaired"), "{row}\n{page}");
    }
}

/// The number of cases in a row of the table of kinds.
fn row(line: &str) -> Option<usize> {
    let words: Vec<&str> = line.split_whitespace().collect();
    (words.len() == 5 && !line.contains(':')).then(|| words[1].parse().ok())?
}

#[test]
fn a_missing_state_or_finding_is_detected() {
    let folder = Folder::new();
    let mut file = grimlog_cases();
    let of_kind = |kind: &str| {
        let cases = file["cases"].as_array().unwrap();
        cases.iter().find(|case| case["kind"] == kind).unwrap().clone()
    };
    let (mut points, mut finding, mut undo) = (of_kind("cp"), of_kind("validation"), of_kind("undo"));
    points["expect"]["state"]["cp"]["player"] = json!(7);
    finding["expect"]["validation"]["rule"] = json!("another_rule");
    undo["expect"]["state"]["cp"]["player"] = json!(0);
    file["cases"] = json!([points, finding, undo, of_kind("vp")]);
    let path = folder.write("cases.json", &file.to_string());
    let (page, _) = run(&["eval", "grimlog", "--expected", &path]);
    assert!(page.ends_with("overall: 25.0 %\n"), "{page}");
}

#[test]
fn the_rehearsal_model_keeps_its_accuracy() {
    let (page, succeeded) = run(&["eval", "grimlog", "--model", "rehearsal", CASES]);
    assert!(succeeded && page.lines().last().is_some_and(|line| line.starts_with("overall: ")), "{page}");
    assert!(figure(&page, "overall") >= REHEARSAL_FLOOR, "{page}");
    assert!((figure(&page, "no-call accuracy") - 100.0).abs() < 1e-9, "{page}");
    assert!(figure(&page, "text-only rate") < 1e-9, "{page}");
}

#[test]
fn any_model_is_measured_on_any_character() {
    let folder = Folder::new();
    folder.write("counter.py", COUNTER);
    let add = |number: i64| json!({"tool": "add", "args": {"number": number}});
    let cases = json!({"defaults": {"count": 10}, "cases": [
        {"id": 1, "kind": "right", "say": "two more", "expect": {"calls": [add(2)], "state": {"count": 12}}},
        {"id": 2, "kind": "default", "say": "one more", "expect": {"calls": [add(1)]}},
        {"id": 3, "kind": "talk", "say": "three more", "expect": {"calls": [add(3)]}},
        {"id": 4, "kind": "silence", "say": "hello", "expect": {"no_call": true}},
        {"id": 5, "kind": "too much", "say": "nice day", "expect": {"no_call": true}},
        {"id": 6, "kind": "refused", "say": "take two away", "expect": {"no_call": true}},
        {"id": 7, "kind": "undo", "say": "undo that", "context": {"recent": ["well"], "journal": [add(5)]},
            "expect": {"calls": [{"tool": null, "undo": true, "target": "the last event"}], "state": {"count": 10}}},
        {"id": 8, "kind": "twice", "say": "one and one", "expect": {"calls": [add(1), add(1)]}},
    ]});
    let path = folder.write("cases.json", &cases.to_string());
    let call = |arguments: Value| calls("", &[("add", arguments)]);
    let (script, server) = Script::start([
        call(json!({"number": 2})),
        text("12"),
        call(json!({})),
        text("11"),
        text("Gladly!"),
        text(""),
        call(json!({"number": 1})),
        text("11"),
        call(json!({"number": -2})),
        text("No."),
        calls("", &[("undo", json!({}))]),
        text("Undone."),
        call(json!({"number": 1})),
        text("11"),
    ]);
    let (page, succeeded) =
        run(&["eval", "counter", &path, "-v", "--upstream", &server.url, "--characters", folder.path()]);
    assert!(succeeded, "{page}");
    for (name, expected) in [
        ("tool accuracy", 60.0),
        ("argument accuracy", 100.0),
        ("no-call accuracy", 66.7),
        ("text-only rate", 20.0),
        ("state accuracy", 100.0),
        ("overall", 62.5),
    ] {
        assert!((figure(&page, name) - expected).abs() < 1e-9, "{name} in\n{page}");
    }
    let failed: Vec<&str> =
        page.lines().filter(|line| line.starts_with(['1', '2', '3', '4', '5', '6', '7', '8'])).collect();
    assert_eq!(failed, ["3 talk \"three more\"", "5 too much \"nice day\"", "8 twice \"one and one\""], "{page}");
    let asked = script.asked();
    let undo = asked.iter().find(|request| request["messages"].to_string().contains("undo that")).unwrap();
    let roles: Vec<&str> =
        undo["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user", "user"], "{undo}");
}

#[test]
fn an_unavailable_model_has_no_figures() {
    let folder = Folder::new();
    folder.write("counter.py", COUNTER);
    let path = folder.write("cases.json", r#"{"cases": [{"id": 1, "say": "hello", "expect": {"no_call": true}}]}"#);
    let nowhere = ModelServer::unused_url();
    let words = ["eval", "counter", &path, "--model", "m", "--upstream", &nowhere, "--characters", folder.path()];
    let (page, succeeded) = run(&words);
    assert!(!succeeded && page.contains("not finished") && page.ends_with("overall: 0.0 %\n"), "{page}");
}

fn function(name: &str, properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
    let parameters = json!({"type": "dict", "properties": properties, "required": required});
    json!({"name": name, "description": name, "parameters": parameters})
}

fn line(id: &str, functions: &[Value]) -> String {
    json!({"id": id, "question": [[{"role": "user", "content": id}]], "function": functions}).to_string()
}

#[test]
fn questions_of_bfcl_go_through_the_gateway() {
    let folder = Folder::new();
    let area = function(
        "geometry.area",
        &json!({"base": {"type": "float"}, "sides": {"type": "tuple", "items": {"type": "integer"}}}),
    );
    let weather = function("weather", &json!({"city": {"type": "string"}}));
    let both = [area.clone(), weather.clone()];
    let questions = [
        line("simple_0", &[area]),
        line("simple_1", std::slice::from_ref(&weather)),
        line("multiple_0", &both),
        line("parallel_0", std::slice::from_ref(&weather)),
        line("parallel_1", std::slice::from_ref(&weather)),
        line("irrelevance_0", &both),
        line("irrelevance_1", &[weather]),
    ];
    let city = |names: &[&str]| json!({"weather": {"city": names}});
    let answers = [
        json!({"id": "simple_0", "ground_truth": [{"geometry.area": {"base": [10], "sides": [[3, 4]]}}]}),
        json!({"id": "simple_1", "ground_truth": [city(&["New York, NY", "NYC"])]}),
        json!({"id": "multiple_0", "ground_truth": [city(&["Rome"])]}),
        json!({"id": "parallel_0", "ground_truth": [city(&["Rome"]), city(&["Oslo"])]}),
        json!({"id": "parallel_1", "ground_truth": [city(&["Rome"]), city(&["Oslo"])]}),
    ];
    let path = folder.write("BFCL_mixed.json", &questions.join("\n"));
    let answers: Vec<String> = answers.iter().map(Value::to_string).collect();
    folder.write("possible_answer/BFCL_mixed.json", &answers.join("\n"));
    let weather_in = |city: &str| ("weather", json!({"city": city}));
    let (script, server) = Script::start([
        calls("", &[("geometry_area", json!({"base": 10.0, "sides": [3, 4]}))]),
        calls("", &[weather_in("new york ny")]),
        calls("", &[("geometry_area", json!({"base": 1, "sides": []}))]),
        calls("", &[weather_in("Oslo"), weather_in("Rome")]),
        calls("", &[weather_in("Oslo"), weather_in("Oslo")]),
        text("I cannot do that."),
        calls("", &[weather_in("Rome")]),
    ]);
    let (page, succeeded) = run(&["eval", &path, "--upstream", &server.url]);
    assert!(succeeded, "{page}");
    for (name, expected) in
        [("tool accuracy", 80.0), ("argument accuracy", 75.0), ("no-call accuracy", 50.0), ("overall", 57.1)]
    {
        assert!((figure(&page, name) - expected).abs() < 1e-9, "{name} in\n{page}");
    }
    let asked = script.asked();
    let parameters = &asked[0]["tools"][0]["function"]["parameters"];
    let types =
        ["/type", "/properties/base/type", "/properties/sides/type"].map(|place| parameters.pointer(place).unwrap());
    assert_eq!(types, ["object", "number", "array"], "{parameters}");
}

#[test]
fn questions_are_also_asked_without_callboard() {
    let folder = Folder::new();
    let weather = function("weather", &json!({"city": {"type": "string"}}));
    let questions = ["simple_0", "simple_1", "simple_2"].map(|id| line(id, std::slice::from_ref(&weather)));
    let path = folder.write("BFCL_simple.json", &questions.join("\n"));
    let answers = ["simple_0", "simple_1", "simple_2"]
        .map(|id| json!({"id": id, "ground_truth": [{"weather": {"city": ["Rome"]}}]}).to_string());
    folder.write("possible_answer/BFCL_simple.json", &answers.join("\n"));
    let in_text = || text(r#"<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>"#);
    let native = || calls("", &[("weather", json!({"city": "Rome"}))]);
    let (script, server) = Script::start([in_text(), in_text(), native(), native()]);
    let (page, succeeded) = run(&["eval", "--direct", "--required", "--first", "2", &path, "--upstream", &server.url]);
    assert!(succeeded, "{page}");
    let row = |way: &str| {
        let line = page.lines().find(|line| line.starts_with("simple ") && line.contains(way)).unwrap_or_default();
        line.split_whitespace().skip(2).take(7).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("Callboard"), "2 2 2 of 2 2 2", "{page}");
    assert_eq!(row("direct"), "2 1 1 of 1 1 1", "{page}");
    assert!(script.asked().iter().all(|asked| asked["tool_choice"] == "required"));
}

#[test]
fn invalid_arguments_are_reported() {
    for (words, expected) in [
        (&["eval", CASES][..], "callboard eval CHARACTER FILE"),
        (&["eval", "grimlog", "no_such_file.json"], "cannot read no_such_file.json"),
        (&["eval", "nobody", CASES], "there is no character \"nobody\""),
        (&["eval", "grimlog", "Cargo.toml"], "holds no cases"),
        (&["names", "anything"], "--among"),
        (&["names", "--character", "grimlog", "--list", "colours", "x"], "secondaries"),
    ] {
        let (page, succeeded) = run(words);
        assert!(!succeeded && page.contains(expected), "{words:?}: {page}");
    }
}

#[test]
fn spoken_names_are_resolved_from_the_terminal() {
    let folder = Folder::new();
    let file = folder.write("names.txt", "Termagants\nHormagaunts\nThe Swarmlord\n");
    let (page, succeeded) = run(&["names", "--among", &file, "swarm lord", "gaunts", "bananas"]);
    let lines: Vec<&str> = page.lines().collect();
    assert!(succeeded && lines.len() == 3, "{page}");
    assert!(lines[0].starts_with("swarm lord -> The Swarmlord ("), "{page}");
    assert!(lines[1].starts_with("gaunts -> ambiguous: ") && lines[1].contains("Hormagaunts ("), "{page}");
    assert!(lines[2].starts_with("bananas -> unknown"), "{page}");
    let (page, _) = run(&["names", "--character", "grimlog", "--list", "units", "the terminators", "jeans dealers"]);
    assert!(page.starts_with("the terminators [units] -> Terminator Squad ("), "{page}");
    assert!(page.contains("\njeans dealers [units] -> Genestealers ("), "{page}");
}
