//! Chat Completions and conversations: one conversation of a character, whichever way a client reaches it.

use callboard_test_support::{Answer, COUNTER, CharacterFolder, Program, Script, ask, calls, new_conversation, text};
use serde_json::{Value, json};

const HEADER: &str = "callboard-conversation";

struct Stage {
    script: Script,
    program: Program,
    _folder: CharacterFolder,
}

impl Stage {
    /// Each turn adds to the count and ends with this word.
    fn with_turns(words: &[&str]) -> Self {
        let folder = CharacterFolder::with("counter", COUNTER);
        let turn = |word: &&str| [calls("", &[("add", json!({}))]), text(word)];
        let (script, server) = Script::start(words.iter().flat_map(turn).collect::<Vec<_>>());
        let program = folder.serve(&server);
        Self { script, program, _folder: folder }
    }

    fn say(&self, messages: &Value, conversation: Option<&str>, stream: bool) -> Answer {
        let header = conversation.map(|id| format!("{HEADER}: {id}"));
        let headers: Vec<&str> = header.iter().map(String::as_str).collect();
        let body = json!({"model": "counter", "messages": messages, "stream": stream}).to_string();
        ask(&self.program.address, "POST", "/v1/chat/completions", &headers, &body)
    }

    fn get(&self, conversation: &str, rest: &str) -> Value {
        ask(&self.program.address, "GET", &format!("/v1/conversations/{conversation}{rest}"), &[], "").ok()
    }

    fn count(&self, conversation: &str) -> Value {
        self.get(conversation, "/state")["state"]["count"].clone()
    }

    fn undo(&self, conversation: &str) -> Value {
        let path = format!("/v1/conversations/{conversation}/undo");
        ask(&self.program.address, "POST", &path, &[], r#"{"last": 1}"#).ok()
    }

    fn kinds(&self, conversation: &str) -> Vec<String> {
        let items = self.get(conversation, "/items?order=asc&limit=100");
        let kind = |item: &Value| item["role"].as_str().or(item["type"].as_str()).unwrap().to_owned();
        items["data"].as_array().unwrap().iter().map(kind).collect()
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn named(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header(HEADER).expect("the conversation's name").to_owned()
}

#[test]
fn a_history_leads_to_a_conversation_that_is_undone_like_any_other() {
    let stage = Stage::with_turns(&["one", "two", "three", "four"]);
    let id = named(&stage.say(&json!([user("a")]), None, false));
    assert_eq!(stage.get(&id, "")["id"], id);
    assert_eq!(stage.count(&id), 1);
    let second = json!([user("a"), assistant("one"), user("b")]);
    assert_eq!(named(&stage.say(&second, None, true)), id, "streamed");
    assert_eq!(stage.count(&id), 2);
    let turn = ["user", "mcp_call", "assistant"];
    assert_eq!(stage.kinds(&id), [turn, turn].concat());
    let journal = stage.get(&id, "/journal");
    assert_eq!(journal["data"].as_array().unwrap().len(), 2, "{journal}");

    assert_eq!(stage.undo(&id)["state"]["count"], 1);
    let third = json!([user("a"), assistant("one"), user("b"), assistant("two"), user("c")]);
    assert_eq!(named(&stage.say(&third, None, false)), id);
    assert_eq!(stage.count(&id), 2, "what was undone stays undone");
    assert_eq!(stage.get(&id, "/journal")["data"].as_array().unwrap().len(), 4);

    // An edited history is another conversation, with all that precedes the edit.
    let edited = json!([user("a"), assistant("one"), user("B")]);
    let other = named(&stage.say(&edited, None, false));
    assert_ne!(other, id);
    assert_eq!((stage.count(&other), stage.count(&id)), (json!(2), json!(2)));
    assert_eq!(stage.kinds(&other), [turn, turn].concat());
    assert_eq!(stage.undo(&other)["state"]["count"], 1);
    assert_eq!(stage.undo(&other)["state"]["count"], 0);
}

#[test]
fn a_conversation_is_continued_by_its_id_on_both_wires() {
    let stage = Stage::with_turns(&["one", "two", "three", "four"]);
    let address = &stage.program.address;
    let id = new_conversation(address);
    assert_eq!(named(&stage.say(&json!([user("a")]), Some(&id), false)), id);
    assert_eq!(stage.count(&id), 1);
    let body = json!({"model": "counter", "input": "b", "conversation": id}).to_string();
    ask(address, "POST", "/v1/responses", &[], &body).ok();
    // Whether the client sends what it knows or only what is new.
    for (history, count) in [(json!([user("a"), assistant("one"), user("c")]), 3), (json!([user("d")]), 4)] {
        assert_eq!(named(&stage.say(&history, Some(&id), true)), id);
        assert_eq!(stage.count(&id), count);
    }
    let asked = stage.script.asked().pop().unwrap();
    let said = asked["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "user");
    assert_eq!(said.map(|message| &message["content"]).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    let turn = ["user", "mcp_call", "assistant"];
    assert_eq!(stage.kinds(&id), [turn; 4].concat());

    let unknown = stage.say(&json!([user("a")]), Some("conv_unknown"), false);
    assert_eq!((unknown.status, unknown.error("param").as_str()), (404, HEADER));
    // The client's history has a call that the conversation has not.
    let call = json!({"id": "call_x", "type": "function", "function": {"name": "show", "arguments": "{}"}});
    let called = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "call_x", "content": "Shown."});
    let misfit = stage.say(&json!([user("a"), called, result]), Some(&id), false);
    assert_eq!((misfit.status, misfit.error("param").as_str()), (400, "messages"), "{misfit:?}");
    assert!(misfit.error("message").contains(&id), "{misfit:?}");
}

#[test]
fn a_history_goes_with_its_conversation() {
    let stage = Stage::with_turns(&["one", "two"]);
    let id = named(&stage.say(&json!([user("a")]), None, false));
    ask(&stage.program.address, "DELETE", &format!("/v1/conversations/{id}"), &[], "").ok();
    let next = json!([user("a"), assistant("one"), user("b")]);
    let other = named(&stage.say(&next, None, false));
    assert_ne!(other, id);
    assert_eq!(stage.count(&other), 1);
}

const KEYS: [&str; 2] = ["authorization: Bearer one", "authorization: Bearer two"];

/// A counter and another character, a turn of which ends with each of these words, behind two keys.
fn with_keys(words: &[&str], settings: &[(&str, &str)]) -> Stage {
    let folder = CharacterFolder::with("counter", COUNTER);
    folder.write("other", &COUNTER.replace("\"Counter\"", "\"Other\""));
    let turn = |word: &&str| [calls("", &[("add", json!({}))]), text(word)];
    let (script, server) = Script::start(words.iter().flat_map(turn).collect::<Vec<_>>());
    let settings = [&[("CALLBOARD_API_KEYS", "one,two")], settings].concat();
    let program = Program::start(&["--upstream", &server.url, "--characters", folder.path()], &settings);
    Stage { script, program, _folder: folder }
}

fn say_as(stage: &Stage, key: &str, character: &str, name: &str) -> String {
    let body = json!({"model": character, "messages": [user("a")]}).to_string();
    let header = format!("{HEADER}: {name}");
    named(&ask(&stage.program.address, "POST", "/v1/chat/completions", &[key, &header], &body))
}

#[test]
fn the_clients_name_leads_to_its_own_conversation_everywhere() {
    let stage = with_keys(&["one", "two"], &[]);
    let name = "game/1: é";
    let ids = KEYS.map(|key| say_as(&stage, key, "counter", name));
    assert_ne!(ids[0], ids[1]);
    let base = "/v1/conversations/game%2F1%3A%20%C3%A9";
    let call = json!({"conversation": name}).to_string();
    for (key, id) in KEYS.iter().zip(&ids) {
        let send = |method: &str, path: &str, body: &str| ask(&stage.program.address, method, path, &[key], body);
        assert_eq!(send("GET", base, "").ok()["id"], *id);
        assert_eq!(send("POST", base, r#"{"metadata": {"topic": "x"}}"#).ok()["id"], *id);
        assert_eq!(send("GET", &format!("{base}/items"), "").ok()["data"].as_array().unwrap().len(), 3);
        let item = send("GET", &format!("{base}/items?limit=1"), "").ok()["data"][0]["id"].clone();
        let item = format!("{base}/items/{}", item.as_str().unwrap());
        assert_eq!(send("GET", &item, "").status, 200);
        assert_eq!(send("POST", "/v1/characters/counter/tools/add", &call).ok()["conversation"], *id);
        assert_eq!(send("GET", &format!("{base}/state"), "").ok()["state"]["count"], 2);
        assert_eq!(send("GET", &format!("{base}/journal"), "").ok()["data"].as_array().unwrap().len(), 2);
        assert_eq!(send("POST", &format!("{base}/undo"), r#"{"last": 1}"#).ok()["state"]["count"], 1);
        let prompt = format!("/v1/characters/counter/prompt?conversation={}", &base[18..]);
        assert_eq!(send("GET", &prompt, "").ok()["object"], "character.prompt");
        let calls = send("GET", &format!("/v1/calls?conversation={}", &base[18..]), "").ok();
        assert_eq!(calls["data"].as_array().unwrap().len(), 2, "{calls}");
        let fork = send("POST", &format!("{base}/fork"), "{}").ok();
        assert_eq!((fork["object"].as_str(), fork["id"] == *id), (Some("conversation"), false));
        assert_eq!(send("DELETE", &item, "").ok()["id"], *id);
        assert_eq!(
            send("GET", &format!("/v1/traces?conversation={}", &base[18..]), "").ok()["data"][0]["conversation"],
            *id
        );
    }
    // What one deletes is the other's still.
    for (key, status) in [(KEYS[0], 200), (KEYS[0], 404), (KEYS[1], 200)] {
        assert_eq!(ask(&stage.program.address, "DELETE", base, &[key], "").status, status);
    }
    let gone = ask(&stage.program.address, "POST", "/v1/characters/counter/tools/add", &[KEYS[0]], &call);
    assert_eq!((gone.status, gone.error("code").as_str()), (404, "conversation_not_found"));
}

#[test]
fn a_name_used_with_two_characters_leads_to_that_of_the_one_asked_or_says_which_there_are() {
    let stage = with_keys(&["one", "two"], &[]);
    let ids = ["counter", "other"].map(|character| say_as(&stage, KEYS[0], character, "game"));
    for (character, id) in ["counter", "other"].iter().zip(&ids) {
        let path = format!("/v1/characters/{character}/tools/add");
        let called = ask(&stage.program.address, "POST", &path, &[KEYS[0]], r#"{"conversation": "game"}"#).ok();
        assert_eq!((&called["conversation"], &called["result"]), (&json!(id), &json!("The count is 2.")));
    }
    let refused = ask(&stage.program.address, "DELETE", "/v1/conversations/game", &[KEYS[0]], "");
    assert_eq!((refused.status, refused.error("code").as_str()), (409, "conversation_name_ambiguous"));
    for (character, id) in ["counter", "other"].iter().zip(&ids) {
        assert!(refused.error("message").contains(&format!("{id} ({character})")), "{refused:?}");
        assert_eq!(
            ask(&stage.program.address, "DELETE", &format!("/v1/conversations/{id}"), &[KEYS[0]], "").status,
            200
        );
    }
}

#[test]
fn the_traces_of_a_named_conversation_go_with_it() {
    let stage = with_keys(&["one", "two"], &[("CALLBOARD_TRACE_CONTENT", "true")]);
    for name in ["game", "other game"] {
        say_as(&stage, KEYS[0], "counter", name);
    }
    let traces = || {
        let list = ask(&stage.program.address, "GET", "/v1/traces", &[KEYS[0]], "").ok();
        list["data"].as_array().unwrap().iter().map(|trace| trace["conversation"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(traces().len(), 2);
    ask(&stage.program.address, "DELETE", "/v1/conversations/game", &[KEYS[0]], "").ok();
    let left = ask(&stage.program.address, "GET", "/v1/conversations/other%20game", &[KEYS[0]], "").ok();
    assert_eq!(traces(), [left["id"].clone()]);
}

/// The client's tool.
fn show() -> Value {
    json!([{"type": "function", "function": {"name": "show", "parameters": {"type": "object", "properties": {}}}}])
}

#[test]
fn a_client_brings_tools_of_its_own_and_the_turn_continues_with_its_results() {
    for (by_id, stream) in [(false, false), (false, true), (true, false)] {
        let stage = Stage::with_turns(&[]);
        stage.script.then([calls("", &[("add", json!({})), ("show", json!({}))]), text("Shown."), text("Bye.")]);
        let id = by_id.then(|| new_conversation(&stage.program.address));
        let headers = id.as_ref().map(|id| format!("{HEADER}: {id}"));
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let ask_with = |messages: &Vec<Value>, stream: bool| {
            let body = json!({"model": "counter", "messages": messages, "tools": show(), "stream": stream}).to_string();
            ask(&stage.program.address, "POST", "/v1/chat/completions", &headers, &body)
        };
        let mut messages = vec![user("Add and show.")];
        let answer = ask_with(&messages, stream);
        let conversation = named(&answer);
        assert!(!answer.body.contains("\"add\""), "its own calls are not the client's: {answer:?}");
        let call = match stream {
            true => streamed_call(&answer),
            false => {
                let choice = &answer.json()["choices"][0];
                assert_eq!(choice["finish_reason"], "tool_calls", "{answer:?}");
                choice["message"]["tool_calls"][0].clone()
            }
        };
        assert_eq!(call["function"]["name"], "show");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "It is shown."}));
        let answer = ask_with(&messages, false);
        assert_eq!((named(&answer), stage.count(&conversation)), (conversation.clone(), json!(1)));
        let content = &answer.json()["choices"][0]["message"]["content"];
        assert_eq!(content, "Shown.");
        assert_eq!(results(&stage), ["The count is 1.", "It is shown."], "{by_id}");
        messages.extend([assistant("Shown."), user("Bye.")]);
        assert_eq!(named(&ask_with(&messages, false)), conversation);
        assert_eq!(results(&stage), ["The count is 1.", "It is shown."], "{by_id}, a turn later");
        let mut kinds = stage.kinds(&conversation);
        kinds.sort_unstable();
        let expected = ["assistant", "assistant", "function_call", "function_call_output", "mcp_call", "user", "user"];
        assert_eq!(kinds, expected, "{by_id}");
    }
}

/// The results that the model got with the last request, in the order of their texts.
fn results(stage: &Stage) -> Vec<String> {
    let asked = stage.script.asked().pop().unwrap();
    let names: Vec<&Value> = asked["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["add", "show"]);
    let messages = asked["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    let mut results: Vec<String> = messages.map(|result| result["content"].as_str().unwrap().to_owned()).collect();
    results.sort_unstable_by(|one, other| other.cmp(one));
    results
}

/// The one call of a stream.
fn streamed_call(answer: &Answer) -> Value {
    let chunks =
        answer.body.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let mut call = json!({});
    for part in chunks.filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0).cloned()) {
        if part["id"].is_string() {
            call = json!({"id": part["id"], "type": "function", "function": part["function"]});
        } else {
            let text = part["function"]["arguments"].as_str().unwrap();
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default().to_owned() + text;
            call["function"]["arguments"] = arguments.into();
        }
    }
    call
}
