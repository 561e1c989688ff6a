//! A client's request to `/v1/responses`: read once and checked in full before anything is sent on.
//!
//! Fields that Callboard acts on are typed; all others are kept as they came, and most are echoed in the response. What needs
//! the stored part of a conversation is checked when the chat request is made.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::chat_item::ChatItem;
use super::tools::Tools;
use super::typed_fields::Fields;
use super::{text_format, tool_choice};
use crate::model::BadRequest;
use crate::wire::body_object::read_object;

/// A checked request.
///
/// `truncation` is only checked and echoed: Callboard never drops anything of a history. A history that is too long for the
/// model is refused by its server, and that error goes to the client, with `"auto"` as with `"disabled"`.
#[derive(Debug)]
pub struct ResponsesRequest {
    pub(super) fields: Map<String, Value>,
    pub(super) input: Vec<InputItem>,
    pub(super) tools: Arc<Tools>,
    pub(super) choice: Option<Value>,
    pub(super) format: Option<Value>,
    /// The model asked for.
    pub model: String,
    /// Whether the reply is to be streamed.
    pub stream: bool,
    /// Whether the response is stored; true unless the client says otherwise.
    pub store: bool,
    /// False for a request that only prepares a later one (WebSocket clients).
    pub generate: bool,
    /// The stored response that this one continues.
    pub previous_response_id: Option<String>,
    /// The conversation that this response belongs to.
    pub conversation: Option<String>,
    /// How many tools may be run on the server for this response.
    pub max_tool_calls: Option<u64>,
}

/// One item of the input: as it came, and what it means to a chat model.
#[derive(Debug)]
pub(super) struct InputItem {
    pub(super) value: Value,
    pub(super) meaning: ChatItem,
}

impl ResponsesRequest {
    /// Reads and checks a body.
    pub fn read(body: Vec<u8>) -> Result<Self, BadRequest> {
        Self::of(read_object(body)?)
    }

    /// Checks a request whose fields were read with [`read_object`], for instance from a WebSocket message.
    pub fn of(mut fields: Map<String, Value>) -> Result<Self, BadRequest> {
        let input = read_input(fields.remove("input"))?;
        let all = Fields::of(&fields);
        check_scalars(all)?;
        let tools = Tools::read(all.list("tools")?)?;
        let request = Self {
            choice: tool_choice::to_chat(all.get("tool_choice"), &tools)?,
            format: text_format::to_chat(all.get("text"))?,
            model: all.required_text("model", "name a model or a character")?.to_owned(),
            stream: all.boolean("stream")?.unwrap_or(false),
            store: all.boolean("store")?.unwrap_or(true),
            generate: all.boolean("generate")?.unwrap_or(true),
            previous_response_id: all.text("previous_response_id")?.map(str::to_owned),
            conversation: conversation(all)?,
            max_tool_calls: all.positive_integer("max_tool_calls")?,
            tools: Arc::new(tools),
            input,
            fields,
        };
        request.check_together()?;
        Ok(request)
    }

    /// The instructions.
    #[must_use]
    pub fn instructions(&self) -> Option<&str> {
        self.get("instructions").and_then(Value::as_str)
    }

    /// Ids of stored items that the input names and that are not among the earlier ones. The caller looks them up and hands
    /// them to [`Self::fill_references`].
    #[must_use]
    pub fn references(&self, earlier: &[Value]) -> Vec<&str> {
        let named = self.input.iter().filter_map(|item| match &item.meaning {
            ChatItem::Reference(id) => Some(id.as_str()),
            _ => None,
        });
        let known = ids_of(earlier);
        named.filter(|id| !known.contains(id)).collect()
    }

    /// The ids of the items that the client sends, in their order.
    pub fn input_ids(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.input.iter().filter_map(|item| id_of(&item.value))
    }

    /// Puts stored items in the place of references to them. A reference that stays is refused by [`Self::chat_request`].
    pub fn fill_references(&mut self, found: &[Value]) -> Result<(), BadRequest> {
        let found: HashMap<&str, &Value> = found.iter().filter_map(|item| Some((id_of(item)?, item))).collect();
        for (number, item) in self.input.iter_mut().enumerate() {
            let ChatItem::Reference(id) = &item.meaning else { continue };
            if let Some(stored) = found.get(id.as_str()) {
                let meaning = ChatItem::read(stored, &format!("input[{number}]"))?;
                *item = InputItem { value: (*stored).clone(), meaning };
            }
        }
        Ok(())
    }

    /// A field that is present and not null.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    fn check_together(&self) -> Result<(), BadRequest> {
        if self.conversation.is_some() && self.previous_response_id.is_some() {
            let message = "previous_response_id and conversation exclude each other; send one of them";
            return Err(BadRequest::invalid("previous_response_id", message));
        }
        if self.get("stream_options").is_some() && !self.stream {
            let message = "stream_options are only allowed together with \"stream\": true";
            return Err(BadRequest::invalid("stream_options", message));
        }
        Ok(())
    }
}

/// The ids of stored items.
pub(super) fn ids_of(items: &[Value]) -> HashSet<&str> {
    items.iter().filter_map(id_of).collect()
}

fn id_of(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_str)
}

/// Checks a list of items; `place` is the name of the list.
pub(super) fn read_items(list: Vec<Value>, place: &str) -> Result<Vec<InputItem>, BadRequest> {
    let read = |(number, value): (usize, Value)| {
        let meaning = ChatItem::read(&value, &format!("{place}[{number}]"))?;
        Ok(InputItem { value, meaning })
    };
    list.into_iter().enumerate().map(read).collect()
}

fn read_input(input: Option<Value>) -> Result<Vec<InputItem>, BadRequest> {
    match input {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) => read_items(vec![json!({"role": "user", "content": text})], "input"),
        Some(Value::Array(list)) => read_items(list, "input"),
        Some(_) => Err(BadRequest::wrong_type("input", "input must be a string or a list of items")),
    }
}

fn conversation(all: Fields<'_>) -> Result<Option<String>, BadRequest> {
    match all.get("conversation") {
        None => Ok(None),
        Some(value @ Value::Object(_)) => {
            let id = Fields::at(value, "conversation")?.required_text("id", "it must be the id of a conversation")?;
            Ok(Some(id.to_owned()))
        }
        Some(_) => Ok(Some(all.required_text("conversation", "it must be an id, or an object with one")?.to_owned())),
    }
}

fn check_scalars(all: Fields<'_>) -> Result<(), BadRequest> {
    all.number("temperature", 0.0..=2.0)?;
    all.number("top_p", 0.0..=1.0)?;
    all.number("top_logprobs", 0.0..=20.0)?;
    all.positive_integer("max_output_tokens")?;
    all.boolean("parallel_tool_calls")?;
    all.one_of("truncation", &["auto", "disabled"])?;
    all.object("stream_options")?;
    all.metadata()?;
    for key in ["instructions", "user", "prompt_cache_key", "safety_identifier", "service_tier"] {
        all.text(key)?;
    }
    if let Some(reasoning) = all.get("reasoning") {
        let reasoning = Fields::at(reasoning, "reasoning")?;
        reasoning.text("effort")?;
        reasoning.text("summary")?;
    }
    check_include(all)?;
    check_unsupported(all)
}

fn check_include(all: Fields<'_>) -> Result<(), BadRequest> {
    let list = all.list("include")?.map(Vec::as_slice).unwrap_or_default();
    match list.iter().position(|entry| !entry.is_string()) {
        None => Ok(()),
        Some(number) => {
            Err(BadRequest::wrong_type(format!("include[{number}]"), "each entry of include must be a string"))
        }
    }
}

fn check_unsupported(all: Fields<'_>) -> Result<(), BadRequest> {
    if all.boolean("background")?.unwrap_or(false) {
        let message = "responses in the background are not offered; leave background out and stream instead";
        return Err(BadRequest::at("background", "unsupported_value", message));
    }
    if all.get("prompt").is_some() {
        let message = "prompts kept elsewhere cannot be read here; send their text as instructions and input";
        return Err(BadRequest::at("prompt", "unsupported_parameter", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(extra: &Value) -> Result<ResponsesRequest, BadRequest> {
        let mut body = json!({"model": "m", "input": "hello"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ResponsesRequest::read(body.to_string().into_bytes())
    }

    #[test]
    fn faults_name_their_place() {
        let many: Map<String, Value> = (0..17).map(|n| (format!("k{n}"), "v".into())).collect();
        let table = [
            (json!({"model": null}), "model", "missing_required_field"),
            (json!({"model": 5}), "model", "invalid_type"),
            (json!({"model": " "}), "model", "invalid_value"),
            (json!({"input": 5}), "input", "invalid_type"),
            (json!({"input": [{"role": "user", "content": "a"}, 5]}), "input[1]", "invalid_type"),
            (json!({"instructions": []}), "instructions", "invalid_type"),
            (json!({"tools": {}}), "tools", "invalid_type"),
            (
                json!({"tools": [{"type": "function", "name": "a", "parameters": []}]}),
                "tools[0].parameters",
                "invalid_type",
            ),
            (json!({"tool_choice": {"type": "web_search"}}), "tool_choice.type", "unsupported_value"),
            (json!({"parallel_tool_calls": "no"}), "parallel_tool_calls", "invalid_type"),
            (json!({"max_output_tokens": 0}), "max_output_tokens", "invalid_value"),
            (json!({"max_output_tokens": "9"}), "max_output_tokens", "invalid_type"),
            (json!({"max_tool_calls": 1.5}), "max_tool_calls", "invalid_value"),
            (json!({"temperature": 3}), "temperature", "invalid_value"),
            (json!({"temperature": "hot"}), "temperature", "invalid_type"),
            (json!({"top_p": -1}), "top_p", "invalid_value"),
            (json!({"top_logprobs": 21}), "top_logprobs", "invalid_value"),
            (json!({"metadata": []}), "metadata", "invalid_type"),
            (json!({"metadata": many}), "metadata", "invalid_value"),
            (json!({"metadata": {"a": 1}}), "metadata.a", "invalid_type"),
            (json!({"metadata": {"a": "x".repeat(513)}}), "metadata.a", "invalid_value"),
            (json!({"metadata": {"x".repeat(65): "a"}}), "metadata", "invalid_value"),
            (json!({"text": {"format": {"type": "xml"}}}), "text.format.type", "invalid_value"),
            (json!({"truncation": "some"}), "truncation", "invalid_value"),
            (json!({"store": "yes"}), "store", "invalid_type"),
            (json!({"stream": 1}), "stream", "invalid_type"),
            (json!({"stream_options": {}}), "stream_options", "invalid_value"),
            (json!({"stream": true, "stream_options": 1}), "stream_options", "invalid_type"),
            (json!({"previous_response_id": 1}), "previous_response_id", "invalid_type"),
            (
                json!({"previous_response_id": "resp_1", "conversation": "conv_1"}),
                "previous_response_id",
                "invalid_value",
            ),
            (json!({"conversation": 1}), "conversation", "invalid_type"),
            (json!({"conversation": {}}), "conversation.id", "missing_required_field"),
            (json!({"include": "x"}), "include", "invalid_type"),
            (json!({"include": ["x", 1]}), "include[1]", "invalid_type"),
            (json!({"reasoning": "high"}), "reasoning", "invalid_type"),
            (json!({"reasoning": {"effort": 1}}), "reasoning.effort", "invalid_type"),
            (json!({"background": true}), "background", "unsupported_value"),
            (json!({"prompt": {"id": "p"}}), "prompt", "unsupported_parameter"),
            (json!({"user": 1}), "user", "invalid_type"),
        ];
        for (extra, param, code) in table {
            let error = read(&extra).expect_err(&extra.to_string());
            assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{extra}");
        }
        for body in ["", "[]", "{", "nul", "\"x\""] {
            assert_eq!(ResponsesRequest::read(body.into()).unwrap_err().code, "invalid_json", "{body}");
        }
        let twice = r#"{"model": "m", "input": "a", "store": true, "input": "b"}"#;
        let error = ResponsesRequest::read(twice.into()).unwrap_err();
        assert_eq!((error.param.as_deref(), error.code), (Some("input"), "invalid_value"));
    }

    #[test]
    fn fields_that_are_acted_on_are_typed() {
        let request =
            read(&json!({"conversation": {"id": "conv_1"}, "store": false, "stream": true, "max_tool_calls": 3,
            "client_metadata": {"a": "b"}, "generate": false, "instructions": "be kind", "background": false}))
            .unwrap();
        assert_eq!((request.model.as_str(), request.instructions()), ("m", Some("be kind")));
        assert_eq!((request.stream, request.store, request.generate), (true, false, false));
        assert_eq!((request.conversation.as_deref(), request.max_tool_calls), (Some("conv_1"), Some(3)));
        let request = read(&json!({"previous_response_id": "resp_1", "conversation": null})).unwrap();
        assert_eq!((request.stream, request.store, request.generate), (false, true, true));
        assert_eq!(request.previous_response_id.as_deref(), Some("resp_1"));
    }

    #[test]
    fn references_are_filled_from_the_store() {
        let stored =
            json!({"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "u"}]});
        let input =
            json!([{"type": "item_reference", "id": "msg_1"}, {"id": "msg_2"}, {"role": "user", "content": "v"}]);
        let mut request = read(&json!({"input": input})).unwrap();
        assert_eq!(request.references(&[]), ["msg_1", "msg_2"]);
        assert_eq!(request.input_ids().rev().collect::<Vec<_>>(), ["msg_2", "msg_1"]);
        assert_eq!(request.references(std::slice::from_ref(&stored)), ["msg_2"]);
        request.fill_references(&[stored]).unwrap();
        assert_eq!(request.references(&[]), ["msg_2"]);
        let error = super::super::tests::chat_json(&request, &[]).unwrap_err();
        assert_eq!((error.param.as_deref(), error.code), (Some("input[1].id"), "item_not_found"));
    }
}
