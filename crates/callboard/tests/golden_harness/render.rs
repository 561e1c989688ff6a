//! The expectations of a page, written from what was seen: what was asked, what the client got, what the contract says.

use serde_json::{Map, Value, json};

use super::compact_json::compact;
use super::events::{Event, in_words};
use super::ids::Ids;
use super::play::{Mode, Take};
use crate::golden_page::Page;

/// The sections that one run yields, as heading and text; ids are named in the order in which they were on the wire.
pub(super) fn sections_of(page: &Page, take: &Take) -> Vec<(String, String)> {
    let mut ids = Ids::new(page);
    let mut sections = asked_sections(page, &take.asked, &mut ids);
    sections.push((format!("Client, {}", take.mode.word()), client_text(take, &mut ids)));
    sections.push(("Contract".to_owned(), format!("`{}`\n", contract(take).unwrap_or_else(|| "none".to_owned()))));
    sections
}

/// What the model server was asked, as far as a page shows it.
pub(super) fn asked_sections(page: &Page, all: &[Value], ids: &mut Ids) -> Vec<(String, String)> {
    let shows_first = page.section("Request").is_some_and(|section| section.option("show what is asked").is_some());
    let mut sections = Vec::new();
    for (place, asked) in all.iter().enumerate() {
        let shown = match all.first() {
            Some(first) if place > 0 => changes(first, asked),
            _ if shows_first => with_tools_shortened(page, without_mode(asked)),
            _ => continue,
        };
        let text = format!("```json\n{}\n```\n", ids.renamed(&compact(&shown)));
        sections.push((format!("Asked upstream {}", place + 1), text));
    }
    sections
}

fn client_text(take: &Take, ids: &mut Ids) -> String {
    let status = take.response.status();
    if status != 200 {
        let retry =
            take.response.header("retry-after").map(|seconds| format!("retry-after: {seconds}\n")).unwrap_or_default();
        return format!("```http\nHTTP {status}\n{retry}\n{}\n```\n", ids.renamed(&compact(&take.json())));
    }
    if take.is_stream() {
        return format!("```text\n{}\n```\n", ids.renamed(&in_words(&take.events()).join("\n")));
    }
    let estimate =
        take.response.header("callboard-usage").map(|word| format!("With the header `callboard-usage: {word}`:\n\n"));
    format!("{}```json\n{}\n```\n", estimate.unwrap_or_default(), ids.renamed(&compact(&settled(take.json()))))
}

/// A body without what differs from run to run.
fn settled(mut body: Value) -> Value {
    if body["id"].as_str().is_some_and(|id| id.starts_with("chatcmpl-")) {
        body["id"] = "chatcmpl-1".into();
    }
    if body["created"].is_u64() {
        body["created"] = 1.into();
    }
    body
}

/// What a reply says about the contract: a header, or a comment where headers are gone.
fn contract(take: &Take) -> Option<String> {
    let comment = || {
        let events = if take.is_stream() { take.events() } else { Vec::new() };
        events.iter().find_map(|event| match event {
            Event::Comment(words) => words.strip_prefix("callboard-contract ").map(str::to_owned),
            _ => None,
        })
    };
    take.response.header("callboard-contract").map(str::to_owned).or_else(comment)
}

/// A request without what the mode of playing adds.
pub(super) fn without_mode(request: &Value) -> Value {
    let mut map = request.as_object().cloned().unwrap_or_default();
    ["model", "stream", "stream_options"].iter().for_each(|key| drop(map.shift_remove(*key)));
    Value::Object(map)
}

/// The client's own tools are not spelled out again.
fn with_tools_shortened(page: &Page, mut asked: Value) -> Value {
    if asked.get("tools").is_some() && page.request().is_some_and(|request| request["tools"] == asked["tools"]) {
        asked["tools"] = "as requested".into();
    }
    asked
}

/// How a later request differs from the first.
fn changes(first: &Value, later: &Value) -> Value {
    let (first, later) = (without_mode(first), without_mode(later));
    let (empty, mut changed) = (Map::new(), Map::new());
    let (before, after) = (first.as_object().unwrap_or(&empty), later.as_object().unwrap_or(&empty));
    for (key, value) in after.iter().filter(|(key, value)| before.get(*key) != Some(*value)) {
        match (key.as_str(), appended(before.get(key), value)) {
            ("messages", Some(more)) => changed.insert("messages appended".to_owned(), more),
            _ => changed.insert(key.clone(), value.clone()),
        };
    }
    let removed: Vec<&String> = before.keys().filter(|key| !after.contains_key(*key)).collect();
    if !removed.is_empty() {
        changed.insert("removed".to_owned(), json!(removed));
    }
    Value::Object(changed)
}

fn appended(before: Option<&Value>, after: &Value) -> Option<Value> {
    let more = after.as_array()?.strip_prefix(before?.as_array()?.as_slice())?;
    Some(more.to_vec().into())
}

/// The sections of all runs as one text. What is the same in both modes is written once.
pub(super) fn page_text(page: &Page, takes: &[Take]) -> String {
    let mut merged: Vec<(String, String)> = Vec::new();
    for take in takes {
        for (heading, text) in sections_of(page, take) {
            match merged.iter().find(|(known, _)| *known == heading) {
                Some((_, known)) if *known == text => {}
                Some(_) => merged.push((format!("{heading}, {}", take.mode.word()), text)),
                None => merged.push((heading, text)),
            }
        }
    }
    let order = |heading: &str| ["Asked", "Client", "Contract"].iter().position(|start| heading.starts_with(start));
    merged.sort_by_key(|(heading, _)| order(heading));
    merged.iter().map(|(heading, text)| format!("## {heading}\n\n{text}\n")).collect::<String>().trim_end().to_owned()
        + "\n"
}

/// Which modes a page is played in.
pub(super) fn modes(page: &Page) -> Vec<Mode> {
    let only = page.section("Request").and_then(|section| section.option("only"));
    let has_body = |section: &&crate::golden_page::Section| {
        ["reply", "json", "text"].iter().any(|kind| section.fence(kind).is_some())
    };
    let stream_only = !page.upstreams().iter().all(has_body);
    Mode::BOTH
        .into_iter()
        .filter(|mode| only.is_none_or(|only| only == mode.word()))
        .filter(|mode| *mode == Mode::Streamed || !stream_only)
        .collect()
}
