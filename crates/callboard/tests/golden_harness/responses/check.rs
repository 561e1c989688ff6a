//! Compares a page with its results over the Responses API.

use std::sync::Arc;

use callboard_test_support::golden_page::Page;
use serde_json::{Value, json};

use super::super::Harness;
use super::super::ids::Ids;
use super::super::render::{self, Titled};
use super::super::reply_events::Folded;
use super::super::reply_rules::faults_of_calls;
use super::expected::{self, Expected, Failure};
use super::parts::{self, Part};
use super::request;
use super::stream_rules::faults_of_events;
use super::transport::{Body, Received, Transport, play};

/// Whether a page is a scenario whose request can be converted.
pub(crate) fn can_be_played(page: &Page) -> bool {
    page.request().is_some() && page.section("Accepted").or_else(|| page.section("Refused")).is_none()
}

/// Runs a page over all transports and returns its faults.
pub(crate) fn check_page(harness: &Harness, page: &Arc<Page>) -> Option<String> {
    let chat = page.request().unwrap_or_else(|| panic!("{}: there is no request to convert", page.stem));
    let expected = expected::read(page);
    let asked = match request::converted(&chat) {
        Ok(asked) => asked,
        Err(key) => return Some(format!("tests/golden/{}.md\n  {key:?} cannot be converted\n", page.stem)),
    };
    let all = Transport::ALL.map(|transport| play(harness, page, &asked, transport));
    let mut faults = Vec::new();
    for received in &all {
        let mut found = received.faults.clone();
        found.extend(faults_of_upstream_requests(page, received, &chat));
        found.extend(faults_of_outcome(page, received, &expected, &chat));
        faults.extend(found.into_iter().map(|fault| format!("  {:?}: {fault}", received.transport)));
    }
    faults.extend(difference_of_objects(page, &all));
    (!faults.is_empty()).then(|| format!("tests/golden/{}.md\n{}\n", page.stem, faults.join("\n")))
}

/// Upstream requests are the same as for a chat request.
fn faults_of_upstream_requests(page: &Page, received: &Received, chat: &Value) -> Vec<String> {
    let due = request::expected_upstream(page, chat);
    let mut faults = Vec::new();
    if received.asked.len() != page.upstreams().len() {
        let (asked, replies) = (received.asked.len(), page.upstreams().len());
        faults.push(format!("the model server was asked {asked} times, the page has {replies} replies"));
    }
    if let Some(first) = received.asked.first().map(render::without_mode)
        && first != due
    {
        faults.push(format!("the model server is asked\n    {first}\n  and not\n    {due}"));
    }
    for Titled { heading, text } in
        render::asked_sections(page, &received.asked, &mut Ids::new(page)).iter().skip_while(is_first)
    {
        // After a learned quirk, the page shows both the first request and the later one.
        let mut shown = page.sections.iter().filter(|section| section.heading.starts_with(heading.as_str()));
        if !shown.any(|section| section.text.trim() == text.trim()) {
            faults.push(format!("{heading} is\n{text}"));
        }
    }
    faults
}

/// The first request is compared separately, with the names of this API.
fn is_first(section: &&Titled) -> bool {
    section.heading == "Asked upstream 1"
}

fn faults_of_outcome(page: &Page, received: &Received, expected: &Expected, chat: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if received.transport != Transport::Socket && received.contract != expected.contract {
        faults.push(format!("the contract is {:?} and not {:?}", received.contract, expected.contract));
    }
    match (&received.body, &expected.failure) {
        (Body::Error(status, error), Some(failure)) if received.transport == Transport::Whole || !expected.begun => {
            faults.extend(faults_of_error(received, *status, error, failure));
        }
        (Body::Object(object), None) => faults.extend(faults_of_reply(page, received, expected, object, chat)),
        (Body::Events(events), failure) if failure.is_none() || expected.begun => {
            faults.extend(faults_of_events(events, received.transport));
            let last = events.last().map_or(&Value::Null, |event| &event["response"]);
            faults.extend(match failure {
                None => faults_of_reply(page, received, expected, last, chat),
                Some(failure) => faults_of_failed_response(page, received, expected, failure, events),
            });
        }
        (body, _) => faults.push(format!("{body:?} came, and {expected:?} is due")),
    }
    faults
}

fn faults_of_error(received: &Received, status: u16, error: &Value, failure: &Failure) -> Vec<String> {
    let mut faults = Vec::new();
    if failure.status.is_some_and(|due| due != status) {
        faults.push(format!("the status is {status} and not {:?}", failure.status));
    }
    if received.transport != Transport::Socket
        && failure.status.is_some()
        && received.retry_after != failure.retry_after
    {
        faults.push(format!("retry-after is {:?} and not {:?}", received.retry_after, failure.retry_after));
    }
    if *error != failure.error {
        faults.push(format!("the error is\n    {error}\n  and not\n    {}", failure.error));
    }
    faults
}

fn faults_of_reply(page: &Page, received: &Received, expected: &Expected, object: &Value, chat: &Value) -> Vec<String> {
    let mut faults: Vec<String> = faults_of_content(page, received, expected, object).into_iter().collect();
    let reason = match expected.finish.as_deref() {
        Some("length") => json!({"reason": "max_output_tokens"}),
        Some("content_filter") => json!({"reason": "content_filter"}),
        _ => Value::Null,
    };
    let status = if reason.is_null() { "completed" } else { "incomplete" };
    if object["status"] != status || object["incomplete_details"] != reason || !object["error"].is_null() {
        faults.push(format!("it ends as {} ({}), due is {status}", object["status"], object["incomplete_details"]));
    }
    if received.transport != Transport::Socket && received.estimated != expected.estimated && expected.usage.is_some() {
        faults.push(format!("usage is estimated: {}, due is {}", received.estimated, expected.estimated));
    }
    let usage = &object["usage"];
    let counted = json!({"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"], "total_tokens": usage["total_tokens"]});
    if let Some(due) = expected.usage.as_ref().filter(|due| tokens(due) != tokens(&counted)) {
        faults.push(format!("usage is {usage} and not {due}"));
    }
    faults.extend(faults_of_calls(&folded(object, expected), chat));
    faults
}

fn tokens(usage: &Value) -> [&Value; 3] {
    ["prompt_tokens", "completion_tokens", "total_tokens"].map(|key| &usage[key])
}

/// The parts of a chat reply that the checks of calls need.
fn folded(object: &Value, expected: &Expected) -> Folded {
    let calls = parts::calls(&parts::of_output(&object["output"]));
    let finish_reason = expected.finish.clone().into();
    Folded { calls, finish_reason, ..Folded::default() }
}

fn faults_of_content(page: &Page, received: &Received, expected: &Expected, object: &Value) -> Option<String> {
    let mut ids = Ids::new(page);
    render::asked_sections(page, &received.asked, &mut ids);
    let parts = parts::renamed(parts::of_output(&object["output"]), &mut ids);
    let due: Vec<Part> = parts::renamed(expected.parts.clone(), &mut Ids::new(page));
    (parts != due).then(|| format!("it says\n    {parts:?}\n  and not\n    {due:?}"))
}

/// A response that failed after it began: an error event, except on a WebSocket, and the partial object.
fn faults_of_failed_response(
    page: &Page,
    received: &Received,
    expected: &Expected,
    failure: &Failure,
    events: &[Value],
) -> Vec<String> {
    let [.., error, last] = events else { return vec!["there are no events".to_owned()] };
    let mut faults: Vec<String> = faults_of_content(page, received, expected, &last["response"]).into_iter().collect();
    let text = |key: &str| failure.error[key].as_str().unwrap_or_default();
    let (due, message) = (format!("{} ({})", text("message"), text("code")), &last["response"]["error"]["message"]);
    if *message != due {
        faults.push(format!("the object's error is\n    {message}\n  and not\n    {due}"));
    }
    if received.transport == Transport::Socket {
        return faults;
    }
    let at_top = ["code", "message", "param"].iter().all(|key| error[key] == failure.error[key]);
    if error["error"] != failure.error || !at_top {
        faults.push(format!("the error is\n    {error}\n  and not\n    {}", failure.error));
    }
    faults
}

/// The object in the last event equals the whole reply, except for ids and times.
fn difference_of_objects(page: &Page, all: &[Received]) -> Option<String> {
    let object = |received: &Received| match &received.body {
        Body::Object(object) => Some(object.clone()),
        Body::Events(events) => events.last().map(|event| event["response"].clone()),
        Body::Error(..) | Body::Ended => None,
    };
    let settled: Vec<(Transport, Value)> =
        all.iter().filter_map(|received| Some((received.transport, settled(page, object(received)?)))).collect();
    let (first, rest) = settled.split_first()?;
    let other = rest.iter().find(|(_, object)| *object != first.1)?;
    Some(format!("  {:?} is not {:?}:\n    {}\n    {}", first.0, other.0, first.1, other.1))
}

fn settled(page: &Page, mut object: Value) -> Value {
    for key in ["id", "created_at", "completed_at"] {
        let kind = if object[key].is_string() {
            "text"
        } else if object[key].is_number() {
            "number"
        } else {
            "none"
        };
        object[key] = kind.into();
    }
    let mut ids = Ids::new(page);
    for item in object["output"].as_array_mut().into_iter().flatten() {
        let kind = item["id"].as_str().and_then(|id| id.split_once('_')).map(|(kind, _)| kind.to_owned());
        item["id"] = kind.into();
        if let Some(id) = item["call_id"].as_str() {
            item["call_id"] = ids.renamed(id).into();
        }
    }
    object
}
