//! Calls that were not valid as the model wrote them: how an operator finds them, in traces, at the terminal, in spans and counts.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use callboard_test_support::{Script, ask, binary, calls, greeting_server, post, text};
use serde_json::{Value, json};

use super::traces::{Folder, attributes, collector, list, metrics, newest, said, with_tool};

/// A bad call leads from the id of its reply to what was wrong with it, over HTTP and at the terminal.
#[test]
fn a_bad_call_is_found_by_its_request() {
    let folder = Folder::new();
    let broken =
        calls("", &[("roll", json!("{\"sides\": \"6\",}")), ("roll", json!({"sides": "many"})), ("rolls", json!({}))]);
    let (_script, server) = Script::start([broken.clone(), broken, calls("", &[("roll", json!({"sides": 6}))])]);
    let program = folder.program(&server.url, &[("CALLBOARD_TRACE_CONTENT", "true")]);
    let bad = post(&program.address, &with_tool("Roll."));
    assert_eq!(bad.status, 502, "{bad:?}");
    let good = post(&program.address, &with_tool("Roll."));
    assert_eq!(good.status, 200);
    let id = bad.header("x-request-id").unwrap();
    let found = list(&program, &format!("?request_id={id}"));
    assert_eq!((found["data"].as_array().unwrap().len(), &found["data"][0]["request_id"]), (1, &json!(id)), "{found}");
    let calls = found["data"][0]["bad_calls"].as_array().unwrap();
    let outcomes: Vec<&str> = calls.iter().map(|call| call["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["repaired", "reasked", "reasked", "repaired", "refused", "refused"]);
    assert_eq!(calls[0]["before"], json!({"name": "roll", "arguments": "{\"sides\": \"6\",}"}));
    assert_eq!(calls[0]["after"], json!([{"name": "roll", "arguments": "{\"sides\":6}"}]));
    assert_eq!(
        (&calls[0]["violations"], &calls[0]["paths"]),
        (&json!(["trailing_comma", "number_from_text"]), &json!(["/sides"]))
    );
    assert_eq!((&calls[1]["tool"], &calls[1]["paths"]), (&json!("roll"), &json!(["/sides"])));
    assert!(calls[1]["reason"].as_str().unwrap().contains("\"many\" is not of type \"integer\""), "{found}");
    assert!(calls[2]["tool"] == "rolls" && calls[2]["violations"] == json!(["unknown_tool_call"]), "{found}");
    assert_eq!(list(&program, "?request_id=other")["data"], json!([]));

    let running = folder.traces(&["--listen", &program.address, "--request", id]);
    let lines: Vec<&str> = running.lines().collect();
    assert!(lines[0].contains(&format!("  {id}  chat  m: failed with 502 invalid_tool_arguments after ")), "{running}");
    assert_eq!(lines[1], "  repaired roll: trailing_comma, number_from_text at /sides");
    assert_eq!(lines[2..4], ["    before  roll {\"sides\": \"6\",}", "    after   roll {\"sides\":6}"]);
    assert_eq!(
        lines[4..6],
        ["  reasked roll: invalid_tool_arguments at /sides", "    before  roll {\"sides\":\"many\"}"]
    );
    assert!(lines[6].starts_with("    reason  the arguments of roll do not fit its schema: sides: "), "{running}");
    let all = folder.traces(&["--listen", &program.address]);
    assert!(all.starts_with(&running) && all.lines().last().unwrap().contains("chat  m: complete after "), "{all}");
    let newest = folder.traces(&["--listen", &program.address, "--last", "1", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&newest).unwrap()["request_id"], good.header("x-request-id").unwrap());
    program.terminate();
    program.exit_code();
    assert_eq!(folder.traces(&["--listen", "127.0.0.1:1"]), all, "from the store");
}

#[test]
fn without_content_a_trace_names_tool_and_violation_only() {
    let folder = Folder::new();
    let (_script, server) = Script::start([calls("", &[("roll", json!("{\"sides\": \"6\",}"))])]);
    let program = folder.program(&server.url, &[]);
    post(&program.address, &with_tool("Roll."));
    let expected =
        json!([{"tool": "roll", "outcome": "repaired", "violations": ["trailing_comma", "number_from_text"]}]);
    let mut trace = newest(&program);
    let ids = trace["bad_calls"][0].as_object_mut().unwrap().shift_remove("call_ids").unwrap();
    assert_eq!((&trace["bad_calls"], &ids[0]), (&expected, &trace["tool_calls"][0]["id"]));
    let page = folder.traces(&["--listen", &program.address]);
    let end = "  repaired roll: trailing_comma, number_from_text\n\
        set trace.content = true, or CALLBOARD_TRACE_CONTENT=true, to record what was called\n";
    assert!(page.ends_with(end), "{page}");
}

#[test]
fn new_traces_are_followed() {
    let folder = Folder::new();
    let program = folder.program(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one")]);
    let mut command = Command::new(binary());
    command.args(["traces", "--follow", "--listen", &program.address]).current_dir(folder.store.path());
    let mut following = command.env("CALLBOARD_API_KEYS", "one").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    for name in ["first", "second"] {
        let headers = ["authorization: Bearer one", &format!("x-request-id: {name}")];
        assert_eq!(ask(&program.address, "POST", "/v1/chat/completions", &headers, &said("m", "Hi")).status, 200);
        assert!(lines.next().unwrap().unwrap().contains(&format!("  {name}  chat  m: complete after ")), "{name}");
    }
    following.kill().unwrap();
    following.wait().unwrap();
}

#[test]
fn traces_that_are_not_there_are_named() {
    let folder = Folder::new();
    let program = folder.program(&greeting_server().url, &[("CALLBOARD_API_KEYS", "one")]);
    let said = |arguments: &[&str], keys: &str| {
        let mut command = Command::new(binary());
        command.args(["traces", "--listen", &program.address]).args(arguments).env("CALLBOARD_API_KEYS", keys);
        let output = command.current_dir(folder.store.path()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (String::from_utf8(text).unwrap(), output.status.success())
    };
    assert_eq!(said(&[], "one"), ("there are no traces\n".to_owned(), true));
    let (text, succeeded) = said(&["--request", "req_x"], "one");
    assert!(text.starts_with("there is no trace of the request req_x; ") && !succeeded, "{text}");
    let (text, succeeded) = said(&["--request", "a&b"], "one");
    assert!(text.contains("x-request-id") && !succeeded, "{text}");
    let (text, succeeded) = said(&[], "two");
    assert!(text.contains("wants one of its keys") && !succeeded, "{text}");
}

/// A call that never ran is counted under its tool, has a span that failed, and appears in the statistics.
#[test]
fn refused_calls_of_a_character_are_counted_under_their_tool() {
    let folder = Folder::new();
    let broken = [("add", json!({"amount": "many"})), ("add", json!("{")), ("fly", json!({}))];
    let (_script, server) = Script::start([calls("", &broken), text("Done.")]);
    let (collector, exported) = collector(&[]);
    let program = folder.program(&server.url, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)]);
    assert_eq!(post(&program.address, &said("counter", "Count.")).status, 200);
    let metrics = metrics(&program);
    for (tool, error_type) in [("add", "validation"), ("add", "json_parse"), ("unknown", "unknown_tool")] {
        let line = format!(
            "character_tool_calls_total{{character_name=\"Counter\",tool_name=\"{tool}\",outcome=\"error\",error_type=\"{error_type}\"}} 1"
        );
        assert!(metrics.contains(&line), "{line}\n{metrics}");
    }
    let trace = newest(&program);
    assert_eq!(trace["tool_calls"][0]["error_type"], "validation", "{trace}");
    program.terminate();
    program.exit_code();
    let (_, _, body) = exported.recv().unwrap();
    let spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let tools = spans.iter().filter(|span| span["name"].as_str().unwrap().starts_with("execute_tool "));
    let failed: Vec<(String, String, Value)> = tools
        .map(|span| {
            let error = attributes(span)["error.type"]["stringValue"].as_str().unwrap().to_owned();
            (span["name"].as_str().unwrap().to_owned(), error, span["status"]["code"].clone())
        })
        .collect();
    let expected = [("add", "validation"), ("add", "json_parse"), ("fly", "unknown_tool")];
    let expected = expected.map(|(tool, error)| (format!("execute_tool {tool}"), error.to_owned(), json!(2)));
    assert_eq!(failed, expected);
    let stats: Value = serde_json::from_str(&folder.stats(&["--json"])).unwrap();
    assert_eq!(stats["data"][0]["tools_refused"], 3, "{stats}");
    assert!(folder.stats(&[]).contains("not run"));
}
