//! The output of a response while the turn runs: engine events go in, items grow, and stream events come out.
//!
//! Streamed and whole replies take this one path, so they cannot differ. At most one item grows at a time, besides tools
//! that are being run here, of which several may be under way.

use std::sync::Arc;

use serde_json::{Value, json};

use super::output_item::{OutputItem, OutputPart, Status};
use super::stored_items::NewId;
use super::stream_event::{PartPosition, StreamEvent};
use super::tools::Tools;
use super::{annotations, custom_tool};
use crate::contract::Call;
use crate::model::{CallId, OtherFields};
use crate::turn::{Event, ToolOutcome, ToolResult};

/// What the engine puts between the texts of two rounds; here each round's text is a separate message.
const BETWEEN_ROUNDS: &str = "\n\n";

/// All items so far.
pub(super) struct Output {
    items: Vec<OutputItem>,
    /// The item that grows.
    open: Option<usize>,
    /// The call of a custom tool that grows. It has no item until it is complete, because clients could not tell a partial input
    /// from a complete one.
    custom: Option<GrowingCall>,
    /// Tools under way: the call, and the place of its item.
    running: Vec<(CallId, usize)>,
    /// White space that may become the beginning of a message.
    blank: String,
    logprobs: Vec<Value>,
    /// Annotations of the text that comes next.
    annotations: Vec<Value>,
    settings: OutputSettings,
}

/// A call as the model writes it.
struct GrowingCall {
    id: String,
    name: String,
    arguments: String,
}

/// How items are made.
pub(super) struct OutputSettings {
    pub(super) new_id: NewId,
    pub(super) tools: Arc<Tools>,
    /// The character whose tools are run here.
    pub(super) server_label: String,
    /// The client asked for summaries of the thinking and does not look for the thinking itself.
    pub(super) summaries: bool,
}

impl Output {
    /// Nothing yet.
    pub(super) fn new(settings: OutputSettings) -> Self {
        Self {
            items: Vec::new(),
            open: None,
            custom: None,
            running: Vec::new(),
            blank: String::new(),
            logprobs: Vec::new(),
            annotations: Vec::new(),
            settings,
        }
    }

    /// The items in their order.
    pub(super) fn items(&self) -> &[OutputItem] {
        &self.items
    }

    /// Takes one event.
    pub(super) fn event(&mut self, event: Event, events: &mut Vec<StreamEvent>) {
        match event {
            Event::Text(text) => self.text(text, events),
            Event::Reasoning(text) => self.reasoning(text, events),
            Event::Refusal(text) => self.refusal(text, events),
            Event::Logprobs(value) => self.logprobs(&value, events),
            Event::Call(call) => {
                self.call_begins(&call.id, &call.name, events);
                self.call_grows(call.arguments.as_str().to_owned(), events);
                self.close(Status::Completed, events);
            }
            Event::Other(fields) => self.annotations(&fields, events),
            Event::CallBegins { id, name, .. } => self.call_begins(&id, &name, events),
            Event::CallGrows(text) => self.call_grows(text, events),
            Event::RunsTool(call) => self.runs(&call, events),
            Event::RanTool(result) => self.ran(result, events),
        }
    }

    /// The turn is complete: what still grows ends with this status, and tools under way have no result.
    pub(super) fn finish(&mut self, status: Status, events: &mut Vec<StreamEvent>) {
        self.close(status, events);
        for (_, index) in std::mem::take(&mut self.running) {
            self.item_done(index, Status::Incomplete, events);
        }
    }

    /// The turn broke off: what still grows stays `in_progress`, because an item that ends `incomplete` is part of a response that
    /// does. The client's calls, which it may not have received, need no output.
    pub(super) fn abandon(&mut self) {
        self.open = None;
        self.custom = None;
        self.running.clear();
        self.items.iter_mut().for_each(OutputItem::abandon);
    }

    /// Adds an empty message to an empty answer, because clients look for one.
    pub(super) fn ensure_answer(&mut self, events: &mut Vec<StreamEvent>) {
        if self.custom.is_none() && self.items.iter().all(OutputItem::is_reasoning) {
            let blank = std::mem::take(&mut self.blank);
            self.begin(OutputItem::is_message, "msg", OutputItem::message, events);
            self.grow(OutputPart::text(), blank, events);
        }
    }

    fn text(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        if self.is_open(OutputItem::is_message) {
            return self.grow(OutputPart::text(), text, events);
        }
        self.blank.push_str(&text);
        if self.blank.trim_ascii().is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.blank);
        if self.items.iter().any(OutputItem::is_message)
            && let Some(rest) = text.strip_prefix(BETWEEN_ROUNDS)
        {
            text = rest.to_owned();
        }
        self.begin(OutputItem::is_message, "msg", OutputItem::message, events);
        self.grow(OutputPart::text(), text, events);
    }

    fn refusal(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        self.begin(OutputItem::is_message, "msg", OutputItem::message, events);
        self.grow(OutputPart::Refusal { refusal: String::new() }, text, events);
    }

    fn reasoning(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        self.begin(OutputItem::is_reasoning, "rs", OutputItem::reasoning, events);
        let text_kind = OutputPart::ReasoningText { text: String::new() };
        let kind = if self.settings.summaries { OutputPart::SummaryText { text: String::new() } } else { text_kind };
        self.grow(kind, text, events);
    }

    /// Probabilities follow the text they belong to.
    fn logprobs(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let list = value.get("content").and_then(Value::as_array);
        self.logprobs.extend(list.into_iter().flatten().filter_map(logprob));
        if self.is_open(OutputItem::is_message) && !self.logprobs.is_empty() {
            self.grow(OutputPart::text(), String::new(), events);
        }
    }

    /// Annotations belong to the text before them; those that come with it are kept until it is there.
    fn annotations(&mut self, fields: &OtherFields, events: &mut Vec<StreamEvent>) {
        self.annotations.extend(annotations::of_chat(&fields.message));
        if self.is_open(OutputItem::is_message) {
            self.add_annotations(events);
        }
    }

    /// Puts the annotations into the text that grows.
    fn add_annotations(&mut self, events: &mut Vec<StreamEvent>) {
        let Some(output_index) = self.open else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        let item_id = item.id().to_owned();
        let Some((content_index, part @ OutputPart::OutputText { .. })) = item.last_part() else { return };
        for annotation in self.annotations.drain(..) {
            let Some(annotation_index) = part.push_annotation(annotation.clone()) else { continue };
            let item_id = item_id.clone();
            events.push(StreamEvent::AnnotationAdded {
                item_id,
                output_index,
                content_index,
                annotation_index,
                annotation,
            });
        }
    }

    fn call_begins(&mut self, id: &CallId, name: &str, events: &mut Vec<StreamEvent>) {
        self.close(Status::Completed, events);
        if self.settings.tools.is_custom(name) {
            self.custom = Some(GrowingCall { id: id.to_string(), name: name.to_owned(), arguments: String::new() });
            return;
        }
        let own = self.settings.tools.own(name);
        let item = OutputItem::function_call((self.settings.new_id)("fc"), id.to_string(), own);
        self.add(item, events);
        self.open = self.items.len().checked_sub(1);
    }

    fn call_grows(&mut self, delta: String, events: &mut Vec<StreamEvent>) {
        if let Some(call) = &mut self.custom {
            return call.arguments.push_str(&delta);
        }
        let Some(output_index) = self.open else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        item.push_arguments(&delta);
        events.push(StreamEvent::CallDelta { item_id: item.id().to_owned(), output_index, delta });
    }

    /// The id of such an item has the letters of the call's id, so that one leads to the other without a table.
    fn runs(&mut self, call: &Call, events: &mut Vec<StreamEvent>) {
        self.close(Status::Completed, events);
        let letters = call.id.as_str().strip_prefix("call_").unwrap_or_default();
        let item_id = format!("mcp_{letters}");
        let output_index = self.items.len();
        self.add(OutputItem::mcp_call(item_id.clone(), self.settings.server_label.clone(), call.name.clone()), events);
        let arguments = call.arguments.as_str().to_owned();
        if let Some(item) = self.items.get_mut(output_index) {
            item.push_arguments(&arguments);
        }
        events.push(StreamEvent::McpInProgress { item_id: item_id.clone(), output_index });
        events.push(StreamEvent::McpDelta { item_id: item_id.clone(), output_index, delta: arguments.clone() });
        events.push(StreamEvent::McpDone { item_id, output_index, arguments });
        self.running.push((call.id.clone(), output_index));
    }

    /// A result of a call that never ran (the model got an error instead) has no item.
    fn ran(&mut self, result: ToolResult, events: &mut Vec<StreamEvent>) {
        let Some(number) = self.running.iter().position(|(id, _)| *id == result.id) else { return };
        let (_, output_index) = self.running.remove(number);
        let Some(item) = self.items.get_mut(output_index) else { return };
        let success = result.outcome == ToolOutcome::Success;
        item.set_result(result.text, success);
        let item_id = item.id().to_owned();
        events.push(match success {
            true => StreamEvent::McpCompleted { item_id, output_index },
            false => StreamEvent::McpFailed { item_id, output_index },
        });
        events.push(StreamEvent::ItemDone { output_index, item: item.clone() });
    }

    fn is_open(&self, kind: fn(&OutputItem) -> bool) -> bool {
        self.open.and_then(|index| self.items.get(index)).is_some_and(kind)
    }

    /// Makes sure that an item of this kind is the one that grows.
    fn begin(
        &mut self,
        kind: fn(&OutputItem) -> bool,
        prefix: &'static str,
        make: fn(String) -> OutputItem,
        events: &mut Vec<StreamEvent>,
    ) {
        if self.is_open(kind) {
            return;
        }
        self.close(Status::Completed, events);
        let id = (self.settings.new_id)(prefix);
        self.add(make(id), events);
        self.open = self.items.len().checked_sub(1);
    }

    fn add(&mut self, item: OutputItem, events: &mut Vec<StreamEvent>) {
        events.push(StreamEvent::ItemAdded { output_index: self.items.len(), item: item.clone() });
        self.items.push(item);
    }

    /// Appends text to the last part of the open item; begins a new part when the last one is of another kind.
    fn grow(&mut self, kind: OutputPart, text: String, events: &mut Vec<StreamEvent>) {
        let Some(output_index) = self.open else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        if !item.last_part().is_some_and(|(_, part)| part.is_like(&kind)) {
            end_part(item, output_index, events);
            begin_part(item, output_index, kind, events);
        }
        let item_id = item.id().to_owned();
        let Some((index, part)) = item.last_part() else { return };
        let logprobs = match part {
            OutputPart::OutputText { .. } => std::mem::take(&mut self.logprobs),
            _ => Vec::new(),
        };
        if !text.is_empty() || !logprobs.is_empty() {
            part.push(&text);
            part.push_logprobs(&logprobs);
            events.push(StreamEvent::part_delta(PartPosition { item_id, output_index, index }, part, text, logprobs));
        }
        self.add_annotations(events);
    }

    fn close(&mut self, status: Status, events: &mut Vec<StreamEvent>) {
        self.blank.clear();
        if let Some(call) = self.custom.take().filter(|_| status == Status::Completed) {
            return self.custom_call(&call, events);
        }
        let Some(output_index) = self.open.take() else { return };
        let Some(item) = self.items.get_mut(output_index) else { return };
        end_part(item, output_index, events);
        if let OutputItem::FunctionCall { id, name, arguments, .. } = item {
            let (item_id, name, arguments) = (id.clone(), name.clone(), arguments.clone());
            events.push(StreamEvent::CallDone { item_id, output_index, name, arguments });
        }
        self.item_done(output_index, status, events);
    }

    /// A whole call of a custom tool, in one go.
    fn custom_call(&mut self, call: &GrowingCall, events: &mut Vec<StreamEvent>) {
        let (item_id, output_index) = ((self.settings.new_id)("ctc"), self.items.len());
        let own = self.settings.tools.own(&call.name);
        let text = custom_tool::input(&call.arguments);
        let item = OutputItem::custom_call(item_id.clone(), call.id.clone(), own);
        self.add(item, events);
        if let Some(OutputItem::CustomToolCall { input, .. }) = self.items.get_mut(output_index) {
            input.clone_from(&text);
        }
        events.push(StreamEvent::CustomDelta { item_id: item_id.clone(), output_index, delta: text.clone() });
        events.push(StreamEvent::CustomDone { item_id, output_index, input: text });
        self.item_done(output_index, Status::Completed, events);
    }

    fn item_done(&mut self, output_index: usize, status: Status, events: &mut Vec<StreamEvent>) {
        let Some(item) = self.items.get_mut(output_index) else { return };
        item.set_status(status);
        events.push(StreamEvent::ItemDone { output_index, item: item.clone() });
    }
}

fn begin_part(item: &mut OutputItem, output_index: usize, kind: OutputPart, events: &mut Vec<StreamEvent>) {
    let item_id = item.id().to_owned();
    let Some(parts) = item.parts_mut(&kind) else { return };
    events.push(StreamEvent::part_added(PartPosition { item_id, output_index, index: parts.len() }, kind.clone()));
    parts.push(kind);
}

fn end_part(item: &mut OutputItem, output_index: usize, events: &mut Vec<StreamEvent>) {
    let item_id = item.id().to_owned();
    if let Some((index, part)) = item.last_part() {
        events.extend(StreamEvent::part_done(PartPosition { item_id, output_index, index }, part.clone()));
    }
}

/// One token's probability with all the keys that this wire promises.
fn logprob(entry: &Value) -> Option<Value> {
    let top = entry.get("top_logprobs").and_then(Value::as_array);
    let top: Vec<Value> = top.into_iter().flatten().filter_map(bare_logprob).collect();
    let mut whole = bare_logprob(entry)?;
    whole.as_object_mut()?.insert("top_logprobs".to_owned(), top.into());
    Some(whole)
}

fn bare_logprob(entry: &Value) -> Option<Value> {
    let token = entry.get("token")?.as_str()?;
    let logprob = entry.get("logprob").filter(|value| value.is_number())?;
    let bytes = entry.get("bytes").filter(|bytes| bytes.is_array()).cloned();
    let bytes = bytes.unwrap_or_else(|| token.as_bytes().to_vec().into());
    Some(json!({"token": token, "bytes": bytes, "logprob": logprob}))
}
