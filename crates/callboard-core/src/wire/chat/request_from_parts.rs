//! Chat requests made inside Callboard, from parts: for a character's model, and for clients of other wires.
//!
//! The parts are checked like the fields of a body. Errors name the place where the client wrote the part.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};

use super::ChatRequest;
use super::message_checks::{self, MessageFacts};
use crate::contract::{ToolCache, ToolPlace, ToolSet};
use crate::model::BadRequest;
use crate::turn::TurnRequest;

/// What places in a character's own tools begin with. The client did not write them, so no `param` names them.
const CHARACTER: &str = "character.";

/// Fields that say how the tools may be called.
const RULES_OF_CALLS: [&str; 2] = ["tool_choice", "parallel_tool_calls"];

/// What a character brings to a request.
#[derive(Debug, Clone, Copy)]
pub struct CharacterPart<'a> {
    /// Its id, for messages.
    pub id: &'a str,
    /// The model that it uses.
    pub model: &'a str,
    /// The system prompt.
    pub prompt: &'a str,
    /// Its tools as a chat request offers them.
    pub tools: &'a [Value],
}

/// A chat request in parts.
#[derive(Debug)]
pub(in crate::wire) struct ChatParts<'a> {
    pub(in crate::wire) model: &'a str,
    /// The messages as the text of a JSON list.
    pub(in crate::wire) messages: String,
    pub(in crate::wire) facts: MessageFacts,
    pub(in crate::wire) tools: Vec<ToolPart<'a>>,
    /// The other fields, each as JSON text.
    pub(in crate::wire) fields: Vec<(&'a str, Cow<'a, str>)>,
    pub(in crate::wire) stream: bool,
}

/// One tool on offer.
#[derive(Debug)]
pub(in crate::wire) struct ToolPart<'a> {
    /// The tool as JSON text.
    pub(in crate::wire) json: String,
    /// Where the client wrote the function; none for a character's own tool.
    pub(in crate::wire) place: Option<&'a str>,
}

impl ChatRequest {
    /// The names of the client's tools, in their order.
    #[must_use]
    pub fn client_tools(&self) -> Vec<String> {
        let name = |tool: &Value| Some(tool.get("function")?.get("name")?.as_str()?.to_owned());
        self.tool_list().iter().filter_map(name).collect()
    }

    fn tool_list(&self) -> Vec<Value> {
        self.get("tools").and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Refuses the client's tools that have a name of these.
    fn refuse_names(&self, taken: &[Value]) -> Result<(), BadRequest> {
        let taken: Vec<&str> = taken.iter().filter_map(|tool| tool.get("function")?.get("name")?.as_str()).collect();
        let names = self.client_tools();
        let Some((number, name)) = names.iter().enumerate().find(|(_, name)| taken.contains(&name.as_str())) else {
            return Ok(());
        };
        let place = format!("tools[{number}].function.name");
        let message = format!("{place}: {name:?} is a tool that the character runs itself; give yours another name");
        Err(BadRequest::at(place, "duplicate_tool_name", message))
    }

    /// The request to a character's model, whose tools come before the client's. `history` is a list of chat messages as JSON text.
    pub fn for_character(
        &self,
        part: &CharacterPart<'_>,
        history: &[String],
        cache: &ToolCache,
    ) -> Result<(Self, TurnRequest), BadRequest> {
        self.refuse_names(part.tools)?;
        let prompt = json!({"role": "system", "content": part.prompt}).to_string();
        let client_tools = self.tool_list();
        let client_tools = client_tools.iter().map(|tool| ToolPart { json: tool.to_string(), place: Some("tools") });
        let rules = RULES_OF_CALLS.iter().filter(|_| self.offers_tools);
        let rules = rules.filter_map(|key| Some((*key, self.get(key)?.into())));
        let list: Vec<&str> = std::iter::once(prompt.as_str()).chain(history.iter().map(String::as_str)).collect();
        let parts = ChatParts {
            model: part.model,
            facts: message_checks::check_each(list.iter().copied())?,
            messages: format!("[{}]", list.join(",")),
            tools: ToolPart::of_character(part.tools).chain(client_tools).collect(),
            fields: self.sampling_fields().map(|(key, text)| (key, text.into())).chain(rules).collect(),
            stream: self.stream,
        };
        Self::from_parts(parts, cache)
    }

    /// Checks the parts and puts them together.
    pub(in crate::wire) fn from_parts(
        parts: ChatParts<'_>,
        cache: &ToolCache,
    ) -> Result<(Self, TurnRequest), BadRequest> {
        let mut request = Self::with_model(parts.model);
        request.push_field("messages", &parts.messages);
        let tools = request.push_tools(&parts.tools, cache)?;
        for (key, text) in &parts.fields {
            request.push_field(key, text);
        }
        if parts.stream {
            request.push_field("stream", "true");
            request.push_field("stream_options", "{\"include_usage\":true}");
        }
        request.read_scalars()?;
        request.with_turn(parts.facts, tools, ("text.format", cache.limits()))
    }

    fn push_tools(&mut self, tools: &[ToolPart<'_>], cache: &ToolCache) -> Result<Arc<ToolSet>, BadRequest> {
        if tools.is_empty() {
            return Ok(Arc::default());
        }
        let text = format!("[{}]", tools.iter().map(|tool| tool.json.as_str()).collect::<Vec<_>>().join(","));
        self.push_field("tools", &text);
        let place = |number: usize| match tools.get(number).and_then(|tool| tool.place) {
            Some(place) => ToolPlace::flat(place),
            None => ToolPlace::flat(&format!("{CHARACTER}tools[{number}]")),
        };
        let tools = cache.compiled_at(&text, place).map_err(without_foreign_place)?;
        self.complete_tools(&tools);
        Ok(tools)
    }
}

impl ToolPart<'_> {
    /// The tools of a character.
    pub(in crate::wire) fn of_character(tools: &[Value]) -> impl Iterator<Item = Self> {
        tools.iter().map(|tool| Self { json: tool.to_string(), place: None })
    }
}

fn without_foreign_place(error: BadRequest) -> BadRequest {
    BadRequest { param: error.param.filter(|place| !place.starts_with(CHARACTER)), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::ModelCall;

    fn tool(schema: &str) -> Value {
        json!({"type": "function", "function": {"name": "roll", "parameters": {"type": schema}}})
    }

    #[test]
    fn a_characters_client_may_bring_tools() {
        let cache = ToolCache::default();
        let named =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
        let read = |name: &str| {
            let body = json!({"model": "narrator", "messages": [{"role": "user", "content": "hi"}], "tools": [named(name)],
                "tool_choice": "required", "parallel_tool_calls": false});
            ChatRequest::read(body.to_string().into_bytes(), &cache).unwrap().0
        };
        let own = [named("roll")];
        let part = CharacterPart { id: "narrator", model: "m", prompt: "You tell.", tools: &own };
        let request = read("show");
        assert_eq!(request.client_tools(), ["show"]);
        let (chat, turn) = request.for_character(&part, &[], &cache).unwrap();
        let sent: Value = serde_json::from_slice(&chat.upstream_body(&ModelCall::default())).unwrap();
        assert_eq!(
            (&sent["tools"], &sent["tool_choice"]),
            (&json!([named("roll"), named("show")]), &json!("required"))
        );
        assert!(!turn.rules.parallel);
        let refused = read("roll").for_character(&part, &[], &cache).unwrap_err();
        assert_eq!((refused.param.as_deref(), refused.code), (Some("tools[0].function.name"), "duplicate_tool_name"));
    }

    #[test]
    fn a_character_gets_its_prompt_and_tools_and_the_clients_sampling_fields() {
        let body = json!({"model": "narrator", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.50,
            "max_tokens": 9, "user": "u", "stream": true});
        let cache = ToolCache::default();
        let (request, _) = ChatRequest::read(body.to_string().into_bytes(), &cache).unwrap();
        let history = [r#"{"role":"user","content":"hi"}"#.to_owned()];
        let tools = [tool("object")];
        let part = CharacterPart { id: "narrator", model: "m", prompt: "You tell.", tools: &tools };
        let (chat, turn) = request.for_character(&part, &history, &cache).unwrap();
        let expected = json!({"model": "m", "tools": tools, "temperature": 0.50, "max_tokens": 9, "stream": true,
            "messages": [{"role": "system", "content": "You tell."}, {"role": "user", "content": "hi"}],
            "stream_options": {"include_usage": true}});
        let sent: Value = serde_json::from_slice(&chat.upstream_body(&ModelCall::default())).unwrap();
        assert_eq!(sent, expected);
        assert_eq!((chat.model.as_str(), chat.stream, chat.continues), ("m", true, false));
        assert_eq!((turn.most_tokens, turn.tools.names().collect::<Vec<_>>()), (Some(9), vec!["roll"]));
        let broken = [tool("array")];
        let error = request.for_character(&CharacterPart { tools: &broken, ..part }, &history, &cache).unwrap_err();
        assert_eq!((error.param, error.code), (None, "invalid_tool_schema"));
        assert!(error.message.contains("character.tools[0].parameters"), "{}", error.message);
    }
}
