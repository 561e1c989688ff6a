//! A client of a program that may be killed at any moment.

use callboard_test_support::try_ask;
use serde_json::{Value, json};

/// The outcome of a request.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A complete answer with status 200.
    Acknowledged(Value),
    /// A complete answer with an error.
    Refused(u16, String),
    /// No complete answer: the request may have been applied or not.
    NoAnswer,
}

impl Outcome {
    /// The answer, if there is one. Panics on an error.
    pub(super) fn acknowledged(self) -> Option<Value> {
        match self {
            Self::Acknowledged(answer) => Some(answer),
            Self::Refused(status, body) => panic!("refused with {status}: {body}"),
            Self::NoAnswer => None,
        }
    }
}

/// Posts JSON. A streamed answer is acknowledged by its last event.
pub(super) fn post(address: &str, path: &str, headers: &[&str], body: &Value) -> Outcome {
    let Some(answer) = try_ask(address, "POST", path, headers, &body.to_string()) else { return Outcome::NoAnswer };
    if answer.status != 200 {
        return Outcome::Refused(answer.status, answer.body);
    }
    if body["stream"] != true {
        return Outcome::Acknowledged(serde_json::from_str(&answer.body).unwrap());
    }
    let events: Vec<Value> =
        answer.body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    match events.last() {
        Some(last) if last["type"] == "response.completed" => Outcome::Acknowledged(last["response"].clone()),
        _ => Outcome::Refused(answer.status, answer.body),
    }
}

/// Gets JSON from a running program.
pub(super) fn get(address: &str, path: &str) -> Value {
    let answer = try_ask(address, "GET", path, &[], "").unwrap_or_else(|| panic!("no answer to {path}"));
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap()
}

/// All entries of a list that comes in pages. The next page begins after `cursor` of the last entry.
pub(super) fn get_all(address: &str, path: &str, cursor: impl Fn(&Value) -> String) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let after = all.last().map(|last| format!("&after={}", cursor(last))).unwrap_or_default();
        let page = get(address, &format!("{path}{after}"));
        all.extend(page["data"].as_array().unwrap().iter().cloned());
        if page["has_more"] == false {
            return all;
        }
    }
}

/// A request for a response of the keeper.
pub(super) fn note(token: &str, stream: bool) -> Value {
    json!({"model": "keeper", "input": format!("note {token}"), "stream": stream})
}

/// The text of a response.
pub(super) fn said(response: &Value) -> String {
    let output = response["output"].as_array().unwrap();
    let message = output.iter().find(|item| item["type"] == "message").unwrap_or_else(|| panic!("{response}"));
    message["content"][0]["text"].as_str().unwrap().to_owned()
}
