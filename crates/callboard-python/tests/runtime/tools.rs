//! Every way to write a tool, and what it is given.

use std::time::Duration;

use callboard_python::{CallError, CallRequest, ToolError};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{TestHost, call};

#[tokio::test]
async fn every_way_to_implement_a_tool_works() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let rows = [
        ("branch", r#"{"word":"a"}"#, "branch a"),
        ("branch_in_match", "{}", "{}"),
        ("method", r#"{"word":"a"}"#, "helloaaa"),
        ("method", r#"{"word":"a","times":1}"#, "helloa"),
        ("async_method", r#"{"word":"abc"}"#, "Abchello"),
        ("static_method", r#"{"word":"abc"}"#, "cba"),
        ("of_the_module", r#"{"word":"ab"}"#, "abab"),
        ("of_the_module_async", r#"{"word":"ab"}"#, "Ab"),
        ("with_the_instance", r#"{"word":"oh"}"#, "oh hello"),
        ("without_parameters", "{}", "nothing was needed"),
        ("dice", r#"{"sides":6}"#, "6 of 6"),
        ("model_config", r#"{"model_config":"x","class":"y"}"#, "{'model_config': 'x', 'class': 'y'}"),
        ("sphinx", r#"{"text":"a"}"#, "aaa"),
        ("plain_async", r#"{"text":"oh "}"#, "oh hello"),
    ];
    for (tool, arguments, expected) in rows {
        assert_eq!(call(&ways, tool, arguments).await.result.as_deref(), Ok(expected), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn defaults_are_there_before_the_tool_looks() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let rows = [
        ("{}", "{'mode': 'normal'}"),
        (r#"{"mode":"fast"}"#, "{'mode': 'fast'}"),
        (r#"{"unit":{}}"#, "{'unit': {'wounds': 1, 'tags': []}, 'mode': 'normal'}"),
        (r#"{"unit":{"wounds":2,"tags":["a"]},"mode":"x"}"#, "{'unit': {'wounds': 2, 'tags': ['a']}, 'mode': 'x'}"),
        (r#"{"list":[{},{"x":null}],"mode":"x"}"#, "{'list': [{'x': None}, {'x': None}], 'mode': 'x'}"),
    ];
    for (arguments, expected) in rows {
        assert_eq!(call(&ways, "nested", arguments).await.result.as_deref(), Ok(expected), "{arguments}");
    }
}

#[tokio::test]
async fn a_plain_function_describes_itself() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let tool = ways.manifest().tool("plain").unwrap();
    assert_eq!(tool.description, "Shows what it was given.");
    let required = ["text", "count", "weight", "loud", "words", "points", "size", "colour"];
    assert_eq!(tool.parameters["required"], json!(required));
    let expected = json!({
        "text": {"type": "string", "description": "Any text, over two lines: with a colon."},
        "count": {"type": "integer", "description": "How many."},
        "weight": {"type": "number"},
        "loud": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}, "description": "Some words."},
        "points": {"type": "object", "additionalProperties": {"type": "integer"}},
        "size": {"type": "string", "enum": ["small", "large"]},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "nick": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
        "sides": {"type": "integer", "description": "How many sides", "default": 6},
    });
    assert_eq!(tool.parameters["properties"], expected);
    let sphinx = &ways.manifest().tool("sphinx").unwrap().parameters;
    assert_eq!(sphinx["properties"]["text"]["description"], json!("any text"));
    assert_eq!(sphinx["properties"]["count"], json!({"type": "integer", "description": "how many", "default": 3}));
    let instance = &ways.manifest().tool("plain_async").unwrap().parameters;
    assert_eq!(instance["properties"], json!({"text": {"type": "string"}}));
}

#[tokio::test]
async fn a_plain_function_gets_what_its_hints_promise() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let arguments = json!({
        "text": "a", "count": 2, "weight": 3, "loud": true, "words": ["b"], "points": {"c": 4}, "size": "small",
        "colour": "blue", "tags": ["t"],
    });
    let shown = "('a', 2, 3.0, True, ['b'], {'c': 4}, 'small', <Colour.BLUE: 'blue'>, None, ['t'], \
                 [<Colour.RED: 'red'>], 6)";
    assert_eq!(call(&ways, "plain", &arguments.to_string()).await.result.as_deref(), Ok(shown));
}

#[tokio::test]
async fn each_tool_has_its_own_deadline() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let timeout = |tool| ways.manifest().tool(tool).unwrap().timeout;
    assert_eq!((timeout("slow"), timeout("hurried")), (Duration::from_secs(2), Duration::from_millis(100)));
    let slow = call(&ways, "slow", r#"{"milliseconds":150}"#).await;
    assert_eq!(slow.result.as_deref(), Ok("done"));
    assert!(slow.took >= Duration::from_millis(150));
    let hurried = call(&ways, "hurried", r#"{"milliseconds":60000}"#).await;
    assert_eq!(hurried.result, Err(CallError::Tool(ToolError::TimedOut { limit: Duration::from_millis(100) })));
}

#[tokio::test]
async fn waiting_for_a_worker_is_not_the_tools_time() {
    let limits = callboard_python::Limits { workers_per_character: 1, ..Default::default() };
    let host = TestHost::with_limits(limits);
    let ways = host.load("ways.py").await;
    // Together they take longer than the limit of one, 2 s.
    let outcomes = join_all((0..8).map(|_| call(&ways, "slow", r#"{"milliseconds":300}"#))).await;
    assert!(outcomes.iter().all(|outcome| outcome.result.as_deref() == Ok("done")), "{outcomes:?}");
    let longest = outcomes.iter().map(|outcome| outcome.queued).max();
    assert!(longest >= Some(Duration::from_millis(2100)), "{outcomes:?}");
}

#[tokio::test]
async fn contexts_names_and_prompts_are_made() {
    let host = TestHost::start();
    let ways = host.load("ways.py").await;
    let start = ways.start_conversation().await.unwrap();
    assert_eq!(start.system_prompt, "Show the ways.");
    assert_eq!(start.state.as_deref(), Some(r#"{"greeting":"hello"}"#));
    let state = Some(r#"{"greeting":"bye"}"#);
    assert_eq!(ways.turn_context(state).await.unwrap().as_deref(), Some("You say bye"));
    let names: Value = ways.names(state).await.unwrap().unwrap();
    assert_eq!(names, json!({"units": ["Swarmlord", "Zoé"], "modes": {"normal": []}}));
    assert_eq!(ways.tools(state).await, Ok(None));
    let narrator = host.load("narrator.py").await;
    assert_eq!(narrator.turn_context(None).await, Ok(None));
    assert_eq!(narrator.names(None).await, Ok(None));
}

#[tokio::test]
async fn tools_may_depend_on_state() {
    let host = TestHost::start();
    let doorkeeper = host.load("changing.py").await;
    let names = |tools: Option<Vec<callboard_python::ToolManifest>>| -> Vec<(String, Duration)> {
        tools.unwrap().into_iter().map(|tool| (tool.name, tool.timeout)).collect()
    };
    let start = doorkeeper.start_conversation().await.unwrap();
    assert_eq!(names(start.tools), [("open_door".to_owned(), Duration::from_millis(2500))]);
    let request = CallRequest {
        tool: "open_door",
        arguments: "{}",
        state: start.state.as_deref(),
        heard: None,
        conversation: "c",
    };
    let opened = doorkeeper.call(request).await;
    assert_eq!((opened.result.as_deref(), opened.state.as_deref()), (Ok("open"), Some(r#"{"is_open":true}"#)));
    let tools = doorkeeper.tools(opened.state.as_deref()).await.unwrap();
    assert_eq!(names(tools), [("shut_door".to_owned(), Duration::from_millis(2500))]);
    // In any worker, also one that was never asked for the tools of this state.
    let other = host.load("changing.py").await;
    let request = CallRequest { tool: "shut_door", state: opened.state.as_deref(), ..request };
    assert_eq!(other.call(request).await.result.as_deref(), Ok("shut"));
    let unknown = CallRequest { tool: "burn_door", ..request };
    assert_eq!(other.call(unknown).await.result.unwrap_err().to_model_text(), "Error: Unknown tool: burn_door");
}
