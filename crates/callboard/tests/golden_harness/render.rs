//! The expectations of a page, written from results: upstream requests, the client's reply, the contract report.

use callboard_test_support::golden_page::{Page, Reply, Section};
use serde_json::{Map, Value, json};

use super::compact_json::compact;
use super::ids::Ids;
use super::play::{Mode, Outcome};
use super::reply_events::{Event, Folded, in_words};

/// A section of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Titled {
    pub(super) heading: String,
    pub(super) text: String,
}

impl Titled {
    pub(super) fn new(heading: impl Into<String>, text: String) -> Self {
        Self { heading: heading.into(), text }
    }

    /// The section as Markdown.
    pub(super) fn markdown(&self) -> String {
        format!("## {}\n\n{}", self.heading, self.text.trim_end())
    }
}

/// The sections of one run of a scenario; ids are named in the order of their appearance.
fn sections_of(page: &Page, outcome: &Outcome, streamed: Option<&Outcome>) -> Vec<Titled> {
    let mut ids = Ids::new(page);
    let mut sections = asked_sections(page, &outcome.asked, &mut ids);
    sections.extend(client_sections(outcome, streamed, counted_usage(&page.upstreams(), 1).as_ref(), &mut ids));
    sections
}

/// The upstream requests, as far as a page shows them.
pub(super) fn asked_sections(page: &Page, all: &[Value], ids: &mut Ids) -> Vec<Titled> {
    let shows_first = page.section("Request").is_some_and(|section| section.option("show what is asked").is_some());
    let mut sections = Vec::new();
    for (place, asked) in all.iter().enumerate() {
        let shown = match all.first() {
            Some(first) if place > 0 => changes(first, asked),
            _ if shows_first => with_tools_shortened(page, without_mode(asked)),
            _ => continue,
        };
        let text = format!("```json\n{}\n```\n", ids.renamed(&compact(&shown)));
        sections.push(Titled::new(format!("Asked upstream {}", place + 1), text));
    }
    sections
}

/// The client's reply. A whole reply is shown as its difference from the streamed one, if there is one.
pub(super) fn client_sections(
    outcome: &Outcome,
    streamed: Option<&Outcome>,
    usage: Option<&Value>,
    ids: &mut Ids,
) -> Vec<Titled> {
    let shown = match streamed {
        Some(streamed) => {
            difference_of_whole(outcome, streamed, usage, ids).map(|body| shown_reply(outcome, &body, ids))
        }
        None => Some(client_text(outcome, ids)),
    };
    let client = shown.map(|text| Titled::new(format!("Client, {}", outcome.mode.word()), text));
    let contract = format!("`{}`\n", contract(outcome).unwrap_or_else(|| "none".to_owned()));
    client.into_iter().chain([Titled::new("Contract", contract)]).collect()
}

fn client_text(outcome: &Outcome, ids: &mut Ids) -> String {
    if outcome.is_stream() {
        return format!("```text\n{}\n```\n", ids.renamed(&in_words(&outcome.events()).join("\n")));
    }
    shown_reply(outcome, &settled(outcome.json()), ids)
}

/// A whole reply or an error, with this body.
fn shown_reply(outcome: &Outcome, body: &Value, ids: &mut Ids) -> String {
    let (status, body) = (outcome.response.status, ids.renamed(&compact(body)));
    if status != 200 {
        let retry = outcome
            .response
            .header("retry-after")
            .map(|seconds| format!("retry-after: {seconds}\n"))
            .unwrap_or_default();
        return format!("```http\nHTTP {status}\n{retry}\n{body}\n```\n");
    }
    let estimate = outcome
        .response
        .header("callboard-usage")
        .map(|word| format!("With the header `callboard-usage: {word}`:\n\n"));
    format!("{}```json\n{body}\n```\n", estimate.unwrap_or_default())
}

/// The difference of a whole reply from the folded stream with the model server's token counts.
fn difference_of_whole(whole: &Outcome, streamed: &Outcome, usage: Option<&Value>, ids: &Ids) -> Option<Value> {
    let body = settled(whole.json());
    let Some(folded) = streamed.folded() else {
        let head =
            |outcome: &Outcome| (outcome.response.status, outcome.response.header("retry-after").map(str::to_owned));
        let same = !streamed.is_stream() && head(streamed) == head(whole) && settled(streamed.json()) == body;
        return (!same).then_some(body);
    };
    if whole.response.status != 200 {
        return Some(body);
    }
    let due = unfolded(with_generated_ids(folded, whole.folded().unwrap_or_default(), ids), streamed, usage);
    let keys = body.as_object().into_iter().chain(due.as_object()).flat_map(Map::keys);
    let changed: Map<String, Value> =
        keys.filter(|key| body[*key] != due[*key]).map(|key| (key.clone(), body[key].clone())).collect();
    let mark = whole.response.header("callboard-usage").map(|word| format!("callboard-usage {word}"));
    let is_marked = |event: &Event| matches!(event, Event::Comment(words) if Some(words) == mark.as_ref());
    let is_new_mark = mark.is_some() && !streamed.events().iter().any(is_marked);
    (!changed.is_empty() || is_new_mark).then(|| Value::Object(changed))
}

/// The streamed reply with the generated ids of the whole one, where both are generated.
fn with_generated_ids(mut streamed: Folded, whole: Folded, ids: &Ids) -> Folded {
    for ([id, ..], [other, ..]) in streamed.calls.iter_mut().zip(whole.calls) {
        if ids.is_drawn(id) && ids.is_drawn(&other) {
            *id = other;
        }
    }
    streamed
}

/// The whole reply equivalent to a stream.
fn unfolded(reply: Folded, streamed: &Outcome, counted: Option<&Value>) -> Value {
    let or_null = |text: String, is_null: bool| if is_null { Value::Null } else { text.into() };
    let (no_refusal, only_calls) = (reply.refusal.is_empty(), reply.content.is_empty() && !reply.calls.is_empty());
    let (content, refusal) = (or_null(reply.content, only_calls), or_null(reply.refusal, no_refusal));
    let mut message = json!({"role": "assistant", "content": content, "refusal": refusal});
    if !reply.reasoning.is_empty() {
        message["reasoning_content"] = reply.reasoning.into();
    }
    let function = |name, arguments| json!({"name": name, "arguments": arguments});
    let call = |[id, name, arguments]: [String; 3]| json!({"id": id, "type": "function", "function": function(name, arguments)});
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply.calls.into_iter().map(call).collect();
    }
    let events = streamed.events();
    let mut chunks = events.iter().filter_map(|event| if let Event::Data(chunk) = event { Some(chunk) } else { None });
    let model = chunks.clone().find_map(|chunk| chunk.get("model"));
    let usage = chunks.find_map(|chunk| chunk.get("usage").filter(|usage| !usage.is_null())).or(counted);
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": reply.finish_reason});
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice],
        "usage": usage})
}

/// The sum of the token counts in these replies; none if one of them has no plain count.
pub(super) fn counted_usage(replies: &[&Section], first_reply: usize) -> Option<Value> {
    let keys = ["prompt_tokens", "completion_tokens", "total_tokens"];
    let mut sum = [0; 3];
    let given = replies.iter().enumerate().filter(|(_, reply)| reply.option("status").is_none());
    for (place, reply) in given {
        let usage = match reply.fence("json") {
            Some(body) => serde_json::from_str::<Value>(&body).ok()?["usage"].clone(),
            None => Reply::read(&reply.fence("reply")?, first_reply + place).usage,
        };
        if usage.as_object()?.keys().any(|key| !keys.contains(&key.as_str())) {
            return None;
        }
        for (sum, key) in sum.iter_mut().zip(keys) {
            *sum += usage[key].as_u64()?;
        }
    }
    Some(keys.into_iter().map(str::to_owned).zip(sum.map(Value::from)).collect())
}

/// The difference between the folded stream and the whole reply, ignoring ids.
pub(super) fn difference_when_folded(streamed: &Outcome, whole: &Outcome) -> Option<String> {
    match (streamed.folded(), whole.folded()) {
        (Some(mut streamed), Some(mut whole)) => {
            streamed.calls.iter_mut().chain(&mut whole.calls).for_each(|[id, ..]| id.clear());
            let fault = || format!("the folded stream is not the whole reply:\n  {streamed:?}\n  {whole:?}");
            (streamed != whole).then(fault)
        }
        (None, None) => None,
        _ => Some("one mode fails, the other does not".to_owned()),
    }
}

/// A body without what differs from run to run: ids of chat replies and of traces, times and durations.
pub(super) fn settled(mut body: Value) -> Value {
    match &mut body {
        Value::Object(map) => {
            for (key, value) in map {
                let ends = ["_at", "_ms"].iter().any(|end| key.ends_with(end));
                let is_time = value.is_number() && (key == "created" || key == "at" || ends);
                *value = match value.take() {
                    _ if is_time => 1.into(),
                    Value::String(id) if key == "id" && id.starts_with("chatcmpl-") => "chatcmpl-1".into(),
                    Value::String(id) if key.ends_with("id") && is_hex_id(&id) => "1".into(),
                    other => settled(other),
                };
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| *value = settled(value.take())),
        _ => {}
    }
    body
}

/// Whether this is an id of a trace or of a span.
fn is_hex_id(id: &str) -> bool {
    [16, 32].contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The contract report of a reply: a header, or a comment if the headers were already sent.
fn contract(outcome: &Outcome) -> Option<String> {
    let comment = || {
        let events = if outcome.is_stream() { outcome.events() } else { Vec::new() };
        events.iter().find_map(|event| match event {
            Event::Comment(words) => words.strip_prefix("callboard-contract ").map(str::to_owned),
            _ => None,
        })
    };
    outcome.response.header("callboard-contract").map(str::to_owned).or_else(comment)
}

/// A request without the fields of the mode.
pub(super) fn without_mode(request: &Value) -> Value {
    let mut map = request.as_object().cloned().unwrap_or_default();
    ["model", "stream", "stream_options"].iter().for_each(|key| drop(map.shift_remove(*key)));
    Value::Object(map)
}

/// Shortens the client's own tools.
fn with_tools_shortened(page: &Page, mut asked: Value) -> Value {
    if asked.get("tools").is_some() && page.request().is_some_and(|request| request["tools"] == asked["tools"]) {
        asked["tools"] = "as requested".into();
    }
    asked
}

/// How a later request differs from the first.
pub(super) fn changes(first: &Value, later: &Value) -> Value {
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

/// The sections of all runs as one text.
pub(super) fn page_text(page: &Page, outcomes: &[Outcome]) -> String {
    let streamed = outcomes.first().filter(|outcome| outcome.mode == Mode::Streamed);
    let sections = |outcome: &Outcome| sections_of(page, outcome, streamed.filter(|_| outcome.mode == Mode::Whole));
    let mut merged = merged(outcomes.iter().map(sections));
    let order = |heading: &str| ["Asked", "Client", "Contract"].iter().position(|start| heading.starts_with(start));
    merged.sort_by_key(|section| order(&section.heading));
    merged.iter().map(Titled::markdown).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// The sections of the streamed and the whole run. Identical ones are written once.
pub(super) fn merged(runs: impl Iterator<Item = Vec<Titled>>) -> Vec<Titled> {
    let mut merged: Vec<Titled> = Vec::new();
    for section in runs.flatten() {
        match merged.iter().find(|known| known.heading == section.heading) {
            Some(known) if *known == section => {}
            Some(_) => merged.push(Titled::new(format!("{}, whole", section.heading), section.text)),
            None => merged.push(section),
        }
    }
    merged
}

/// The modes a page runs in.
pub(super) fn modes(page: &Page) -> Vec<Mode> {
    let only = page.section("Request").and_then(|section| section.option("only"));
    let has_body = |section: &&Section| ["reply", "json", "text"].iter().any(|kind| section.fence(kind).is_some());
    let stream_only = !page.upstreams().iter().all(has_body);
    Mode::BOTH
        .into_iter()
        .filter(|mode| only.is_none_or(|only| only == mode.word()))
        .filter(|mode| *mode == Mode::Streamed || !stream_only)
        .collect()
}
