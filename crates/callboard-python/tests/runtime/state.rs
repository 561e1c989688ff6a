//! The state of a character: stored by a call that succeeds, and only by one.

use callboard_python::{CallError, CallOutcome, CallRequest, Character, ToolError};
use serde_json::{Value, json};

use crate::harness::TestHost;

async fn call_with_state(character: &Character, tool: &str, arguments: &Value, state: &Value) -> CallOutcome {
    let (arguments, state) = (arguments.to_string(), state.to_string());
    character
        .call(CallRequest { tool, arguments: &arguments, state: Some(&state), heard: None, conversation: "test" })
        .await
}

fn read(state: Option<String>) -> Value {
    state.map_or(Value::Null, |state| serde_json::from_str(&state).unwrap())
}

#[tokio::test]
async fn a_call_keeps_what_it_changed() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let start = scores.start_conversation().await.unwrap();
    let opened = json!({"points": {}, "rounds": 0, "asked": ["why?"]});
    assert_eq!(read(start.state), opened);
    let first = call_with_state(&scores, "score", &json!({"who": "bob", "points": 2}), &opened).await;
    assert_eq!(first.result.as_deref(), Ok("2"));
    let kept = json!({"points": {"bob": 2}, "rounds": 1, "asked": ["why?"]});
    assert_eq!(read(first.state), kept);
    let second = call_with_state(&scores, "score", &json!({"who": "bob", "points": 1}), &kept).await;
    assert_eq!(read(second.state)["points"], json!({"bob": 3}));
}

#[tokio::test]
async fn what_did_not_change_is_not_reported() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let state = json!({"points": {"ann": 2.5}, "rounds": 12345678901234567890_u64, "asked": ["é😀\n"]});
    let looked = call_with_state(&scores, "look", &json!({}), &state).await;
    assert_eq!(looked.state, None);
    let shown = "[('asked', ['é😀\\n']), ('instructions', {'questions': ['why?'], 'tone': 'dry'}), ('points', {'ann': \
                 2.5}), ('rounds', 12345678901234567890)]";
    assert_eq!(looked.result.as_deref(), Ok(shown));
}

/// Tool and state after it; `Null` where nothing is stored.
#[tokio::test]
async fn only_success_keeps_anything() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let before = json!({"points": {}, "rounds": 1});
    let rows = [
        ("score", json!({"points": {"ann": 1}, "rounds": 2})),
        ("forget_rounds", json!({"points": {}, "_deleted": ["rounds"]})),
        ("forget_everything", json!({"_deleted": ["instructions", "points", "rounds"]})),
        (
            "change_instructions",
            json!({"points": {}, "rounds": 1, "instructions": {"questions": ["why?"], "tone": "wild"}}),
        ),
        ("score_and_raise", Value::Null),
        ("score_and_hang", Value::Null),
        ("score_and_return_a_number", Value::Null),
        ("keep_much", Value::Null),
    ];
    for (tool, after) in rows {
        let outcome = call_with_state(
            &scores,
            tool,
            &if tool == "score" { json!({"who": "ann", "points": 1}) } else { json!({}) },
            &before,
        )
        .await;
        assert_eq!(outcome.result.is_ok(), !after.is_null(), "{tool}: {:?}", outcome.result);
        assert_eq!(outcome.state.map_or(Value::Null, |state| serde_json::from_str(&state).unwrap()), after, "{tool}");
        // The next call starts from what it is given, not from what a failed one left in its worker.
        let next = call_with_state(&scores, "look", &json!({}), &before).await;
        assert!(next.result.unwrap().contains("('points', {}), ('rounds', 1)"), "after {tool}");
    }
}

#[tokio::test]
async fn what_was_deleted_stays_deleted_until_it_is_kept_again() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let forgot = call_with_state(&scores, "forget_rounds", &json!({}), &json!({"points": {}, "rounds": 3})).await;
    let kept = read(forgot.state);
    let looked = call_with_state(&scores, "look", &json!({}), &kept).await;
    let shown = "[('instructions', {'questions': ['why?'], 'tone': 'dry'}), ('points', {})]";
    assert_eq!((looked.result.as_deref(), looked.state), (Ok(shown), None));
    let forgot = call_with_state(&scores, "forget_everything", &json!({}), &kept).await;
    let looked = call_with_state(&scores, "look", &json!({}), &read(forgot.state)).await;
    assert_eq!(looked.result.as_deref(), Ok("[]"));
    let text = CLOCK.replace("CONSTRUCTED", "self.hours = 1");
    let kept = json!({"_deleted": ["hours"]});
    let set = call_with_state(&host.load_text(&text).await, "set", &json!({}), &kept).await;
    assert_eq!(read(set.state), json!({"hours": 5}));
}

const CLOCK: &str = r#"
CHARACTER_NAME = "Clock"
INSTRUCTIONS = {"instruction_prompt": "You tell the time."}
TOOL_TIMEOUT_MS = 10_000

class PromptGenerator:
    def __init__(self, instructions):
        CONSTRUCTED

    def make_system_prompt(self):
        return "You tell the time."

    def look(self) -> str:
        """Look."""
        return repr(sorted(vars(self).items()))

    def set(self) -> str:
        """Set the hours."""
        self.hours = 5
        return "set"

    def drop(self) -> str:
        """Drop the days."""
        del self.days
        return "dropped"

TOOLS = [PromptGenerator.look, PromptGenerator.set, PromptGenerator.drop]
"#;

/// A conversation that begins with one version of a file and goes on with others.
#[tokio::test]
async fn a_newer_constructor_adds_to_a_state_and_replaces_nothing() {
    let host = TestHost::start();
    let version = async |constructed: &str| host.load_text(&CLOCK.replace("CONSTRUCTED", constructed)).await;
    let first = version("self.hours = 1").await;
    let state = read(
        call_with_state(&first, "set", &json!({}), &read(first.start_conversation().await.unwrap().state)).await.state,
    );
    assert_eq!(state, json!({"hours": 5}));
    let second = version("self.hours, self.days = 1, [7]").await;
    let looked = call_with_state(&second, "look", &json!({}), &state).await;
    assert_eq!(looked.result.as_deref(), Ok("[('days', [7]), ('hours', 5)]"));
    let state = read(call_with_state(&second, "drop", &json!({}), &state).await.state);
    assert_eq!(state, json!({"hours": 5, "_deleted": ["days"]}));
    assert_eq!(call_with_state(&second, "look", &json!({}), &state).await.result.as_deref(), Ok("[('hours', 5)]"));
    let third = version("self.days = [8]").await;
    assert_eq!(call_with_state(&third, "look", &json!({}), &state).await.result.as_deref(), Ok("[('hours', 5)]"));
}

#[tokio::test]
async fn names_with_an_underscore_are_not_kept() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let state = json!({"points": {}, "rounds": 0});
    let scored = call_with_state(&scores, "score", &json!({"who": "ann", "points": 1}), &state).await;
    let kept = read(scored.state);
    assert_eq!(kept, json!({"points": {"ann": 1}, "rounds": 1}));
    assert_eq!(call_with_state(&scores, "underscore", &json!({}), &kept).await.result.as_deref(), Ok("False"));
}

#[tokio::test]
async fn state_is_the_same_in_every_worker() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let mut conversations = tokio::task::JoinSet::new();
    for number in 0..8 {
        let scores = scores.clone();
        conversations.spawn(async move {
            let who = format!("player{number}");
            let mut state = json!({"points": {}, "rounds": 0});
            for _ in 0..25 {
                state =
                    read(call_with_state(&scores, "score", &json!({"who": who, "points": number}), &state).await.state);
            }
            assert_eq!(state, json!({"points": {who: number * 25}, "rounds": 25}));
        });
    }
    while let Some(conversation) = conversations.join_next().await {
        conversation.unwrap();
    }
}

/// What is kept as `self.kept = {"a": [0, …]}`, and what is reported.
const NOT_JSON: &[(&str, &str, &str, &str)] = &[
    ("(1, 2)", "self.kept['a'][1]", "a tuple", "keep a list: list(...)"),
    ("{1}", "self.kept['a'][1]", "a set", "keep a list: sorted(...)"),
    ("{1: 2}", "self.kept['a'][1]", "a dict with the key 1", "use text as keys, such as str(key)"),
    ("b'x'", "self.kept['a'][1]", "a bytes", "keep text: .decode()"),
    ("float('nan')", "self.kept['a'][1]", "nan", "keep None or a finite number instead"),
    ("float('inf')", "self.kept['a'][1]", "inf", "keep None or a finite number instead"),
    ("Level.EASY", "self.kept['a'][1]", "a Level", "keep its .value"),
    ("datetime.date(2025, 1, 1)", "self.kept['a'][1]", "a date", "keep text: .isoformat()"),
    ("collections.Counter('a')", "self.kept['a'][1]", "a Counter", "keep a plain dict: dict(...)"),
    ("{'b': collections.deque()}", "self.kept['a'][1]['b']", "a deque", "leading underscore"),
    ("self", "self.kept['a'][1]", "a PromptGenerator", "leading underscore"),
    ("chr(0xd800)", "self.kept['a'][1]", "text with half of a surrogate pair", "keep whole characters only"),
    ("[l := [], l.append(l)][0]", "[0][0][0][0]", "nested deeper than 100 levels", "keep it flatter"),
];

#[tokio::test]
async fn what_json_cannot_hold_is_named() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let state = json!({"points": {}, "rounds": 0});
    for (what, expected_path, expected_found, expected_remedy) in NOT_JSON {
        let outcome = call_with_state(&scores, "keep", &json!({"what": what}), &state).await;
        let Err(CallError::Tool(ToolError::StateNotJson { path, found, remedy })) = outcome.result else {
            panic!("{what}: {outcome:?}");
        };
        assert!(path.contains(expected_path), "{what}: {path}");
        assert_eq!(found, *expected_found, "{what}");
        assert!(remedy.contains(expected_remedy), "{what}: {remedy}");
        assert_eq!(outcome.state, None);
    }
    for what in ["[1, 2.5, True, None, 'é', {'b': {}}]", "10 ** 30", "-0.0"] {
        let outcome = call_with_state(&scores, "keep", &json!({"what": what}), &state).await;
        assert_eq!(outcome.result.as_deref(), Ok("kept"), "{what}");
    }
}

#[tokio::test]
async fn a_state_that_is_too_large_is_refused() {
    let host = TestHost::start();
    let scores = host.load("scores.py").await;
    let outcome = call_with_state(&scores, "keep_much", &json!({}), &json!({})).await;
    let Err(CallError::Tool(ToolError::StateTooLarge { size, limit })) = outcome.result else {
        panic!("{outcome:?}");
    };
    assert!(size > 2 << 20 && limit == 1 << 20);
}
