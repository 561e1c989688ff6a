//! Tools that are run by hand in a conversation, and the list of conversations.

use callboard_test_support::{Answer, COUNTER, CharacterFolder, Program, Script, ask, binary, new_conversation, text};
use serde_json::{Value, json};

const KEYS: [&str; 2] = ["authorization: Bearer one", "authorization: Bearer two"];

fn counter_folder() -> CharacterFolder {
    let folder = CharacterFolder::with("counter", &format!("{COUNTER}\nUNDO = True\n"));
    folder.write("other", &COUNTER.replace("\"Counter\"", "\"Other\""));
    folder
}

fn run(program: &Program, headers: &[&str], tool: &str, body: &Value) -> Answer {
    let path = format!("/v1/characters/counter/tools/{tool}");
    ask(&program.address, "POST", &path, headers, &body.to_string())
}

fn add(program: &Program, conversation: &str, arguments: &Value) -> Value {
    run(program, &[], "add", &json!({"conversation": conversation, "arguments": arguments})).ok()
}

fn get(program: &Program, path: &str) -> Value {
    ask(&program.address, "GET", path, &[], "").ok()
}

fn ids(list: &Value) -> Vec<&str> {
    list["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn a_tool_run_by_hand_changes_the_conversation_as_a_models_call_does() {
    let (script, server) = Script::start([text("So it is.")]);
    let folder = counter_folder();
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    let called = add(&program, &conversation, &json!({"number": "4"}));
    let id = called["call_id"].as_str().unwrap();
    assert!(called["duration_ms"].as_f64().unwrap() > 0.0, "{called}");
    let mut expected = json!({"object": "character.tool_call", "conversation": conversation, "character": "counter",
        "tool": "add", "call_id": id, "arguments": {"number": 4}, "result": "The count is 4.", "outcome": "ok",
        "error_type": null, "sequence": 1, "version": 1});
    expected["repairs"] = called["repairs"].clone();
    expected["duration_ms"] = called["duration_ms"].clone();
    assert_eq!((&called, called["repairs"].as_array().unwrap().len()), (&expected, 1));

    let path = format!("/v1/conversations/{conversation}");
    let journal = get(&program, &format!("{path}/journal"));
    assert_eq!((&journal["data"][0]["call_id"], &journal["data"][0]["tool"]), (&json!(id), &json!("add")));
    assert_eq!(get(&program, &format!("{path}/state"))["state"], json!({"count": 4}));
    // A model continues from it, and the model's undo tool takes it back.
    let turn = json!({"model": "counter", "input": "How many?", "conversation": conversation});
    ask(&program.address, "POST", "/v1/responses", &[], &turn.to_string()).ok();
    assert!(script.asked()[0]["messages"][0]["content"].as_str().unwrap().contains("The count is 4."));
    let undone = run(&program, &[], "undo", &json!({"conversation": conversation})).ok();
    assert_eq!((&undone["result"], &undone["sequence"]), (&json!("Undone: add."), &json!(2)));
    assert_eq!(get(&program, &format!("{path}/state"))["state"], json!({"count": 0}));
    let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
    assert!(
        metrics.contains(r#"character_tool_calls_total{character_name="Counter",tool_name="add",outcome="ok"} 1"#),
        "{metrics}"
    );
}

#[test]
fn every_call_has_a_trace_and_is_counted_with_its_outcome() {
    let (_, server) = Script::start([]);
    let (folder, store) = (counter_folder(), tempfile::TempDir::new().unwrap());
    let store = format!("sqlite:{}", store.path().join("store.db").display());
    let flags = ["--upstream", &server.url, "--characters", folder.path(), "--store", &store];
    for content in ["false", "true"] {
        let program = Program::start(&flags, &[("CALLBOARD_TRACE_CONTENT", content)]);
        let conversation = new_conversation(&program.address);
        let rows = [
            ("add", json!({"number": 4}), Value::Null),
            ("add", json!({"number": "four"}), json!("validation")),
            ("add", json!({"number": 400}), json!("execution")),
            ("subtract", json!({"number": 4}), json!("unknown_tool")),
        ];
        for (tool, arguments, error_type) in &rows {
            let answer = run(&program, &[], tool, &json!({"conversation": conversation, "arguments": arguments}));
            let (called, id) = (answer.ok(), answer.header("x-request-id").unwrap());
            let traces = get(&program, &format!("/v1/traces?request_id={id}&conversation={conversation}"));
            let (trace, call) = (&traces["data"][0], &traces["data"][0]["tool_calls"][0]);
            assert_eq!((&trace["endpoint"], &trace["character"]), (&json!("tool"), &json!("counter")), "{traces}");
            assert_eq!((&trace["outcome"], &trace["conversation"]), (&json!("complete"), &json!(conversation)));
            assert_eq!((&call["id"], &call["name"]), (&called["call_id"], &json!(tool)), "{trace}");
            assert_eq!((&call["outcome"], &call["error_type"]), (&called["outcome"], error_type), "{trace}");
            assert_eq!(call["result_bytes"], called["result"].as_str().unwrap().len());
            let recorded = (content == "true").then(|| (arguments.to_string(), called["result"].as_str().unwrap()));
            let found = call["arguments"].as_str().zip(call["result"].as_str());
            assert_eq!(found, recorded.as_ref().map(|(arguments, result)| (arguments.as_str(), *result)), "{trace}");
        }
        let metrics = ask(&program.address, "GET", "/metrics", &[], "").body;
        for (tool, outcome, error_type) in [
            ("add", "ok", ""),
            ("add", "error", "validation"),
            ("add", "error", "execution"),
            ("unknown", "error", "unknown_tool"),
        ] {
            let error_type = if outcome == "ok" { String::new() } else { format!(",error_type=\"{error_type}\"") };
            let labels = format!("character_name=\"Counter\",tool_name=\"{tool}\",outcome=\"{outcome}\"{error_type}");
            assert!(metrics.contains(&format!("character_tool_calls_total{{{labels}}} 1")), "{labels}\n{metrics}");
        }
        assert!(!metrics.contains("callboard_turns_total{"), "{metrics}");
        let shown = shown(&["traces", "--store", &store, "--listen", &program.address]);
        assert!(shown.contains("  tool  counter: complete after "), "{shown}");
        assert!(shown.contains(", called add\n  failed add: validation\n"), "{shown}");
        // What was recorded goes with the conversation, the rest stays.
        let left = get(&program, "/v1/traces")["data"].as_array().unwrap().len();
        ask(&program.address, "DELETE", &format!("/v1/conversations/{conversation}"), &[], "").ok();
        let deleted = if content == "true" { rows.len() } else { 0 };
        assert_eq!(get(&program, "/v1/traces")["data"].as_array().unwrap().len(), left - deleted);
        program.terminate();
        assert_eq!(program.exit_code(), Some(0));
    }
    let stats: Value = serde_json::from_str(&shown(&["stats", "--store", &store, "--json"])).unwrap();
    let counted = ["turns", "tools_run", "tool_errors", "tools_refused"].map(|name| stats["data"][0][name].clone());
    assert_eq!(counted, [0, 4, 2, 4].map(Value::from), "{stats}");
}

/// What a command of the program prints.
fn shown(words: &[&str]) -> String {
    let output = std::process::Command::new(binary()).args(words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn errors_are_what_a_model_would_get_and_change_nothing() {
    let (_, server) = Script::start([]);
    let folder = counter_folder();
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    for (tool, arguments, error_type, start) in [
        ("add", json!({"number": "four"}), "validation", "Error: Invalid parameters - "),
        ("add", json!({"numbers": 4}), "validation", "Error: Invalid parameters - "),
        ("add", json!({"number": 400}), "execution", "Error: "),
        ("subtract", json!({}), "unknown_tool", "Error: Unknown tool: subtract"),
    ] {
        let called = run(&program, &[], tool, &json!({"conversation": conversation, "arguments": arguments})).ok();
        assert_eq!((&called["outcome"], &called["error_type"]), (&json!("error"), &json!(error_type)), "{called}");
        assert!(called["result"].as_str().unwrap().starts_with(start), "{called}");
        assert_eq!(
            (&called["arguments"], &called["sequence"], &called["version"]),
            (&arguments, &Value::Null, &json!(0))
        );
    }
    let state = get(&program, &format!("/v1/conversations/{conversation}/state"));
    assert_eq!((&state["character"], &state["version"]), (&Value::Null, &json!(0)));
}

#[test]
fn what_cannot_be_run_is_refused() {
    let (_, server) = Script::start([]);
    let folder = counter_folder();
    let program = folder.serve(&server);
    let conversation = new_conversation(&program.address);
    add(&program, &conversation, &json!({}));
    let there = json!({"conversation": conversation}).to_string();
    let post = |character: &str, body: &str| {
        let path = format!("/v1/characters/{character}/tools/add");
        let refused = ask(&program.address, "POST", &path, &[], body);
        (refused.status, refused.error("code"), refused.error("param"))
    };
    let refused = |status: u16, code: &str, param: &str| (status, code.to_owned(), param.to_owned());
    assert_eq!(post("nobody", &there).0, 404);
    assert_eq!(post("other", &there), refused(400, "conversation_played_by_other", "conversation"));
    assert_eq!(post("counter", "{}"), refused(400, "missing_required_field", "conversation"));
    assert_eq!(
        post("counter", r#"{"conversation": "conv_1"}"#),
        refused(404, "conversation_not_found", "conversation")
    );
    assert_eq!(ask(&program.address, "GET", "/v1/characters/counter/tools/add", &[], "").status, 405);
}

#[test]
fn conversations_are_listed_newest_first_by_character_and_by_page() {
    let (_, server) = Script::start([]);
    let folder = counter_folder();
    let program = folder.serve(&server);
    assert_eq!(
        get(&program, "/v1/conversations"),
        json!({"object": "list", "data": [], "first_id": "", "last_id": "", "has_more": false})
    );
    let made: Vec<String> = (0..3).map(|_| new_conversation(&program.address)).collect();
    add(&program, &made[0], &json!({"number": 2}));
    add(&program, &made[2], &json!({}));
    let all = get(&program, "/v1/conversations");
    let created = |list: &Value| {
        list["data"].as_array().unwrap().iter().map(|one| one["created_at"].as_i64()).collect::<Vec<_>>()
    };
    assert!(created(&all).is_sorted_by(|newer, older| newer >= older), "{all}");
    let mut everything = ids(&all);
    let (first, rest) = (get(&program, "/v1/conversations?limit=2"), |after: &str| {
        get(&program, &format!("/v1/conversations?limit=2&after={after}"))
    });
    assert_eq!((ids(&first), &first["has_more"]), (everything[..2].to_vec(), &json!(true)));
    let next = rest(first["last_id"].as_str().unwrap());
    assert_eq!((ids(&next), &next["has_more"]), (everything[2..].to_vec(), &json!(false)));
    let of_counter = get(&program, "/v1/conversations?character=counter");
    let mut played = ids(&of_counter);
    assert!(
        of_counter["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["character"] == "counter" && one["object"] == "conversation")
    );
    played.sort_unstable();
    everything.sort_unstable();
    let (mut with_calls, mut expected) =
        (vec![made[0].as_str(), made[2].as_str()], made.iter().map(String::as_str).collect::<Vec<_>>());
    with_calls.sort_unstable();
    expected.sort_unstable();
    assert_eq!((played, everything), (with_calls, expected));
    for (query, param) in
        [("after=conv_none", "after"), ("limit=0", "limit"), ("order=asc", "order"), ("caracter=x", "caracter")]
    {
        let refused = ask(&program.address, "GET", &format!("/v1/conversations?{query}"), &[], "");
        assert_eq!((refused.status, refused.error("param")), (400, param.to_owned()), "{refused:?}");
    }
}

#[test]
fn with_keys_both_see_the_conversations_of_their_own_key_only() {
    let (_, server) = Script::start([]);
    let folder = counter_folder();
    let program = Program::start(
        &["--upstream", &server.url, "--characters", folder.path()],
        &[("CALLBOARD_API_KEYS", "one,two")],
    );
    let made = ask(&program.address, "POST", "/v1/conversations", &[KEYS[0]], "{}").ok();
    let body = json!({"conversation": made["id"]});
    let statuses = [&[][..], &[KEYS[1]], &[KEYS[0]]].map(|headers| run(&program, headers, "add", &body).status);
    assert_eq!(statuses, [401, 404, 200]);
    let seen = |headers: &[&str]| ask(&program.address, "GET", "/v1/conversations", headers, "");
    assert_eq!(seen(&[]).status, 401);
    let lists = KEYS.map(|key| seen(&[key]).ok()["data"].as_array().unwrap().len());
    assert_eq!(lists, [1, 0]);
    let foreign = format!("/v1/conversations?after={}", made["id"].as_str().unwrap());
    assert_eq!(ask(&program.address, "GET", &foreign, &[KEYS[1]], "").status, 400);
}

/// Tools that are offered only in some states, with arguments beyond the usual size.
#[test]
fn armies_and_overrides_of_grimlog_belong_to_one_conversation() {
    let (_, server) = Script::start([]);
    let characters = concat!(env!("CARGO_MANIFEST_DIR"), "/../../characters");
    let program = Program::start(&["--upstream", &server.url, "--characters", characters], &[]);
    let (conversation, other) = (new_conversation(&program.address), new_conversation(&program.address));
    let call = |conversation: &str, tool: &str, arguments: Value| {
        let path = format!("/v1/characters/grimlog/tools/{tool}");
        let body = json!({"conversation": conversation, "arguments": arguments}).to_string();
        ask(&program.address, "POST", &path, &[], &body).ok()
    };
    let state = |conversation: &str| get(&program, &format!("/v1/conversations/{conversation}/state"))["state"].clone();
    let unit = |number: usize| json!({"name": format!("Mob number {number}"), "models": 5, "wounds": 2, "roles": {"leader": 1}});
    let units: Vec<Value> = (1..=40).map(unit).collect();
    let set = call(&conversation, "set_army", json!({"player": "player", "units": units}));
    assert_eq!(set["outcome"], "ok", "{set}");
    assert_eq!(call(&conversation, "record_override", json!({}))["error_type"], "unknown_tool");
    call(&conversation, "advance_battle_round", json!({"round_number": 4}));
    call(&other, "advance_battle_round", json!({"round_number": 1}));
    assert_eq!(call(&conversation, "set_army", json!({"player": "player"}))["error_type"], "unknown_tool");
    let decided = json!({"rule": "round_skip", "player": "opponent", "reason": "house rule"});
    assert_eq!(call(&conversation, "record_override", decided.clone())["outcome"], "ok");
    assert_eq!(call(&conversation, "record_override", decided)["error_type"], "unknown_tool");
    let (changed, untouched) = (state(&conversation), state(&other));
    assert_eq!(changed["units"]["player"].as_object().unwrap().len(), 40);
    assert!(untouched["units"]["player"]["Terminator Squad"].is_object(), "{untouched}");
    assert_eq!(changed["events"]["0002"]["override"], json!({"by": "opponent", "reason": "house rule"}));
    assert_eq!(changed["events"]["0003"]["kind"], "override");
}

#[test]
fn a_conversation_may_begin_with_armies_in_its_metadata() {
    let (script, server) = Script::start((0..8).map(|_| text("Noted.")));
    let characters = concat!(env!("CARGO_MANIFEST_DIR"), "/../../characters");
    let program = Program::start(&["--upstream", &server.url, "--characters", characters], &[]);
    let with_army = |army: &str| {
        let body = json!({"metadata": {"player_army": army}}).to_string();
        ask(&program.address, "POST", "/v1/conversations", &[], &body).ok()["id"].as_str().unwrap().to_owned()
    };
    let turn = |conversation: &str| {
        let body = json!({"model": "grimlog", "input": "Hello.", "conversation": conversation}).to_string();
        ask(&program.address, "POST", "/v1/responses", &[], &body)
    };
    let nobz = r#"[{"name": "Nobz", "models": 5, "wounds": 2}]"#;
    let chat = |fields: Value, headers: &[&str]| {
        let mut body = json!({"model": "grimlog", "messages": [{"role": "user", "content": "Hello."}]});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ask(&program.address, "POST", "/v1/chat/completions", headers, &body.to_string())
    };
    let has_army = || {
        let prompt = script.asked()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
        assert!(prompt.contains("Nobz: 5/5 models") && !prompt.contains("Terminator Squad"), "{prompt}");
    };
    turn(&with_army(nobz)).ok();
    has_army();
    // Over Chat Completions too: in a conversation that has metadata, or that begins with those of the request.
    chat(json!({}), &[&format!("callboard-conversation: {}", with_army(nobz))]).ok();
    has_army();
    let metadata = json!({"player_army": nobz, "topic": "x"});
    chat(json!({"metadata": metadata}), &["callboard-conversation: battle"]).ok();
    has_army();
    assert_eq!(get(&program, "/v1/conversations/battle")["metadata"], metadata);
    // Later requests may repeat them.
    chat(json!({"metadata": {"player_army": "opponent"}}), &["callboard-conversation: battle"]).ok();
    has_army();
    assert_eq!(get(&program, "/v1/conversations/battle")["metadata"], metadata);
    for (metadata, param, words) in [
        (json!({"player_army": "orks"}), "metadata", "no stored army list 'orks'"),
        (json!({"player_army": 1}), "metadata.player_army", "metadata.player_army"),
    ] {
        let refused = chat(json!({"metadata": metadata}), &[]);
        assert_eq!((refused.status, refused.error("param").as_str()), (400, param), "{refused:?}");
        assert!(refused.error("message").contains(words), "{refused:?}");
    }
    let by_hand = with_army("opponent");
    let body = json!({"conversation": by_hand, "arguments": {"unit_name": "Carnifex", "owner": "player"}}).to_string();
    let path = "/v1/characters/grimlog/tools/mark_unit_destroyed";
    assert_eq!(ask(&program.address, "POST", path, &[], &body).ok()["outcome"], "ok");
    for (army, words) in [("orks", "no stored army list 'orks'"), ("[{}]", "unit 1"), ("[", "not JSON")] {
        let refused = turn(&with_army(army));
        assert_eq!((refused.status, refused.error("param").as_str()), (400, "metadata"), "{refused:?}");
        assert!(refused.error("message").contains(words), "{refused:?}");
    }
}
