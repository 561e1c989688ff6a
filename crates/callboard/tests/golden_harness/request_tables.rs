//! Table pages: changes to one request, each accepted or refused, in both modes.
//!
//! `## Accepted` shows the changed fields of the upstream request; `## Refused` shows the param, the code and the message.

use std::sync::Arc;

use callboard_test_support::golden_page::{Page, Section};
use serde_json::{Map, Value};

use super::Harness;
use super::compact_json::one_line;
use super::play::{Mode, Outcome, play, request_for};

/// The tables of a page, filled in; other faults are added to `faults`.
pub(super) fn page_text(harness: &Harness, page: &Arc<Page>, faults: &mut Vec<String>) -> String {
    let mut text = String::new();
    for heading in ["Accepted", "Refused"] {
        let Some(section) = page.section(heading) else { continue };
        let (columns, filled): (_, fn(&Outcome, &Value) -> String) = match heading {
            "Accepted" => ("| change | sent on |\n|---|---|\n", sent_on),
            _ => ("| change | param | code | message |\n|---|---|---|---|\n", refusal),
        };
        let rows: Vec<Value> = changes(section);
        assert!(!rows.is_empty(), "{}: the table {heading} is empty", page.stem);
        let rows = rows.iter().map(|change| {
            let outcomes = Mode::BOTH.map(|mode| played(harness, page, change, mode));
            faults.extend(outcomes.iter().filter_map(|outcome| fault(outcome, change, heading)));
            let [streamed, whole] = outcomes.map(|outcome| filled(&outcome, change));
            if streamed != whole {
                faults.push(format!("{}: streamed: {streamed}; whole: {whole}", one_line(change)));
            }
            format!("| `{}` | {streamed} |\n", one_line(change).replace('|', "\\|"))
        });
        let rows: String = rows.collect();
        text.push_str(&format!("## {heading}\n\n{columns}{rows}\n"));
    }
    text.trim_end().to_owned() + "\n"
}

/// The first column of a table.
fn changes(section: &Section) -> Vec<Value> {
    let cells = section.text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    cells
        .map(|(change, _)| {
            serde_json::from_str(&change.replace("\\|", "|")).unwrap_or_else(|error| panic!("{change}: {error}"))
        })
        .collect()
}

fn played(harness: &Harness, page: &Arc<Page>, change: &Value, mode: Mode) -> Outcome {
    let mut request = request_for(page, &page.request().expect("a request to change"), mode);
    for (key, value) in change.as_object().into_iter().flatten() {
        request[key.as_str()] = value.clone();
    }
    play(harness, page, &request, mode)
}

fn fault(outcome: &Outcome, change: &Value, heading: &str) -> Option<String> {
    let due = if heading == "Accepted" { (200, 1) } else { (400, 0) };
    let came = (outcome.response.status, outcome.asked.len());
    (came != due).then(|| {
        format!(
            "{}: {}: status {}, {} requests sent on; due are {} and {}",
            one_line(change),
            outcome.mode.word(),
            came.0,
            came.1,
            due.0,
            due.1
        )
    })
}

fn sent_on(outcome: &Outcome, change: &Value) -> String {
    let Some(Value::Object(asked)) = outcome.asked.first() else { return "nothing".to_owned() };
    let kept: Map<String, Value> = asked
        .iter()
        .filter(|(key, _)| change.get(key.as_str()).is_some())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if Value::Object(kept.clone()) == *change {
        "as it is".to_owned()
    } else {
        format!("`{}`", one_line(&Value::Object(kept)).replace('|', "\\|"))
    }
}

fn refusal(outcome: &Outcome, _: &Value) -> String {
    let body = if outcome.is_stream() { Value::Null } else { outcome.json() };
    let word =
        |key: &str| body["error"][key].as_str().map_or_else(|| "none".to_owned(), |word| word.replace('|', "\\|"));
    format!("`{}` | `{}` | {}", word("param"), word("code"), word("message"))
}
