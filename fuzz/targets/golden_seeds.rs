//! What the golden pages contain, sorted by kind: the raw material of all seeds.

use std::collections::BTreeSet;

use callboard_core::model::Delta;
use callboard_core::wire::chat::ReplyReader;
use callboard_test_support::golden_page::{Page, Reply, Section, StreamPiece, read_pages};
use serde_json::{Map, Value, json};

/// Larger parts slow every execution down and add nothing.
const MOST_BYTES: usize = 16 << 10;

/// The parts of all pages, without duplicates.
#[derive(Default)]
pub(crate) struct GoldenParts {
    /// Bodies of chat requests.
    pub(crate) chat_requests: BTreeSet<String>,
    /// Bodies of requests to the Responses API.
    pub(crate) responses_requests: BTreeSet<String>,
    /// Lists of stored items.
    pub(crate) stored_items: BTreeSet<String>,
    /// Streams of model servers.
    pub(crate) streams: BTreeSet<String>,
    /// Whole replies of model servers.
    pub(crate) bodies: BTreeSet<String>,
    /// Texts of models.
    pub(crate) texts: BTreeSet<String>,
    /// Names and arguments of calls.
    pub(crate) calls: Vec<(String, String)>,
    /// Lists of tools.
    pub(crate) tools: Vec<String>,
    /// Settings files.
    pub(crate) settings: BTreeSet<String>,
    /// Chat requests, each with the streams that answer it.
    pub(crate) turns: Vec<Vec<String>>,
    /// States of characters.
    pub(crate) states: Vec<String>,
}

impl GoldenParts {
    /// Reads all pages.
    pub(crate) fn read() -> Self {
        let mut parts = Self::default();
        read_pages().iter().for_each(|page| parts.add_page(page));
        parts.streams.retain(|text| text.len() < MOST_BYTES);
        parts.chat_requests.retain(|text| text.len() < MOST_BYTES);
        parts.responses_requests.retain(|text| text.len() < MOST_BYTES);
        parts.bodies.retain(|text| text.len() < MOST_BYTES);
        parts.texts.retain(|text| text.len() < MOST_BYTES);
        parts.calls.retain(|(_, arguments)| arguments.len() < MOST_BYTES);
        parts.turns.retain(|turn| turn.iter().map(String::len).sum::<usize>() < MOST_BYTES);
        parts.tools.retain(|tools| tools.len() < MOST_BYTES);
        parts
    }

    fn add_page(&mut self, page: &Page) {
        let raw = page.section("Request (raw)").and_then(|section| section.fence("text"));
        self.chat_requests.extend(raw);
        if let Some(request) = page.request() {
            let streams = page.upstreams().into_iter().filter_map(stream_of);
            self.turns.push([with_model(request.clone()).to_string()].into_iter().chain(streams).collect());
            self.add_chat_request(request);
        }
        for section in &page.sections {
            match section.heading.as_str() {
                "Settings" => self.settings.extend(section.fence("toml")),
                "Stored items" => self.stored_items.extend(section.fence("json")),
                "Stored state" => self.states.extend(section.fence("json")),
                heading if heading.starts_with("Request ") => self.add_step(section),
                heading if heading.starts_with("Upstream ") => self.add_reply(section),
                _ => {}
            }
        }
    }

    /// One request of a conversation page.
    fn add_step(&mut self, section: &Section) {
        let Some(Ok(body)) = section.fence("json").map(|text| serde_json::from_str::<Value>(&text)) else { return };
        match section.option("POST") {
            None => self.add_chat_request(body),
            Some(_) => drop(self.responses_requests.insert(with_model(body).to_string())),
        }
    }

    fn add_chat_request(&mut self, request: Value) {
        let request = with_model(request);
        self.tools.extend(request.get("tools").map(Value::to_string));
        self.responses_requests.insert(as_responses(&request).to_string());
        self.chat_requests.insert(request.to_string());
    }

    fn add_reply(&mut self, section: &Section) {
        self.bodies.extend(section.fence("json"));
        if let Some(shorthand) = section.fence("reply") {
            let reply = Reply::read(&shorthand, 1);
            self.bodies.insert(whole_reply(&reply).to_string());
            self.calls.extend(reply.calls.iter().filter_map(named_call));
        }
        let Some(stream) = stream_of(section) else { return };
        self.texts.insert(text_of(&stream));
        self.streams.insert(stream);
    }
}

/// The stream of a reply, without its pauses.
fn stream_of(section: &Section) -> Option<String> {
    let bytes = |piece| if let StreamPiece::Bytes(text) = piece { Some(text) } else { None };
    Some(section.stream(1, true)?.into_iter().filter_map(bytes).collect())
}

fn with_model(mut request: Value) -> Value {
    if request.is_object() && request.get("model").is_none() {
        request["model"] = "m".into();
    }
    request
}

/// A chat request as far as the Responses API writes it in other words.
fn as_responses(request: &Value) -> Value {
    let mut fields: Map<String, Value> = request.as_object().cloned().unwrap_or_default();
    let input = fields.remove("messages").unwrap_or_default();
    fields.insert("input".to_owned(), input);
    if let Some(Value::Array(tools)) = fields.get_mut("tools") {
        tools.iter_mut().for_each(flatten_tool);
    }
    fields.into()
}

fn flatten_tool(tool: &mut Value) {
    if let Some(Value::Object(mut function)) = tool.get_mut("function").map(Value::take) {
        function.insert("type".to_owned(), "function".into());
        *tool = function.into();
    }
}

fn whole_reply(reply: &Reply) -> Value {
    let message = json!({"role": "assistant", "content": reply.text, "tool_calls": reply.calls});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}], "usage": reply.usage})
}

fn named_call(call: &Value) -> Option<(String, String)> {
    let text = |pointer| call.pointer(pointer)?.as_str().map(str::to_owned);
    Some((text("/function/name")?, text("/function/arguments")?))
}

/// The model's text in a stream.
fn text_of(stream: &str) -> String {
    let (mut reader, mut deltas) = (ReplyReader::stream(usize::MAX), Vec::new());
    // A page may break its stream on purpose; what came before is text all the same.
    let _ = reader.feed(stream.as_bytes(), &mut deltas);
    deltas.iter().filter_map(|delta| if let Delta::Text(text) = delta { Some(text.as_str()) } else { None }).collect()
}
