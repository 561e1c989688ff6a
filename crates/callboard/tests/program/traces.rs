//! Traces and statistics: what is recorded of turns and what is not, and how it is listed, exported and counted.

use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use callboard_test_support::{
    CharacterFolder, Connection, ModelServer, Program, Script, ask, binary, calls, post, text,
};
use serde_json::{Value, json};
use tempfile::TempDir;

const HIDDEN: &str = "the secret word is marzipan";

/// A folder for a store, and one with a character.
pub(crate) struct Folder {
    pub(crate) store: TempDir,
    characters: CharacterFolder,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { store: TempDir::new().unwrap(), characters: CharacterFolder::with("counter", COUNTER) }
    }

    pub(crate) fn store(&self) -> String {
        format!("sqlite:{}", self.store.path().join("store.db").display())
    }

    pub(crate) fn program(&self, upstream: &str, environment: &[(&str, &str)]) -> Program {
        let (store, characters) = (self.store(), self.characters.path());
        let flags = ["--upstream", upstream, "--characters", characters, "--store", &store, "--model", "m"];
        Program::start(&flags, environment)
    }

    /// The output of `callboard traces`.
    pub(crate) fn traces(&self, words: &[&str]) -> String {
        let mut command = Command::new(binary());
        command.args(["traces", "--store", &self.store()]).args(words).current_dir(self.store.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The output of `callboard stats` for the store.
    pub(crate) fn stats(&self, words: &[&str]) -> String {
        let mut command = Command::new(binary());
        command.args(["stats", "--store", &self.store()]).args(words).current_dir(self.store.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

pub(crate) const COUNTER: &str = r#"
CHARACTER_NAME = "Counter"
INSTRUCTIONS = {"instruction_prompt": "You count."}
TOOL_TIMEOUT_MS = {"nap": 60}

class PromptGenerator:
    def __init__(self, instructions):
        self.count = 0

    def make_system_prompt(self):
        return "Count."

    def add(self, amount: int) -> str:
        """Add to the count."""
        self.count += amount
        return f"The count is {self.count}."

    def nap(self) -> str:
        """Sleep for a long while."""
        import time
        time.sleep(30)
        return "rested"

TOOLS = [
    {"type": "function", "function": {"name": "add", "description": "Add to the count.", "parameters": {
        "type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}}},
    {"type": "function", "function": {"name": "nap", "description": "Sleep for a long while.", "parameters": {
        "type": "object", "properties": {}}}},
]
"#;

pub(crate) fn said(model: &str, words: &str) -> String {
    json!({"model": model, "messages": [{"role": "user", "content": words}]}).to_string()
}

/// A request with a tool of the client.
pub(crate) fn with_tool(words: &str) -> String {
    let parameters = json!({"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]});
    let tool = json!({"type": "function", "function": {"name": "roll", "parameters": parameters}});
    json!({"model": "m", "messages": [{"role": "user", "content": words}], "tools": [tool]}).to_string()
}

pub(crate) fn list(program: &Program, query: &str) -> Value {
    ask(&program.address, "GET", &format!("/v1/traces{query}"), &[], "").ok()
}

pub(crate) fn newest(program: &Program) -> Value {
    list(program, "?limit=1")["data"][0].clone()
}

pub(crate) fn metrics(program: &Program) -> String {
    ask(&program.address, "GET", "/metrics", &[], "").body
}

#[test]
fn a_gateway_turn_leaves_a_trace_without_content() {
    let reply = calls("", &[("roll", json!("{\"sides\": \"6\",}"))]);
    let (_script, server) = Script::start([reply]);
    let program = Program::with_upstream(&server.url, &[]);
    assert_eq!(post(&program.address, &with_tool(HIDDEN)).status, 200);
    let trace = newest(&program);
    let asked = &trace["upstream_requests"][0];
    assert!(asked["first_byte_ms"].as_f64() <= trace["duration_ms"].as_f64(), "{trace}");
    assert!(!trace.to_string().contains("marzipan") && !trace.to_string().contains("sides"), "{trace}");
    let id = trace["id"].as_str().unwrap();
    assert_eq!(ask(&program.address, "GET", &format!("/v1/traces/{id}"), &[], "").json(), trace);
}

#[test]
fn failed_and_interrupted_turns_leave_a_trace() {
    let (left, gone) = channel();
    let left = Mutex::new(left);
    let server = ModelServer::start(move |mut exchange| {
        if exchange.body.contains("fail") {
            return exchange.json(401, r#"{"error":{"message":"no"}}"#);
        }
        exchange.begin_stream();
        exchange.text("One");
        while !exchange.is_closed_by_client() {}
        left.lock().unwrap().send(()).unwrap();
    });
    let program = Program::with_upstream(&server.url, &[]);
    assert_eq!(post(&program.address, &said("m", "fail")).status, 401);
    let failed = newest(&program);
    assert_eq!((&failed["outcome"], &failed["error"]["status"]), (&json!("failed"), &json!(401)));
    assert_eq!(
        (&failed["upstream_requests"][0]["outcome"], &failed["upstream_requests"][0]["status"]),
        (&json!("refused"), &json!(401))
    );
    let streamed = said("m", "go").replace("{\"model\"", "{\"stream\":true,\"model\"");
    let mut connection = Connection::send(&program.address, "POST", "/v1/chat/completions", &[], &streamed);
    connection.read_until("One").unwrap();
    drop(connection);
    gone.recv().unwrap();
    let mut traces = std::iter::repeat_with(|| newest(&program));
    let interrupted = traces.find(|trace| trace["outcome"] == "interrupted").unwrap();
    assert!(interrupted["first_word_ms"].is_number() && interrupted["output"]["bytes"] == 3, "{interrupted}");
    // A model that has never answered is not counted by name.
    for (model, outcome) in [("other", "failed"), ("m", "interrupted")] {
        let line = format!("callboard_turns_total{{character=\"\",model=\"{model}\",outcome=\"{outcome}\"}} 1");
        while !metrics(&program).contains(&line) {}
    }
}

#[test]
fn traces_are_listed_page_by_page_and_by_name() {
    let (_script, server) = Script::start((0..5).map(|number| text(&number.to_string())));
    let folder = Folder::new();
    let program = folder.program(&server.url, &[]);
    for model in ["m", "M", "m", "counter", "m"] {
        let named = ["callboard-conversation: c1"];
        let headers = if model == "counter" { &named[..] } else { &[] };
        assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", headers, &said(model, "Hi")).status, 200);
    }
    let all = list(&program, "");
    let ids =
        |page: &Value| page["data"].as_array().unwrap().iter().map(|trace| trace["id"].clone()).collect::<Vec<_>>();
    assert_eq!((ids(&all).len(), &all["has_more"]), (5, &json!(false)));
    let mut paged = Vec::new();
    let mut query = "?limit=2".to_owned();
    loop {
        let page = list(&program, &query);
        paged.extend(ids(&page));
        query = format!("?limit=2&after={}", page["last_id"].as_str().unwrap());
        if page["has_more"] == json!(false) {
            break;
        }
    }
    assert_eq!(paged, ids(&all));
    for (query, expected) in [
        ("?model=m", 4),
        ("?model=M&limit=1", 1),
        ("?character=counter", 1),
        ("?character=c%25", 0),
        ("?conversation=c1", 1),
        ("?conversation=c1&model=M", 0),
        ("?character=", 0),
    ] {
        assert_eq!(ids(&list(&program, query)).len(), expected, "{query}");
    }
    for (path, status, param) in [
        ("?after=nobody", 400, "after"),
        ("?limit=0", 400, "limit"),
        ("?order=asc", 400, "order"),
        ("?modle=m", 400, "modle"),
        ("/nobody", 404, ""),
    ] {
        let answer = ask(&program.address, "GET", &format!("/v1/traces{path}"), &[], "");
        assert_eq!((answer.status, answer.error("param").as_str()), (status, param), "{path}");
    }
}

#[test]
fn tool_calls_are_timed_and_counts_survive_a_restart() {
    let (script, server) = Script::start([
        calls("", &[("add", json!({"amount": 2})), ("add", json!({"amount": "3"}))]),
        text("Five."),
        calls("", &[("nap", json!({})), ("add", json!({}))]),
        text("Good night."),
        text("Just talk."),
    ]);
    let folder = Folder::new();
    let program = folder.program(&server.url, &[]);
    for words in ["count", "sleep", "talk"] {
        assert_eq!(post(&program.address, &said("counter", words)).status, 200);
    }
    assert_eq!(script.asked().len(), 5);
    let traces = list(&program, "?character=counter");
    let (naps, adds) = (&traces["data"][1], &traces["data"][2]);
    assert_eq!((&adds["rounds"], adds["upstream_requests"].as_array().unwrap().len()), (&json!(1), 2));
    for call in adds["tool_calls"].as_array().unwrap() {
        assert_eq!((&call["outcome"], &call["changed_state"]), (&json!("ok"), &json!(true)), "{call}");
        assert!(call["duration_ms"].is_number() && call["queued_ms"].is_number() && call["result_bytes"].is_number());
    }
    let outcome = |call: &Value| ["name", "outcome", "error_type"].map(|key| call[key].as_str().unwrap().to_owned());
    let outcomes: Vec<_> = naps["tool_calls"].as_array().unwrap().iter().map(outcome).collect();
    assert_eq!(outcomes, [["nap", "error", "timeout"], ["add", "error", "validation"]]);
    let metrics = metrics(&program);
    for line in [
        "callboard_turns_total{character=\"counter\",model=\"m\",outcome=\"complete\"} 3",
        "callboard_turns_with_tools_total{character=\"counter\",model=\"m\"} 3",
        "callboard_turns_with_calls_total{character=\"counter\",model=\"m\"} 2",
        "callboard_text_only_total{character=\"counter\",model=\"m\"} 1",
        "callboard_schema_violations_total{character=\"counter\",model=\"m\",stage=\"before\"} 2",
        "callboard_schema_violations_total{character=\"counter\",model=\"m\",stage=\"after\"} 0",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    program.terminate();
    assert_eq!(program.exit_code(), Some(0));
    let stats: Value = serde_json::from_str(&folder.stats(&["--json", "--since", "2"])).unwrap();
    let expected = json!({"character": "counter", "model": "m", "turns": 3, "failed": 0, "interrupted": 0, "offered": 3,
        "with_calls": 2, "text_only": 1, "calls": 4, "violations_before": 2, "violations_after": 0, "reasked": 1,
        "refused": 0, "tools_run": 3, "tool_errors": 0, "tool_timeouts": 1});
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&stats["data"][0][name], value, "{name} in {stats}");
    }
    assert!((stats["data"][0]["tool_call_rate"].as_f64().unwrap() - 2.0 / 3.0).abs() < 0.001);
    assert!(folder.stats(&[]).contains("66.7 %"));
    let again = folder.program(&server.url, &[]);
    assert_eq!(list(&again, "")["data"].as_array().unwrap().len(), 3, "traces survive a restart");
}

/// A collector that answers with these statuses, then with 200, and reports what it receives.
pub(crate) fn collector(statuses: &'static [u16]) -> (ModelServer, Receiver<(u16, String, Value)>) {
    let (sender, got) = channel();
    let served = Arc::new(Mutex::new((sender, 0)));
    let server = ModelServer::start(move |mut exchange| {
        let mut served = served.lock().unwrap();
        let status = statuses.get(served.1).copied().unwrap_or(200);
        served.1 += 1;
        exchange.json(status, "{}");
        served
            .0
            .send((status, exchange.path + "\n" + &exchange.headers, serde_json::from_str(&exchange.body).unwrap()))
            .unwrap();
    });
    (server, got)
}

pub(crate) fn attributes(span: &Value) -> serde_json::Map<String, Value> {
    let list = span["attributes"].as_array().unwrap().iter();
    list.map(|pair| (pair["key"].as_str().unwrap().to_owned(), pair["value"].clone())).collect()
}

#[test]
fn a_collector_gets_the_turn_as_spans() {
    let (_script, server) = Script::start([calls("", &[("add", json!({"amount": "2"}))]), text("Two.")]);
    let (collector, got) = collector(&[503]);
    let folder = Folder::new();
    let base = collector.url.replace("/v1", "/otel");
    let environment =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", base.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc")];
    let program = folder.program(&server.url, &environment);
    assert_eq!(post(&program.address, &said("counter", HIDDEN)).status, 200);
    assert_eq!(got.recv().unwrap().0, 503, "asked again when the collector is busy");
    let (_, head, body) = got.recv().unwrap();
    assert!(head.starts_with("/otel/v1/traces\n") && head.contains("authorization: basic abc"), "{head}");
    assert!(!body.to_string().contains("marzipan"));
    let scope = &body["resourceSpans"][0]["scopeSpans"][0];
    let spans = scope["spans"].as_array().unwrap();
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["invoke_agent counter", "chat m", "chat m", "execute_tool add"]);
    let root = &spans[0];
    for span in &spans[1..] {
        assert_eq!((&span["traceId"], &span["parentSpanId"]), (&root["traceId"], &root["spanId"]));
        let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time(root, "startTimeUnixNano") <= time(span, "startTimeUnixNano"));
        assert!(time(span, "startTimeUnixNano") <= time(span, "endTimeUnixNano"));
        assert!(time(span, "endTimeUnixNano") <= time(root, "endTimeUnixNano"), "{span}\n{root}");
    }
    assert_eq!(root["events"][0]["attributes"][0]["value"]["stringValue"], "number_from_text");
    let (agent, tool) = (attributes(root), attributes(&spans[3]));
    assert_eq!(agent["gen_ai.operation.name"]["stringValue"], "invoke_agent");
    assert_eq!(
        (&tool["gen_ai.tool.name"]["stringValue"], &tool["gen_ai.operation.name"]["stringValue"]),
        (&json!("add"), &json!("execute_tool"))
    );
    assert!(!tool.contains_key("gen_ai.tool.call.arguments"));
}

#[test]
fn an_unavailable_collector_does_not_affect_turns() {
    let (_script, server) = Script::start((0..3).map(|number| text(&number.to_string())));
    let nowhere = ModelServer::unused_url();
    let program = Program::with_upstream(&server.url, &[("CALLBOARD_OTLP_ENDPOINT", nowhere.as_str())]);
    for _ in 0..3 {
        assert_eq!(post(&program.address, &said("m", "Hi")).status, 200);
    }
    program.terminate();
    assert_eq!(program.exit_code(), Some(0), "it ends in time, too");
}
