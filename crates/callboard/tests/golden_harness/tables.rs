//! Pages about requests: tables of changes to one request, each accepted or refused, in both modes alike.
//!
//! `## Accepted` shows what was sent on of the changed fields; `## Refused` shows the place, the code and the words.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Stage;
use super::compact_json::one_line;
use super::play::{Mode, Take, play, request_for};
use crate::golden_page::{Page, Section};

/// The tables of a page, filled in; what else is wrong is put into `faults`.
pub(super) fn page_text(stage: &Stage, page: &Arc<Page>, faults: &mut Vec<String>) -> String {
    let mut text = String::new();
    for heading in ["Accepted", "Refused"] {
        let Some(section) = page.section(heading) else { continue };
        let (columns, filled): (_, fn(&Take, &Value) -> String) = match heading {
            "Accepted" => ("| change | sent on |\n|---|---|\n", sent_on),
            _ => ("| change | param | code | message |\n|---|---|---|---|\n", refusal),
        };
        let rows: Vec<Value> = changes(section);
        assert!(!rows.is_empty(), "{}: the table {heading} is empty", page.stem);
        let rows = rows.iter().map(|change| {
            let takes = Mode::BOTH.map(|mode| played(stage, page, change, mode));
            faults.extend(takes.iter().filter_map(|take| fault(take, change, heading)));
            let [streamed, whole] = takes.map(|take| filled(&take, change));
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

fn played(stage: &Stage, page: &Arc<Page>, change: &Value, mode: Mode) -> Take {
    let mut request = request_for(page, &page.request().expect("a request to change"), mode);
    for (key, value) in change.as_object().into_iter().flatten() {
        request[key.as_str()] = value.clone();
    }
    play(stage, page, &request, mode)
}

fn fault(take: &Take, change: &Value, heading: &str) -> Option<String> {
    let due = if heading == "Accepted" { (200, 1) } else { (400, 0) };
    let came = (take.response.status(), take.asked.len());
    (came != due).then(|| {
        format!(
            "{}: {}: status {}, {} requests sent on; due are {} and {}",
            one_line(change),
            take.mode.word(),
            came.0,
            came.1,
            due.0,
            due.1
        )
    })
}

fn sent_on(take: &Take, change: &Value) -> String {
    let Some(Value::Object(asked)) = take.asked.first() else { return "nothing".to_owned() };
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

fn refusal(take: &Take, _: &Value) -> String {
    let body = if take.is_stream() { Value::Null } else { take.json() };
    let word =
        |key: &str| body["error"][key].as_str().map_or_else(|| "none".to_owned(), |word| word.replace('|', "\\|"));
    format!("`{}` | `{}` | {}", word("param"), word("code"), word("message"))
}
