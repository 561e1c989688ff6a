//! Conversation pages: several requests to a separate program, often with characters, and what is stored at the end.
//!
//! A page is run once streamed and once whole, each time by a new program with an empty store. Identical results of both runs
//! are written once, below their request.

use std::sync::Arc;

use callboard_test_support::golden_page::{Page, Section, Step};
use callboard_test_support::{Answer, CharacterFolder, Connection, Program, ask};
use serde_json::Value;

use super::Harness;
use super::compact_json::compact;
use super::harness::{MODEL_SERVER, holds_text};
use super::ids::Ids;
use super::play::{Mode, Outcome};
use super::render::{self, Titled, counted_usage};
use super::reply_rules::faults_of_stream;
use super::responses::last_object;

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

/// Headings of sections that `UPDATE=1` writes.
const WRITTEN: [&str; 7] = ["Asked upstream", "Client", "Contract", "Conversation", "Stored", "Metrics", "Printed"];

/// The result of one run of a page.
struct Run {
    /// For each request, what the client and the model server saw.
    steps: Vec<Vec<Titled>>,
    outcomes: Vec<Outcome>,
    /// What is stored, counted and printed at the end.
    remains: Vec<Titled>,
}

/// The page with its expectations filled in from two runs; other faults are added to `faults`.
pub(super) fn page_text(harness: &Harness, page: &Arc<Page>, text: &str, faults: &mut Vec<String>) -> String {
    let only = page.section("Request 1").and_then(|section| section.option("only"));
    let modes = Mode::BOTH.into_iter().filter(|mode| only.is_none_or(|only| only == mode.word()));
    let mut runs: Vec<Run> = Vec::new();
    for mode in modes {
        let next = run(harness, page, mode, runs.first(), faults);
        runs.push(next);
    }
    let remains = render::merged(runs.iter_mut().map(|run| std::mem::take(&mut run.remains)));
    let mut written = (0..page.steps().len()).map(|place| step_sections(&mut runs, place, faults)).collect::<Vec<_>>();
    written.push(remains);
    filled(text, written)
}

fn step_sections(runs: &mut [Run], place: usize, faults: &mut Vec<String>) -> Vec<Titled> {
    if let [streamed, whole] = &*runs {
        faults.extend(render::difference_when_folded(&streamed.outcomes[place], &whole.outcomes[place]));
    }
    render::merged(runs.iter_mut().map(|run| std::mem::take(&mut run.steps[place])))
}

/// The inputs of a page, each request followed by its results, and the final sections.
fn filled(text: &str, written: Vec<Vec<Titled>>) -> String {
    let (title, _) = text.split_once("\n## ").unwrap_or((text, ""));
    let mut parts = vec![title.trim_end().to_owned()];
    let mut written = written.into_iter().map(|sections| sections.into_iter().map(|titled| titled.markdown()));
    let mut begun = false;
    for section in Page::read(String::new(), text).sections {
        if WRITTEN.iter().any(|start| section.heading.starts_with(start)) {
            continue;
        }
        if section.heading.starts_with("Request ") && std::mem::replace(&mut begun, true) {
            parts.extend(written.next().into_iter().flatten());
        }
        parts.push(format!("## {}\n\n{}", section.heading, section.text.trim()));
    }
    parts.extend(written.flatten());
    parts.join("\n\n") + "\n"
}

fn run(harness: &Harness, page: &Arc<Page>, mode: Mode, streamed: Option<&Run>, faults: &mut Vec<String>) -> Run {
    let characters = CharacterFolder::default();
    page.characters().iter().for_each(|(name, code)| characters.write(name, code));
    let program = harness.start(page, &["--characters", characters.path(), "--model", &page.stem]);
    let places = [(characters.path(), "characters"), (harness.upstream(), MODEL_SERVER)];
    let mut ids = Ids::with_places(page, &places);
    if page.steps().iter().any(|step| step.request.text.contains("conv_1")) {
        ids.renamed(&ask(&program.address, "POST", "/v1/conversations", &[], "{}").ok().to_string());
    }
    let mut run = Run { steps: Vec::new(), outcomes: Vec::new(), remains: Vec::new() };
    let mut first_asked = None;
    for (place, step) in page.steps().iter().enumerate() {
        let request = Request::of(page, step.request, mode, &ids);
        let outcome = request.send(harness, page, &program, step.first_reply, mode);
        let mut found = outcome.faults_of_exchange(step.replies);
        let mut sections = asked_sections(step, &outcome.asked, &mut first_asked, &mut ids);
        let streamed = streamed.map(|run| &run.outcomes[place]);
        sections.extend(client_sections(page, step, &request, (&outcome, streamed), &mut ids, &mut found));
        let about = |fault| format!("{}, {}: {fault}", step.request.heading, mode.word());
        faults.extend(found.into_iter().map(about));
        run.steps.push(sections);
        run.outcomes.push(outcome);
    }
    run.remains = remains(page, program, &mut ids);
    run
}

/// One request of a page, as it is sent.
struct Request {
    method: &'static str,
    path: String,
    headers: Vec<String>,
    /// Null where the page gives none.
    body: Value,
}

impl Request {
    /// The request with what the page leaves out: the model, and `stream` in the streamed run.
    fn of(page: &Page, section: &Section, mode: Mode, ids: &Ids) -> Self {
        let named = ["GET", "POST", "DELETE"].into_iter().find_map(|method| Some((method, section.option(method)?)));
        let (method, path) = named.unwrap_or(("POST", CHAT));
        let text = section.fence("json").unwrap_or_else(|| "null".to_owned());
        let mut body: Value = serde_json::from_str(&ids.resolved(&text))
            .unwrap_or_else(|error| panic!("{}: {}: {error}", page.stem, section.heading));
        if [CHAT, RESPONSES].contains(&path) {
            let model = page.characters().first().map_or(page.stem.clone(), |(name, _)| (*name).to_owned());
            let body = body.as_object_mut().expect("a request is an object");
            body.entry("model").or_insert(model.into());
            if mode == Mode::Streamed {
                body.insert("stream".to_owned(), true.into());
            }
        }
        let headers = section.option("header").map(|header| ids.resolved(header)).into_iter().collect();
        Self { method, path: ids.resolved(path), headers, body }
    }

    fn send(&self, harness: &Harness, page: &Arc<Page>, program: &Program, first_reply: usize, mode: Mode) -> Outcome {
        let body = if self.body.is_null() { String::new() } else { self.body.to_string() };
        let (response, asked) = harness.play_at(page, first_reply, || {
            let headers: Vec<&str> = self.headers.iter().map(String::as_str).collect();
            let connection = Connection::send(&program.address, self.method, &self.path, &headers, &body);
            connection.rest_by_line(|line| {
                if holds_text(line) {
                    harness.client_has_text(page);
                }
            })
        });
        Outcome { mode, response, asked }
    }
}

/// The upstream requests: the first request of a step if the page shows it, the others as differences from it.
fn asked_sections(step: &Step<'_>, asked: &[Value], first: &mut Option<Value>, ids: &mut Ids) -> Vec<Titled> {
    let mut sections = Vec::new();
    for (place, request) in asked.iter().enumerate() {
        let shown = match (place, &*first) {
            (0, _) if step.request.option("show what is asked").is_none() => continue,
            (0, Some(first)) => render::changes(first, request),
            (0, None) => render::without_mode(request),
            _ => render::changes(&asked[0], request),
        };
        let text = format!("```json\n{}\n```\n", ids.renamed(&compact(&shown)));
        sections.push(Titled::new(format!("Asked upstream {}", step.first_reply + place), text));
    }
    if first.is_none() {
        *first = asked.first().cloned();
    }
    sections
}

fn client_sections(
    page: &Page,
    step: &Step<'_>,
    request: &Request,
    (outcome, streamed): (&Outcome, Option<&Outcome>),
    ids: &mut Ids,
    faults: &mut Vec<String>,
) -> Vec<Titled> {
    if request.path == CHAT {
        if outcome.is_stream() {
            faults.extend(faults_of_stream(
                &outcome.events(),
                request.body["model"].as_str().unwrap_or_default(),
                false,
            ));
        }
        let replies = &page.upstreams()[step.first_reply - 1..][..step.replies];
        let mut sections =
            render::client_sections(outcome, streamed, counted_usage(replies, step.first_reply).as_ref(), ids);
        sections.retain(|section| !["`ok`\n", "`none`\n"].contains(&section.text.as_str()));
        if step.request.option("show the conversation").is_some() {
            let id = outcome.response.header("callboard-conversation").unwrap_or("none");
            sections.push(Titled::new("Conversation", format!("`{}`\n", ids.renamed(id))));
        }
        return sections;
    }
    let shown = match request.path == RESPONSES && outcome.response.status == 200 {
        true if outcome.is_stream() => brief(&last_object(outcome.text(), faults)),
        true => brief(&outcome.json()),
        false => outcome.json(),
    };
    vec![Titled::new("Client", shown_answer(&outcome.response, shown, ids))]
}

fn shown_answer(response: &Answer, body: Value, ids: &mut Ids) -> String {
    let body = ids.renamed(&compact(&render::settled(body)));
    match response.status {
        200 => format!("```json\n{body}\n```\n"),
        status => format!("```http\nHTTP {status}\n\n{body}\n```\n"),
    }
}

/// A response without fields that repeat the request, and without empty ones.
fn brief(object: &Value) -> Value {
    let keys = ["id", "status", "conversation", "previous_response_id", "error", "incomplete_details", "output"];
    without_empty(&keys.iter().map(|key| ((*key).to_owned(), object[*key].clone())).collect())
}

fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let filled = map.iter().filter(|(_, value)| !value.is_null() && **value != Value::Array(Vec::new()));
            filled.map(|(key, value)| (key.clone(), without_empty(value))).collect()
        }
        Value::Array(list) => list.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

/// What is stored, counted and printed at the end, as far as the page shows it.
fn remains(page: &Page, program: Program, ids: &mut Ids) -> Vec<Titled> {
    let mut sections = Vec::new();
    let get = |path: &str| ask(&program.address, "GET", path, &[], "");
    for section in page.sections.iter().filter(|section| !section.heading.ends_with(", whole")) {
        let text = match section.heading.split_once(' ').unwrap_or((&section.heading, "")) {
            ("Stored", about) => {
                let path = ids.resolved(&stored_path(about));
                shown_stored(&get(&path), ids)
            }
            ("Metrics", _) => metrics_text(section, &get("/metrics").body),
            _ => continue,
        };
        sections.push(Titled::new(section.heading.clone(), text));
    }
    if page.section("Printed").is_some() {
        let lines = program.printed_until_exit();
        let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| line.starts_with('[')).collect();
        sections.push(Titled::new("Printed", format!("```text\n{}\n```\n", lines.join("\n"))));
    }
    sections
}

/// Where something stored can be read: `state`, `journal` and `items` of the conversation, the last trace, or a response by its name.
fn stored_path(about: &str) -> String {
    match about {
        "state" | "journal" => format!("/v1/conversations/conv_1/{about}"),
        "items" => "/v1/conversations/conv_1/items?order=asc&limit=100".to_owned(),
        "trace" => "/v1/traces?limit=1".to_owned(),
        "traces" => "/v1/traces".to_owned(),
        name => format!("{RESPONSES}/{name}"),
    }
}

fn shown_stored(response: &Answer, ids: &mut Ids) -> String {
    let body = response.json();
    let shown = match body["object"].as_str() {
        Some("list") => without_empty(&body["data"]),
        Some("response") => brief(&body),
        _ => body,
    };
    shown_answer(response, shown, ids)
}

/// The metrics that a page lists, below its list.
fn metrics_text(section: &Section, metrics: &str) -> String {
    let names: Vec<&str> = section.options().collect();
    let is_shown =
        |line: &&str| names.iter().any(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' '])));
    let mut lines: Vec<&str> = metrics.lines().filter(is_shown).collect();
    lines.sort_unstable();
    let list: String = names.iter().map(|name| format!("- {name}\n")).collect();
    format!("{list}\n```text\n{}\n```\n", lines.join("\n"))
}
