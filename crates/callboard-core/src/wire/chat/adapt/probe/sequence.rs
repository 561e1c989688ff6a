//! The sequence of a probe: which request comes next, and what each reply adds to what is known.

use serde_json::Value;

use super::reply::Reply;
use super::requests;
use super::verdict::{self, Verdict};
use crate::wire::chat::adapt::{Capabilities, Feature, Finding, Quirk, Refusal, Support};

/// What one request tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: the others are compared with it.
    Plain,
    Tools,
    NamedChoice,
    RequiredChoice,
    ResponseFormat,
    /// The older form of the same.
    SchemaInJsonObject,
    ParallelToolCalls,
    Strict,
}

/// A probe of one model of a server.
#[derive(Debug)]
pub struct Probe {
    /// Letters that no earlier probe had.
    marker: String,
    /// What is tested now; none at the end.
    step: Option<Step>,
    /// Whether the model gets room to think.
    patient: bool,
    /// Whether it ended before all was tested.
    is_broken_off: bool,
    plain_tokens: Option<u64>,
    known: Capabilities,
}

impl Probe {
    /// A probe with these letters or digits in its requests, so that they differ from those of earlier ones.
    #[must_use]
    pub fn new(marker: &str) -> Self {
        let (marker, known) = (marker.to_owned(), Capabilities::default());
        Self { marker, step: Some(Step::Plain), patient: false, is_broken_off: false, plain_tokens: None, known }
    }

    /// The body of the next request without its model; none at the end.
    #[must_use]
    pub fn request(&self) -> Option<Value> {
        self.step.map(|step| requests::body(step, &self.marker, self.patient))
    }

    /// Whether nothing was tested yet: a refusal of this request is not about a tested field.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.step == Some(Step::Plain)
    }

    /// Whether all was tested, once there is no further request.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.is_broken_off
    }

    fn break_off(&mut self) -> Vec<Finding> {
        (self.step, self.is_broken_off) = (None, true);
        Vec::new()
    }

    /// Takes the body of the reply to the request; returns what it shows. An unusable reply ends the probe.
    pub fn answered(&mut self, body: &[u8]) -> Vec<Finding> {
        let (Some(step), Ok(reply)) = (self.step, Reply::read(body)) else { return self.break_off() };
        if step == Step::Plain {
            self.plain_tokens = reply.prompt_tokens;
        }
        let verdict = self.verdict(step, &reply);
        if verdict == Verdict::NoRoom && !self.patient {
            self.patient = true;
            return Vec::new();
        }
        let mut found = self.seen_tools(step, &reply);
        if let Verdict::Known(support) = verdict {
            found.extend(self.found(step, support));
        }
        self.step = self.next(step);
        found
    }

    /// Takes the server's refusal of the request. One that may have another reason than the tested field ends the probe.
    pub fn refused(&mut self, refusal: &Refusal<'_>) -> Vec<Finding> {
        let Some(step) = self.step.filter(|step| is_about(*step, refusal)) else { return self.break_off() };
        let found = self.found(step, Support::Refused);
        self.step = self.next(step);
        found
    }

    fn verdict(&self, step: Step, reply: &Reply) -> Verdict {
        match step {
            Step::Plain => Verdict::Nothing,
            Step::Tools => verdict::tools(self.plain_tokens, reply),
            Step::NamedChoice => verdict::named_choice(reply, &self.marker),
            Step::RequiredChoice => verdict::required_choice(reply),
            Step::ResponseFormat | Step::SchemaInJsonObject => verdict::response_format(reply, &self.marker),
            Step::ParallelToolCalls => verdict::parallel_tool_calls(reply),
            Step::Strict => verdict::strict(reply, &self.marker),
        }
    }

    /// A native call that was asked for in words alone: the model sees its tools, even where nothing is counted.
    fn seen_tools(&mut self, step: Step, reply: &Reply) -> Vec<Finding> {
        let is_seen = step == Step::ParallelToolCalls && !reply.calls.is_empty();
        match is_seen && self.known.get(Feature::Tools).is_none() {
            true => self.found(Step::Tools, Support::Honored),
            false => Vec::new(),
        }
    }

    fn found(&mut self, step: Step, support: Support) -> Vec<Finding> {
        let feature = match step {
            Step::Plain => return Vec::new(),
            Step::Tools => Feature::Tools,
            Step::NamedChoice => Feature::NamedChoice,
            Step::RequiredChoice => Feature::RequiredChoice,
            Step::ResponseFormat => Feature::ResponseFormat,
            // The form in which it is not honored was found before.
            Step::SchemaInJsonObject if support != Support::Honored => return Vec::new(),
            Step::SchemaInJsonObject => {
                self.known.set(Feature::ResponseFormat, support);
                let quirk = Finding::Quirk(Quirk::SchemaInJsonObject);
                return vec![quirk, Finding::Capability(Feature::ResponseFormat, support)];
            }
            Step::ParallelToolCalls => Feature::ParallelToolCalls,
            Step::Strict => Feature::Strict,
        };
        self.known.set(feature, support);
        vec![Finding::Capability(feature, support)]
    }

    /// What is tested next. Where the model sees no tools, what it would do with them is not.
    fn next(&self, step: Step) -> Option<Step> {
        let (tools, format) = (self.known.get(Feature::Tools), self.known.get(Feature::ResponseFormat));
        match step {
            Step::Plain => Some(Step::Tools),
            Step::Tools => Some(Step::NamedChoice),
            Step::NamedChoice => Some(Step::RequiredChoice),
            Step::RequiredChoice => Some(Step::ResponseFormat),
            Step::ResponseFormat if format != Some(Support::Honored) => Some(Step::SchemaInJsonObject),
            Step::ResponseFormat | Step::SchemaInJsonObject => {
                matches!(tools, Some(Support::Honored) | None).then_some(Step::ParallelToolCalls)
            }
            Step::ParallelToolCalls => (tools == Some(Support::Honored)).then_some(Step::Strict),
            Step::Strict => None,
        }
    }
}

/// Whether a refusal is about the tested field: it says so by its status, since the plain request was taken, or in its words.
fn is_about(step: Step, refusal: &Refusal<'_>) -> bool {
    let words: &[&str] = match step {
        Step::Plain => return false,
        Step::Tools | Step::NamedChoice | Step::RequiredChoice => &["tool", "function", "jinja"],
        Step::ResponseFormat | Step::SchemaInJsonObject => &["response_format", "schema", "grammar", "json_object"],
        Step::ParallelToolCalls => &["parallel"],
        Step::Strict => &["strict"],
    };
    let message = refusal.message.to_lowercase();
    let is_named =
        words.iter().any(|word| message.contains(word) || refusal.param.is_some_and(|param| param.contains(word)));
    match refusal.status {
        400 | 422 | 501 => true,
        404 | 500 => is_named,
        _ => false,
    }
}
