//! One run of a page in one mode: the request, the reply, and the upstream requests.

use std::sync::Arc;

use callboard_test_support::Answer;
use callboard_test_support::golden_page::Page;
use serde_json::Value;

use super::Harness;
use super::harness::post;
use super::reply_events::{self, Event, Folded};
use super::reply_rules::{faults_of_calls, faults_of_stream};

const PATH: &str = "/v1/chat/completions";

/// How a reply is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Streamed,
    Whole,
}

impl Mode {
    pub(super) const BOTH: [Mode; 2] = [Mode::Streamed, Mode::Whole];

    /// The word for it in headings.
    pub(super) fn word(self) -> &'static str {
        match self {
            Mode::Streamed => "streamed",
            Mode::Whole => "whole",
        }
    }
}

/// The result of one run.
pub(super) struct Outcome {
    pub(super) mode: Mode,
    pub(super) response: Answer,
    pub(super) asked: Vec<Value>,
}

/// Sends a request in one mode.
pub(super) fn play(harness: &Harness, page: &Arc<Page>, request: &Value, mode: Mode) -> Outcome {
    play_text(harness, page, &request.to_string(), mode)
}

/// Sends any text as a request.
pub(super) fn play_text(harness: &Harness, page: &Arc<Page>, body: &str, mode: Mode) -> Outcome {
    let (response, asked) = harness.play(page, |address, on_text| post(address, PATH, body, on_text));
    Outcome { mode, response, asked }
}

/// A page's request with the fields of the mode; `stream_options` are left out where nothing is streamed.
pub(super) fn request_for(page: &Page, request: &Value, mode: Mode) -> Value {
    let mut request = request.clone();
    request["model"] = page.stem.as_str().into();
    match mode {
        Mode::Streamed => request["stream"] = true.into(),
        Mode::Whole => {
            request.as_object_mut().expect("a request is an object").remove("stream_options");
        }
    }
    request
}

impl Outcome {
    /// The body as text.
    pub(super) fn text(&self) -> &str {
        &self.response.body
    }

    /// The body as JSON, for whole replies and errors.
    pub(super) fn json(&self) -> Value {
        self.response.json()
    }

    /// Whether the body is a stream.
    pub(super) fn is_stream(&self) -> bool {
        self.response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// The events of a stream.
    pub(super) fn events(&self) -> Vec<Event> {
        reply_events::read(self.text())
    }

    /// The assembled reply; none after an error.
    pub(super) fn folded(&self) -> Option<Folded> {
        if self.response.status != 200 {
            return None;
        }
        if !self.is_stream() {
            return Some(Folded::of_body(&self.json()));
        }
        let events = self.events();
        let failed = events.iter().any(|event| matches!(event, Event::Data(chunk) if chunk.get("error").is_some()));
        (!failed).then(|| Folded::of_stream(&events))
    }

    /// Faults of the reply's head, and of the number of upstream requests.
    pub(super) fn faults_of_exchange(&self, replies: usize) -> Vec<String> {
        let mut faults = Vec::new();
        if self.response.header("x-request-id").is_none() {
            faults.push("there is no x-request-id".to_owned());
        }
        if self.asked.len() != replies {
            let asked = self.asked.len();
            faults.push(format!("the model server was asked {asked} times, the page has {replies} replies"));
        }
        faults
    }

    /// Violations of the invariants of every reply.
    pub(super) fn faults(&self, page: &Page, request: &Value) -> Vec<String> {
        let mut faults = self.faults_of_exchange(page.upstreams().len());
        if self.is_stream() {
            let usage_requested = request["stream_options"]["include_usage"] == true;
            faults.extend(faults_of_stream(&self.events(), &page.stem, usage_requested));
        }
        faults.extend(self.folded().map(|reply| faults_of_calls(&reply, request)).unwrap_or_default());
        faults.into_iter().map(|fault| format!("{}: {fault}", self.mode.word())).collect()
    }
}
