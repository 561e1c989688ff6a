//! The expectations of a page for Chat Completions as data: the parts of the reply, how it ends, and the contract report.
//!
//! Upstream requests for responses are always streamed, so the streamed expectation applies where a page has both; the whole
//! one adds the status of a failure before any output.

use callboard_test_support::golden_page::{Page, Section};
use serde_json::Value;

use super::super::render::counted_usage;
use super::super::reply_events::Folded;
use super::parts::{self, Part};

/// The expected reply.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) parts: Vec<Part>,
    /// Why the model stopped; none where the reply fails.
    pub(super) finish: Option<String>,
    pub(super) failure: Option<Failure>,
    /// Whether a streamed reply sends anything before a failure.
    pub(super) begun: bool,
    /// The contract report, if there is one.
    pub(super) contract: Option<String>,
    /// Tokens, if the page has them for the same upstream replies.
    pub(super) usage: Option<Value>,
    pub(super) estimated: bool,
}

/// An error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// The status if nothing was sent before it; none if the page has no whole reply.
    pub(super) status: Option<u16>,
    pub(super) retry_after: Option<String>,
    pub(super) error: Value,
}

/// Reads the expectations of a page.
pub(super) fn read(page: &Page) -> Expected {
    let streamed = page.section("Client, streamed");
    let whole = page.section("Client, whole");
    let mut expected = match (streamed, whole) {
        (Some(section), _) => of_section(section),
        (None, Some(section)) => of_section(section),
        (None, None) => panic!("{}: the page expects nothing", page.stem),
    };
    let other = whole.map(of_section).unwrap_or_default();
    if let (Some(failure), Some(other)) = (&mut expected.failure, other.failure) {
        failure.status = failure.status.or(other.status);
    }
    if page.upstreams().iter().all(|section| section.fence("sse").is_none()) {
        expected.usage = expected.usage.or(other.usage).or_else(|| counted_usage(&page.upstreams(), 1));
        expected.estimated |= other.estimated;
    }
    let contract = page.section("Contract").and_then(|section| section.text.split('`').nth(1)).map(str::to_owned);
    expected.contract = contract.filter(|word| word != "none");
    expected
}

fn of_section(section: &Section) -> Expected {
    if let Some(text) = section.fence("http") {
        return Expected { failure: Some(of_http(&text)), ..Expected::default() };
    }
    if let Some(text) = section.fence("json") {
        let body: Value = serde_json::from_str(&text).expect("a body");
        let reply = Folded::of_body(&body);
        let finish = reply.finish_reason.as_str().map(str::to_owned);
        let estimated = section.text.contains("callboard-usage: estimated");
        let usage = body.get("usage").filter(|usage| !usage.is_null()).cloned();
        return Expected { parts: parts::of_chat(reply), finish, usage, estimated, begun: true, ..Expected::default() };
    }
    of_lines(&section.fence("text").expect("events"))
}

fn of_http(text: &str) -> Failure {
    let (head, body) = text.split_once("\n\n").expect("a head and a body");
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let body: Value = serde_json::from_str(body).expect("the body of an error");
    Failure {
        status: value("HTTP ").and_then(|status| status.parse().ok()),
        retry_after: value("retry-after: "),
        error: with_responses_paths(&body["error"]),
    }
}

/// The fields of a tool are one level higher in a request to `/v1/responses`.
fn with_responses_paths(error: &Value) -> Value {
    let mut error = error.clone();
    if let Some(place) = error["param"].as_str().map(str::to_owned) {
        let own = place.replacen("].function.", "].", 1);
        error["message"] = error["message"].as_str().map(|message| message.replace(&place, &own)).into();
        error["param"] = own.into();
    }
    error
}

/// Events as text, as pages show them. Arguments may have several lines.
fn of_lines(text: &str) -> Expected {
    let mut expected = Expected { begun: true, ..Expected::default() };
    for line in text.lines() {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words = || serde_json::from_str::<String>(rest).expect("words in quotes");
        match kind {
            "role" | "[DONE]" => {}
            "reasoning" => expected.parts.push(Part::Reasoning(words())),
            "text" => expected.parts.push(Part::Text(words())),
            "refusal" => expected.parts.push(Part::Refusal(words())),
            "call" => expected.parts.push(call(rest)),
            "finish" => expected.finish = Some(rest.to_owned()),
            "usage" => expected.usage = serde_json::from_str(rest).ok(),
            ":" => expected.estimated |= rest == "callboard-usage estimated",
            "error" => expected.failure = Some(of_event(rest)),
            _ => match expected.parts.last_mut() {
                Some(Part::Call([_, _, arguments])) => arguments.extend(["\n", line]),
                _ => panic!("{line:?} is no event"),
            },
        }
    }
    expected.parts = parts::joined(expected.parts);
    expected
}

fn of_event(text: &str) -> Failure {
    Failure { status: None, retry_after: None, error: serde_json::from_str(text).expect("an error") }
}

/// A call is its index, id, name and arguments.
fn call(rest: &str) -> Part {
    let mut words = rest.splitn(4, ' ').skip(1).map(str::to_owned);
    let mut next = || words.next().unwrap_or_default();
    Part::Call([next(), next(), next()])
}
