//! A chat request: read once, checked in full before anything is sent on, and kept as the text of its fields.
//!
//! Only the fields Callboard acts on are read; all others are carried through untouched. Every refusal names the exact
//! place. The tools are compiled through the cache.

use std::ops::Range;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::chunk::json_text;
use super::message_checks::MessageFacts;
use super::old_form::CallForm;
use super::{field_checks, message_checks, tool_choice};
use crate::contract::{CallRules, ResponseFormat, SchemaLimits, ToolCache, ToolSet, with_parameters};
use crate::model::BadRequest;
use crate::turn::TurnRequest;
use crate::wire::body_object::{body_text, read_fields, refuse_duplicates};
use crate::wire::json_extent::members;

/// The two names of the field that says how many tokens may be written.
pub(super) const TOKEN_LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// How some clients write that there is no limit of tokens. Not every server knows it, so it is left out.
const NO_LIMIT: &str = "-1";

/// A checked request.
#[derive(Debug, Default)]
pub struct ChatRequest {
    /// The client's body, or the values of the fields one after the other.
    text: String,
    fields: Vec<Field>,
    /// The model asked for.
    pub model: String,
    /// Whether the client wants a stream.
    pub stream: bool,
    /// Whether the stream ends with usage.
    pub include_usage: bool,
    /// Whether any tools are offered.
    pub offers_tools: bool,
    /// Whether some servers would refuse the history as it is.
    pub needs_healing: bool,
    /// Whether the last message is a tool's result.
    pub continues: bool,
    /// How the client sends and gets calls.
    pub form: CallForm,
}

#[derive(Debug)]
struct Field {
    key: String,
    value: Range<usize>,
}

impl ChatRequest {
    /// Reads and checks a body.
    pub fn read(body: Vec<u8>, tools: &ToolCache) -> Result<(Self, TurnRequest), BadRequest> {
        let text = body_text(body)?;
        let Some(fields) = field_ranges(&text)? else { return Err(not_an_object(&text)) };
        let mut request = Self { text, fields, ..Self::default() };
        let (length, read) = (request.text.len(), request.read_checked(tools));
        // Text that is no JSON was not noticed before its field was read. Fields that were converted are behind it.
        let body = request.text.get(..length).unwrap_or_default();
        let (facts, tool_set) = read.map_err(|error| syntax_error(body).unwrap_or(error))?;
        let form = request.form;
        let read = request.with_turn(facts, tool_set, ("response_format.json_schema", tools.limits()));
        read.map_err(|error| form.at_own_place(error))
    }

    fn compiled_tools(&mut self, cache: &ToolCache) -> Result<Arc<ToolSet>, BadRequest> {
        let Some(text) = self.get("tools") else { return Ok(Arc::default()) };
        let tools = cache.compiled_at(text, |number| self.form.place(number))?;
        self.complete_tools(&tools);
        Ok(tools)
    }

    /// Gives each function a schema of its parameters, which some servers need.
    pub(super) fn complete_tools(&mut self, tools: &ToolSet) {
        if tools.lacks_parameters()
            && let Some(sent) = self.get("tools").and_then(|text| serde_json::from_str(text).ok())
        {
            self.set_field("tools", &with_parameters(sent).to_string());
        }
    }

    fn read_checked(&mut self, tools: &ToolCache) -> Result<(MessageFacts, Arc<ToolSet>), BadRequest> {
        self.model = field_checks::model(self.required("model")?)?;
        self.convert_old_form()?;
        self.read_scalars()?;
        let facts = message_checks::check(self.required("messages")?)?;
        let form = self.form;
        let tool_set = self.compiled_tools(tools).map_err(|error| form.at_own_place(error))?;
        Ok((facts, tool_set))
    }

    /// A request with nothing but its model.
    pub(super) fn with_model(model: &str) -> Self {
        let mut request = Self { model: model.to_owned(), ..Self::default() };
        request.push_field("model", &json_text(model));
        request
    }

    /// Adds a field that is not there yet; `value` is JSON text.
    pub(super) fn push_field(&mut self, key: &str, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.fields.push(Field { key: key.to_owned(), value: start..self.text.len() });
    }

    /// Sets a field, at its place where it is there already; `value` is JSON text.
    pub(super) fn set_field(&mut self, key: &str, value: &str) {
        let start = self.text.len();
        match self.fields.iter_mut().find(|field| field.key == key) {
            Some(field) => {
                self.text.push_str(value);
                field.value = start..self.text.len();
            }
            None => self.push_field(key, value),
        }
    }

    pub(super) fn remove_field(&mut self, key: &str) {
        self.fields.retain(|field| field.key != key);
    }

    /// The request with what follows from all its fields together, and the turn it asks for.
    pub(super) fn with_turn(
        mut self,
        facts: MessageFacts,
        tools: Arc<ToolSet>,
        format: (&str, SchemaLimits),
    ) -> Result<(Self, TurnRequest), BadRequest> {
        self.needs_healing = facts.needs_healing;
        self.continues = facts.ends_with_result;
        self.offers_tools = !tools.is_empty();
        let rules = self.rules(&tools)?;
        let format = self.format(format)?;
        let limits = TOKEN_LIMITS.iter().filter_map(|key| serde_json::from_str::<u64>(self.get(key)?).ok());
        let most_tokens = limits.min();
        Ok((self, TurnRequest { tools, rules, format, used_ids: facts.ids, most_tokens }))
    }

    /// The text of a field; none where it is missing or null.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        self.text.get(field.value.clone()).filter(|text| *text != "null")
    }

    /// All fields in their order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().filter_map(|field| Some((field.key.as_str(), self.text.get(field.value.clone())?)))
    }

    /// True when the answer must be JSON.
    #[must_use]
    pub fn asks_for_format(&self) -> bool {
        let format = self.get("response_format").and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        format.is_some_and(|format| format.get("type").is_some_and(|kind| kind != "text"))
    }

    /// True when tools are offered and the model may call one.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.offers_tools && self.get("tool_choice") != Some("\"none\"")
    }

    /// The messages as JSON text.
    #[must_use]
    pub fn messages_text(&self) -> &str {
        self.get("messages").unwrap_or("[]")
    }

    /// The size of messages and tools, for an estimate of usage.
    #[must_use]
    pub fn prompt_bytes(&self) -> usize {
        [self.get("messages"), self.get("tools")].into_iter().flatten().map(str::len).sum()
    }

    /// About how many bytes an upstream's request has.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    fn required(&self, key: &str) -> Result<&str, BadRequest> {
        self.get(key).ok_or_else(|| BadRequest::missing(key, format!("{key} is missing")))
    }

    /// Checks the plain fields, and keeps those that are acted on.
    pub(super) fn read_scalars(&mut self) -> Result<(), BadRequest> {
        self.stream = field_checks::boolean("stream", self.get("stream"))?.unwrap_or(false);
        self.include_usage = field_checks::stream_options(self.get("stream_options"), self.stream)?;
        field_checks::number("temperature", self.get("temperature"), 0.0..=2.0)?;
        field_checks::number("top_p", self.get("top_p"), 0.0..=1.0)?;
        field_checks::number("presence_penalty", self.get("presence_penalty"), -2.0..=2.0)?;
        field_checks::number("frequency_penalty", self.get("frequency_penalty"), -2.0..=2.0)?;
        for key in TOKEN_LIMITS {
            if self.get(key) == Some(NO_LIMIT) {
                self.remove_field(key);
            }
            field_checks::positive_integer(key, self.get(key))?;
        }
        field_checks::one_choice(self.get("n"))?;
        field_checks::stop(self.get("stop"))
    }

    fn rules(&self, tools: &ToolSet) -> Result<CallRules, BadRequest> {
        let parallel = field_checks::boolean("parallel_tool_calls", self.get("parallel_tool_calls"))?.unwrap_or(true);
        let rules = tool_choice::read(self.get("tool_choice"), tools)?;
        Ok(CallRules { parallel, ..rules })
    }

    fn format(&self, (place, limits): (&str, SchemaLimits)) -> Result<ResponseFormat, BadRequest> {
        let Some(text) = self.get("response_format") else { return Ok(ResponseFormat::Text) };
        let value =
            serde_json::from_str(text).map_err(|error| BadRequest::invalid("response_format", error.to_string()))?;
        ResponseFormat::compile(&value, place, limits)
    }
}

/// The fields of a body, each as the range of its text; none where it is no object. What is in `messages` and `tools`, which are
/// most of a body, is left to those who read them.
fn field_ranges(text: &str) -> Result<Option<Vec<Field>>, BadRequest> {
    let Some(members) = members(text) else { return Ok(None) };
    let field = |(key, value): (Range<usize>, Range<usize>)| {
        let key: String = serde_json::from_str(text.get(key)?).ok()?;
        let is_read_later = matches!(key.as_str(), "messages" | "tools");
        let is_json = is_read_later || serde_json::from_str::<IgnoredAny>(text.get(value.clone())?).is_ok();
        is_json.then_some(Field { key, value })
    };
    let fields: Option<Vec<Field>> = members.into_iter().map(field).collect();
    fields.map(|fields| refuse_duplicates(fields, |field| field.key.as_str())).transpose()
}

fn not_an_object(text: &str) -> BadRequest {
    syntax_error(text).unwrap_or_else(|| BadRequest::whole("invalid_json", "the request body is not a JSON object"))
}

/// What is wrong with a body that is not JSON.
fn syntax_error(text: &str) -> Option<BadRequest> {
    read_fields::<IgnoredAny>(text).err()
}
