//! A chat request: read once, checked in full before anything is sent on, and kept as the text of its fields.
//!
//! Only the fields Callboard acts on are read; all others are carried through untouched. Every refusal names the exact
//! place. The tools are compiled through the cache.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::chunk::json_text;
use super::messages::MessageFacts;
use super::{fields, messages, tool_choice};
use crate::contract::{CallRules, ResponseFormat, SchemaLimits, ToolCache, ToolSet};
use crate::model::BadRequest;
use crate::turn::TurnRequest;

/// The two names of the field that says how many tokens may be written.
pub(super) const TOKEN_LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// A checked request.
#[derive(Debug, Default)]
pub struct ChatRequest {
    /// The client's body, or the values of the fields one behind the other.
    text: String,
    fields: Vec<Field>,
    /// The model asked for.
    pub model: String,
    /// Whether the reply is to be streamed.
    pub stream: bool,
    /// Whether a stream is to end with usage.
    pub include_usage: bool,
    /// Whether any tool is on offer.
    pub offers_tools: bool,
    /// Whether the history holds something that servers stumble over.
    pub needs_healing: bool,
    /// Whether this goes on with the results of calls, instead of beginning with what a user said.
    pub continues: bool,
}

#[derive(Debug)]
struct Field {
    key: String,
    value: Range<usize>,
}

impl ChatRequest {
    /// Reads and checks a body.
    pub fn read(body: Vec<u8>, tools: &ToolCache) -> Result<(Self, TurnRequest), BadRequest> {
        let text =
            String::from_utf8(body).map_err(|_| BadRequest::whole("invalid_json", "the request body is not UTF-8"))?;
        let fields = read_fields(&text)?;
        let mut request = Self { text, fields, ..Self::default() };
        request.model = fields::model(request.required("model")?)?;
        request.read_scalars()?;
        let facts = messages::check(request.required("messages")?)?;
        let tool_set = request.get("tools").map_or_else(|| Ok(Arc::default()), |text| tools.compiled(text))?;
        request.with_turn(facts, tool_set, ("response_format.json_schema", tools.limits()))
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

    /// True when tools are on offer and the model may call one.
    #[must_use]
    pub fn may_call(&self) -> bool {
        self.offers_tools && self.get("tool_choice") != Some("\"none\"")
    }

    /// The messages as JSON text.
    #[must_use]
    pub fn messages_text(&self) -> &str {
        self.get("messages").unwrap_or("[]")
    }

    /// How many bytes a model has to read: messages and tools.
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
        self.stream = fields::boolean("stream", self.get("stream"))?.unwrap_or(false);
        self.include_usage = fields::stream_options(self.get("stream_options"), self.stream)?;
        fields::number("temperature", self.get("temperature"), 0.0..=2.0)?;
        fields::number("top_p", self.get("top_p"), 0.0..=1.0)?;
        fields::number("presence_penalty", self.get("presence_penalty"), -2.0..=2.0)?;
        fields::number("frequency_penalty", self.get("frequency_penalty"), -2.0..=2.0)?;
        fields::positive_integer("max_tokens", self.get("max_tokens"))?;
        fields::positive_integer("max_completion_tokens", self.get("max_completion_tokens"))?;
        fields::one_choice(self.get("n"))?;
        fields::stop(self.get("stop"))?;
        fields::no_legacy_functions(self.get("functions"), self.get("function_call"))
    }

    fn rules(&self, tools: &ToolSet) -> Result<CallRules, BadRequest> {
        let parallel = fields::boolean("parallel_tool_calls", self.get("parallel_tool_calls"))?.unwrap_or(true);
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

/// The fields of the body, each as the place of its text.
fn read_fields(text: &str) -> Result<Vec<Field>, BadRequest> {
    let bad = |error: serde_json::Error| {
        BadRequest::whole("invalid_json", format!("the request body is not a JSON object: {error}"))
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = reader.deserialize_map(FieldVisitor).map_err(bad)?;
    reader.end().map_err(bad)?;
    let mut fields: Vec<Field> = Vec::with_capacity(found.len());
    for (key, value) in found {
        if fields.iter().any(|field| field.key == key) {
            return Err(BadRequest::invalid(key.clone(), format!("{key} appears twice in the request")));
        }
        let start = value.get().as_ptr().addr().saturating_sub(text.as_ptr().addr());
        fields.push(Field { key, value: start..start.saturating_add(value.get().len()) });
    }
    Ok(fields)
}

struct FieldVisitor;

impl<'de> Visitor<'de> for FieldVisitor {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(16);
        while let Some(entry) = map.next_entry::<String, &RawValue>()? {
            fields.push(entry);
        }
        Ok(fields)
    }
}
