//! Probes of model servers of all kinds, each a function from a request to a reply.

use serde_json::{Value, json};

use super::Probe;
use crate::wire::chat::adapt::{Finding, Refusal};

const MARKER: &str = "k3f9";

/// A reply, or a status and a message.
type Answer = Result<Value, (u16, &'static str)>;

/// A server that honors every feature, except for what a test changes.
#[derive(Clone, Copy)]
struct Server {
    counts: bool,
    sees_tools: bool,
    thinks: u64,
    named: Behaviour,
    required: Behaviour,
    json_schema: Behaviour,
    schema_in_json_object: Behaviour,
    parallel: Behaviour,
    strict: Behaviour,
}

#[derive(Clone, Copy, PartialEq)]
enum Behaviour {
    Honors,
    Ignores,
    Refuses(u16, &'static str),
}
use Behaviour::{Honors, Ignores, Refuses};

const GOOD: Server = Server {
    counts: true,
    sees_tools: true,
    thinks: 0,
    named: Honors,
    required: Honors,
    json_schema: Honors,
    schema_in_json_object: Ignores,
    parallel: Honors,
    strict: Honors,
};

const DEAF: Server = Server {
    sees_tools: false,
    named: Ignores,
    required: Ignores,
    json_schema: Ignores,
    parallel: Ignores,
    strict: Ignores,
    ..GOOD
};

impl Server {
    fn answer(self, request: &Value) -> Answer {
        let (tested, behaviour) = self.tested(request);
        if let Refuses(status, message) = behaviour {
            return Err((status, message));
        }
        let limit = request["max_tokens"].as_u64().unwrap();
        let mut message = if limit < self.thinks {
            json!({"role": "assistant", "content": null, "reasoning_content": "Hm"})
        } else if behaviour == Honors {
            forced(tested, request)
        } else {
            self.left_alone(request)
        };
        let finish = if limit <= self.thinks.max(1) { "length" } else { "stop" };
        if limit == 1 && self.thinks == 0 {
            message = json!({"role": "assistant", "content": "OK"});
        }
        let mut reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]});
        if self.counts {
            let seen = if self.sees_tools { request["tools"].to_string().len() / 4 } else { 0 };
            reply["usage"] = json!({"prompt_tokens": 20 + seen, "completion_tokens": 1});
        }
        Ok(reply)
    }

    fn tested(self, request: &Value) -> (&'static str, Behaviour) {
        let choice = &request["tool_choice"];
        match request["response_format"]["type"].as_str() {
            Some("json_schema") => ("format", self.json_schema),
            Some(_) => ("format", self.schema_in_json_object),
            None if choice.is_object() => ("named", self.named),
            None if choice == "required" => ("required", self.required),
            None if request["parallel_tool_calls"] == false => ("parallel", self.parallel),
            None if request["tools"][0]["function"]["strict"] == true => ("strict", self.strict),
            None => ("", Ignores),
        }
    }

    /// What a model that sees tools does on its own: it calls where it is asked to.
    fn left_alone(self, request: &Value) -> Value {
        let calls = match request["messages"][0]["content"].as_str().unwrap() {
            words if !self.sees_tools || request["tools"].is_null() => return said(words),
            words if words.contains("twice") => {
                vec![("open_door", json!({"door": 1})), ("open_door", json!({"door": 2}))]
            }
            words if words.contains("Set the word") => vec![("set_word", json!({"word": "apple"}))],
            words => return said(words),
        };
        called(&calls)
    }
}

fn forced(tested: &str, request: &Value) -> Value {
    let word = json!({"word": format!("zyx-{MARKER}")});
    match tested {
        "format" => json!({"role": "assistant", "content": word.to_string()}),
        "named" | "strict" => called(&[("set_word", word)]),
        "required" => called(&[("close_valve", json!({"valve": 1}))]),
        "parallel" => called(&[("open_door", json!({"door": 1}))]),
        _ => said(&request.to_string()),
    }
}

fn said(words: &str) -> Value {
    json!({"role": "assistant", "content": format!("You said: {words}")})
}

fn called(calls: &[(&str, Value)]) -> Value {
    let calls = calls.iter().map(|(name, arguments)| {
        json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
    });
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}

/// Probes a server; what was found, in one line, and how many requests it took. A probe that was broken off says so at the end.
fn probe(server: impl Fn(&Value) -> Answer) -> (String, usize) {
    let (mut probe, mut found, mut requests) = (Probe::new(MARKER), Vec::new(), 0);
    while let Some(request) = probe.request() {
        requests += 1;
        assert!(requests < 20, "a probe ends");
        found.extend(match server(&request) {
            Ok(reply) => probe.answered(reply.to_string().as_bytes()),
            Err((status, message)) => probe.refused(&Refusal { status, message, param: None, code: None }),
        });
    }
    let words = found.iter().map(|finding| match finding {
        Finding::Quirk(quirk) => quirk.to_string(),
        Finding::Capability(feature, support) => format!("{}={}", feature.as_str(), support.as_str()),
    });
    let end = (!probe.is_complete()).then(|| "broken off".to_owned());
    (words.chain(end).collect::<Vec<_>>().join(" "), requests)
}

#[test]
fn each_kind_of_server_is_recognized() {
    let all_ignored = "tools=ignored tool_choice:named=ignored tool_choice:required=ignored response_format=ignored";
    let honored = "tools=honored tool_choice:named=honored tool_choice:required=honored response_format=honored";
    let table = [
        ("honors what can be shown", GOOD, honored.to_owned()),
        ("ignores everything", DEAF, all_ignored.to_owned()),
        (
            "sees tools and ignores the rest",
            Server { sees_tools: true, ..DEAF },
            format!(
                "{} parallel_tool_calls=ignored strict=ignored",
                all_ignored.replacen("tools=ignored", "tools=honored", 1)
            ),
        ),
        (
            "forces a named choice and an older form of schema, as llama-cpp-python does",
            Server {
                named: Honors,
                json_schema: Refuses(500, "1 validation error: response_format.type must be json_object"),
                schema_in_json_object: Honors,
                ..DEAF
            },
            "tools=ignored tool_choice:named=honored tool_choice:required=ignored response_format=refused \
             schema_in_json_object response_format=honored"
                .to_owned(),
        ),
        (
            "refuses each choice",
            Server { named: Refuses(400, "no"), required: Refuses(422, "no"), ..GOOD },
            honored.replace("named=honored", "named=refused").replace("required=honored", "required=refused"),
        ),
        (
            "refuses the newer fields",
            Server { parallel: Refuses(400, "extra fields"), strict: Refuses(400, "extra fields"), ..GOOD },
            format!("{honored} parallel_tool_calls=refused strict=refused"),
        ),
        ("thinks first", Server { thinks: 100, ..GOOD }, honored.to_owned()),
        ("thinks for longer than the probe waits", Server { thinks: 1000, ..GOOD }, "tools=honored".to_owned()),
        (
            "counts nothing",
            Server { counts: false, ..GOOD },
            "tool_choice:named=honored tool_choice:required=honored response_format=honored tools=honored".to_owned(),
        ),
        (
            "counts nothing and ignores everything",
            Server { counts: false, ..DEAF },
            all_ignored.replacen("tools=ignored ", "", 1),
        ),
    ];
    for (name, server, expected) in table {
        let (found, requests) = probe(|request| server.answer(request));
        assert_eq!(found, expected, "{name}");
        assert!(requests <= 9, "{name}: {requests} requests");
    }
}

#[test]
fn tools_may_be_refused_as_such() {
    let refused = "tools=refused tool_choice:named=honored tool_choice:required=honored response_format=honored";
    for (status, message) in
        [(400, "\"auto\" tool choice requires a parser"), (500, "tools param requires --jinja flag")]
    {
        let (found, _) = probe(|request| match request["tools"].is_array() && request["tool_choice"].is_null() {
            true => Err((status, message)),
            false => GOOD.answer(request),
        });
        assert_eq!(found, refused);
    }
}

#[test]
fn an_error_of_another_kind_ends_the_probe() {
    for (status, message) in
        [(500, "CUDA out of memory"), (503, "loading the tools"), (429, "slow down"), (401, "no key")]
    {
        let (found, requests) = probe(|request| match request["tool_choice"] == "required" {
            true => Err((status, message)),
            false => GOOD.answer(request),
        });
        assert_eq!((found.as_str(), requests), ("tools=honored tool_choice:named=honored broken off", 4), "{status}");
        assert_eq!(probe(|_| Err((status, message))), ("broken off".to_owned(), 1), "{status}");
    }
    let unusable =
        |request: &Value| if request["tools"].is_null() { GOOD.answer(request) } else { Ok(json!({"error": "no"})) };
    assert_eq!(probe(unusable), ("broken off".to_owned(), 2));
    assert_eq!(
        probe(|_| Err((400, "no such model"))),
        ("broken off".to_owned(), 1),
        "the plain request is about no field"
    );
}

/// What a reply to one of the requests shows, where all others are answered by a good server.
fn with_reply(is_tested: fn(&Value) -> bool, message: &Value, finish: &str) -> String {
    let reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": {"prompt_tokens": 20, "completion_tokens": 1}});
    probe(|request| if is_tested(request) { Ok(reply.clone()) } else { GOOD.answer(request) }).0
}

#[test]
fn a_named_choice_is_honored_by_a_call_that_is_constrained() {
    let named = |request: &Value| request["tool_choice"].is_object();
    let call = |arguments: &str| {
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "set_word", "arguments": arguments}}]})
    };
    let word = |text: &str| text.replace("WORD", &format!("zyx-{MARKER}"));
    for (message, finish, expected) in [
        (call(&word(r#"{"word": "WORD"}"#)), "length", "honored"),
        (call(&word("{\n  \"word\": \"WORD\"\n}")), "tool_calls", "honored"),
        (call(r#"{"word": "zyx-k"#), "length", "honored"),
        (call(r#"{"wo"#), "length", ""),
        (call(r#"{"word": "apple"}"#), "tool_calls", ""),
        (said("Hello!"), "stop", "ignored"),
        (said("Hello!"), "length", "ignored"),
        (json!({"role": "assistant", "content": ""}), "stop", "ignored"),
        (json!({"role": "assistant", "content": ""}), "length", ""),
        (json!({"role": "assistant", "content": "<think>Hm, apples"}), "length", ""),
        (json!({"role": "assistant", "content": "<think>Hm</think>Hello!"}), "stop", "ignored"),
    ] {
        let found = with_reply(named, &message, finish);
        let support =
            found.split("tool_choice:named=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        assert_eq!(support, expected, "{message} {finish}");
    }
}

#[test]
fn counts_that_a_cache_has_changed_show_nothing() {
    for (plain, with_tool, expected) in
        [(20, 20, "ignored"), (20, 22, "ignored"), (20, 30, ""), (20, 60, "honored"), (1, 1, ""), (0, 0, "")]
    {
        let (found, _) = probe(|request| {
            let tokens = if request["tools"].is_null() { plain } else { with_tool };
            let mut reply = DEAF.answer(request)?;
            reply["usage"]["prompt_tokens"] = tokens.into();
            Ok(reply)
        });
        let support = found.strip_prefix("tools=").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        assert_eq!(support, expected, "{plain} {with_tool}");
    }
}
