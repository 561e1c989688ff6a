//! A request and the stored part of its conversation as one chat request.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::ResponsesRequest;
use super::chat_item::{ChatItem, MessageRole};
use super::chat_messages::ChatMessages;
use super::content::Content;
use super::request::ids_of;
use super::tool_choice::nothing_to_call;
use crate::contract::ToolCache;
use crate::model::BadRequest;
use crate::turn::TurnRequest;
use crate::wire::chat::{ChatParts, ChatRequest, MessageFacts};

/// Fields that chat requests know by the same name and meaning.
const SAME_FIELDS: [&str; 13] = [
    "parallel_tool_calls",
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "user",
    "prompt_cache_key",
    "safety_identifier",
    "service_tier",
];

/// Fields that chat requests know by another name: that name, the field here, and the path inside it.
const RENAMED_FIELDS: [(&str, &str, &str); 3] = [
    ("max_completion_tokens", "max_output_tokens", ""),
    ("reasoning_effort", "reasoning", "/effort"),
    ("verbosity", "text", "/verbosity"),
];

impl ResponsesRequest {
    /// The chat request to a model; `earlier` are the stored items of previous turns, in their order.
    pub fn chat_request(&self, earlier: &[Value], cache: &ToolCache) -> Result<(ChatRequest, TurnRequest), BadRequest> {
        let mut parts = self.chat_parts(&self.model, self.messages(self.instructions(), earlier)?);
        parts.fields.extend(self.format.as_ref().map(|format| field("response_format", format)));
        if self.wants_logprobs() {
            parts.fields.push(("logprobs", "true".into()));
            parts.fields.extend(self.get("top_logprobs").map(|number| field("top_logprobs", number)));
        }
        self.checked_request(parts, cache)
    }

    /// A chat request with the client's tools and sampling fields.
    pub(super) fn chat_parts<'a>(
        &'a self,
        model: &'a str,
        (messages, facts): (Vec<Value>, MessageFacts),
    ) -> ChatParts<'a> {
        let same = SAME_FIELDS.into_iter().filter_map(|key| Some(field(key, self.get(key)?)));
        let renamed = RENAMED_FIELDS.into_iter().filter_map(|(key, outer, inner)| {
            let value = self.get(outer)?.pointer(inner)?;
            (!value.is_null()).then(|| field(key, value))
        });
        ChatParts {
            model,
            messages: Value::Array(messages).to_string(),
            facts,
            tools: self.tools.to_chat().collect(),
            fields: same.chain(renamed).collect(),
            stream: true,
        }
    }

    /// Adds the choice of tools, which only makes sense where there are any, and checks everything.
    pub(super) fn checked_request<'a>(
        &'a self,
        mut parts: ChatParts<'a>,
        cache: &ToolCache,
    ) -> Result<(ChatRequest, TurnRequest), BadRequest> {
        match &self.choice {
            Some(choice) if !parts.tools.is_empty() => parts.fields.push(field("tool_choice", choice)),
            Some(choice) if choice == "required" => return Err(nothing_to_call()),
            _ => {}
        }
        ChatRequest::from_parts(parts, cache)
    }

    /// The messages of earlier turns and of this one, after the system prompt.
    pub(super) fn messages(
        &self,
        prompt: Option<&str>,
        earlier: &[Value],
    ) -> Result<(Vec<Value>, MessageFacts), BadRequest> {
        let mut messages = ChatMessages::new(&self.tools, prompt);
        let stored: Vec<ChatItem> =
            earlier.iter().map(|item| ChatItem::read(item, "input")).collect::<Result<_, _>>()?;
        let all = || stored.iter().chain(self.input.iter().map(|item| &item.meaning));
        let answered: HashSet<&str> = all().filter_map(ChatItem::answers).collect();
        for spoken in stored.iter().filter(|spoken| !spoken.is_abandoned(&answered)) {
            messages.push(spoken, "input")?;
        }
        let known = ids_of(earlier);
        for (number, item) in self.input.iter().enumerate() {
            let place = format!("input[{number}]");
            if let ChatItem::Reference(id) = &item.meaning
                && !known.contains(id.as_str())
            {
                let message = format!("{place}.id {id:?} is no stored item; send the item itself");
                return Err(BadRequest::at(format!("{place}.id"), "item_not_found", message));
            }
            if !item.meaning.is_abandoned(&answered) {
                messages.push(&item.meaning, &place)?;
            }
        }
        messages.finish()
    }

    /// The messages of these items alone, and one more of the user.
    pub(super) fn messages_of(&self, items: &[Value], request: &str) -> Result<(Vec<Value>, MessageFacts), BadRequest> {
        let mut messages = ChatMessages::new(&self.tools, self.instructions());
        let items: Vec<ChatItem> = items.iter().map(|item| ChatItem::read(item, "input")).collect::<Result<_, _>>()?;
        let answered: HashSet<&str> = items.iter().filter_map(ChatItem::answers).collect();
        for (number, item) in items.iter().enumerate().filter(|(_, item)| !item.is_abandoned(&answered)) {
            messages.push(item, &format!("input[{number}]"))?;
        }
        let role = MessageRole::User;
        messages.push(&ChatItem::Message { role, content: Content::of_text(request.to_owned()) }, "input")?;
        messages.finish()
    }

    fn wants_logprobs(&self) -> bool {
        let include = self.get("include").and_then(Value::as_array);
        include.into_iter().flatten().any(|entry| entry.as_str() == Some("message.output_text.logprobs"))
            || self.get("top_logprobs").and_then(Value::as_u64).is_some_and(|number| number > 0)
    }
}

fn field<'a>(key: &'a str, value: &Value) -> (&'a str, Cow<'a, str>) {
    (key, value.to_string().into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::chat_json;
    use super::*;

    fn read(body: &Value) -> ResponsesRequest {
        ResponsesRequest::read(body.to_string().into_bytes()).unwrap()
    }

    #[test]
    fn a_request_becomes_a_chat_request() {
        let schema = json!({"type": "object", "properties": {}});
        let request = read(&json!({
            "model": "m", "instructions": "be kind", "input": "hi", "temperature": 0.5, "max_output_tokens": 100,
            "tools": [{"type": "web_search"}, {"type": "function", "name": "a", "parameters": schema}],
            "tool_choice": {"type": "function", "name": "a"}, "parallel_tool_calls": false, "metadata": {"a": "b"},
            "text": {"format": {"type": "json_object"}, "verbosity": "low"}, "reasoning": {"effort": "low"},
            "include": ["message.output_text.logprobs"], "top_logprobs": 2, "store": true, "truncation": "auto",
            "client_metadata": {"x": "y"}, "prompt_cache_key": "k", "stream": false,
        }));
        let expected = json!({
            "model": "m",
            "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "a", "parameters": schema}}],
            "tool_choice": {"type": "function", "function": {"name": "a"}},
            "response_format": {"type": "json_object"}, "parallel_tool_calls": false, "temperature": 0.5,
            "prompt_cache_key": "k", "max_completion_tokens": 100, "reasoning_effort": "low", "verbosity": "low",
            "logprobs": true, "top_logprobs": 2, "stream": true, "stream_options": {"include_usage": true},
        });
        assert_eq!(chat_json(&request, &[]).unwrap(), expected);
        let (chat, turn) = request.chat_request(&[], &ToolCache::default()).unwrap();
        assert!(chat.stream && chat.include_usage && turn.rules.required && !turn.rules.parallel);
    }

    #[test]
    fn earlier_turns_stand_before_the_input() {
        let earlier = [
            json!({"type": "message", "id": "msg_1", "status": "completed", "role": "user",
                "content": [{"type": "input_text", "text": "u"}]}),
            json!({"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c", "name": "f",
                "namespace": "n", "arguments": "{}"}),
        ];
        let input = json!([{"type": "item_reference", "id": "fc_1"}, {"type": "function_call_output", "call_id": "c", "output": "7"}]);
        let request = read(&json!({"model": "m", "input": input, "previous_response_id": "resp_1"}));
        let body = chat_json(&request, &earlier).unwrap();
        let call = json!({"id": "c", "type": "function", "function": {"name": "n__f", "arguments": "{}"}});
        let expected = json!([
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "7"},
        ]);
        assert_eq!(body.get("messages"), Some(&expected));
        let error = chat_json(&request, earlier.get(..1).unwrap()).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("input[0].id"));
        let error = chat_json(&read(&json!({"model": "m", "input": "u", "tool_choice": "required"})), &[]).unwrap_err();
        assert_eq!((error.param.as_deref(), error.code), (Some("tool_choice"), "invalid_value"));
    }

    #[test]
    fn errors_of_the_chat_request_name_the_clients_places() {
        let array = json!({"type": "array"});
        let inside = json!([{"type": "function", "name": "a", "parameters": array}]);
        let table = [
            (
                json!({"tools": [{"type": "web_search"}, {"type": "function", "name": "a", "parameters": array}]}),
                "tools[1].parameters",
            ),
            (json!({"tools": [{"type": "namespace", "name": "n", "tools": inside}]}), "tools[0].tools[0].parameters"),
            (json!({"text": {"format": {"type": "json_schema", "name": "n", "schema": array}}}), "text.format.schema"),
            (json!({"seed": 1, "stop": 5}), "stop"),
        ];
        for (extra, param) in table {
            let mut body = json!({"model": "m", "input": "hi"});
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let refusal = chat_json(&read(&body), &[]).expect_err(param);
            assert_eq!(refusal.param.as_deref(), Some(param), "{extra}");
            assert!(!refusal.message.contains("function.parameters"), "{}", refusal.message);
        }
    }
}
