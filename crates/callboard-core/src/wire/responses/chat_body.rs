//! A request and the stored part of its conversation as the body of one chat request.
//!
//! Faults that only the chat request's own checks can find (the schemas of tools and answers) are told in the words of this
//! wire by [`ResponsesRequest::own_words`].

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::ResponsesRequest;
use super::input::Spoken;
use super::messages::Messages;
use super::request::ids_of;
use super::tool_choice::nothing_to_call;
use crate::model::BadRequest;

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

/// Places of a chat request, longest first, and where the client wrote the same thing.
const PLACES: [(&str, &str); 7] = [
    ("response_format.json_schema", "text.format"),
    ("response_format", "text.format"),
    ("max_completion_tokens", "max_output_tokens"),
    ("reasoning_effort", "reasoning.effort"),
    ("tool_choice.allowed_tools", "tool_choice"),
    ("tool_choice.function", "tool_choice"),
    ("messages", "input"),
];

impl ResponsesRequest {
    /// The text of a chat request; `earlier` are the stored items of previous turns, in their order.
    pub fn chat_body(&self, earlier: &[Value]) -> Result<String, BadRequest> {
        let messages = self.messages(self.instructions(), earlier)?;
        let mut body = self.body_with(&self.model, messages, self.tools.to_chat())?;
        body.extend(self.format.clone().map(|format| ("response_format".to_owned(), format)));
        let logprobs = [
            ("logprobs", self.wants_logprobs().then_some(Value::Bool(true))),
            ("top_logprobs", self.get("top_logprobs").filter(|_| self.wants_logprobs()).cloned()),
        ];
        body.extend(given(logprobs));
        Ok(Value::Object(body).to_string())
    }

    /// A chat request with these tools, and all that shapes how a model writes.
    pub(super) fn body_with(
        &self,
        model: &str,
        messages: Vec<Value>,
        tools: Vec<Value>,
    ) -> Result<Map<String, Value>, BadRequest> {
        let mut body = Map::new();
        body.insert("model".to_owned(), model.into());
        body.insert("messages".to_owned(), messages.into());
        if !tools.is_empty() {
            body.insert("tools".to_owned(), tools.into());
            body.extend(self.choice.clone().map(|choice| ("tool_choice".to_owned(), choice)));
        } else if self.choice.as_ref().is_some_and(|choice| choice == "required") {
            return Err(nothing_to_call());
        }
        for key in SAME_FIELDS {
            body.extend(self.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        let nested = |key: &str, inner: &str| self.get(key)?.get(inner).filter(|value| !value.is_null()).cloned();
        let renamed = [
            ("max_completion_tokens", self.get("max_output_tokens").cloned()),
            ("reasoning_effort", nested("reasoning", "effort")),
            ("verbosity", nested("text", "verbosity")),
        ];
        body.extend(given(renamed));
        body.insert("stream".to_owned(), true.into());
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        Ok(body)
    }

    /// A refusal of the chat request, with the places and words of the request that the client sent.
    #[must_use]
    pub fn own_words(&self, refusal: BadRequest) -> BadRequest {
        self.own_words_behind(refusal, 0)
    }

    /// The same for a chat request in which so many other tools stand before the client's.
    #[must_use]
    pub fn own_words_behind(&self, refusal: BadRequest, other_tools: usize) -> BadRequest {
        let Some(place) = &refusal.param else { return refusal };
        let Some(own) = self.own_place(place, other_tools) else { return refusal };
        BadRequest { message: refusal.message.replace(place.as_str(), &own), param: Some(own), code: refusal.code }
    }

    /// The messages of earlier turns and of this one, behind what the model is told before anything else.
    pub(super) fn messages(&self, prompt: Option<&str>, earlier: &[Value]) -> Result<Vec<Value>, BadRequest> {
        let mut messages = Messages::new(&self.tools, prompt);
        let stored: Vec<Spoken> = earlier.iter().map(|item| Spoken::read(item, "input")).collect::<Result<_, _>>()?;
        let all = || stored.iter().chain(self.input.iter().map(|item| &item.spoken));
        let answered: HashSet<&str> = all().filter_map(Spoken::answers).collect();
        for spoken in stored.iter().filter(|spoken| !spoken.is_abandoned(&answered)) {
            messages.push(spoken, "input")?;
        }
        let known = ids_of(earlier);
        for (number, item) in self.input.iter().enumerate() {
            let place = format!("input[{number}]");
            if let Spoken::Reference(id) = &item.spoken
                && !known.contains(id.as_str())
            {
                let message = format!("{place}.id {id:?} is no stored item; send the item itself");
                return Err(BadRequest::at(format!("{place}.id"), "item_not_found", message));
            }
            if !item.spoken.is_abandoned(&answered) {
                messages.push(&item.spoken, &place)?;
            }
        }
        messages.finish()
    }

    fn wants_logprobs(&self) -> bool {
        let include = self.get("include").and_then(Value::as_array);
        include.into_iter().flatten().any(|entry| entry.as_str() == Some("message.output_text.logprobs"))
            || self.get("top_logprobs").and_then(Value::as_u64).is_some_and(|number| number > 0)
    }

    fn own_place(&self, place: &str, other_tools: usize) -> Option<String> {
        if let Some((number, rest)) = place.strip_prefix("tools[").and_then(|rest| rest.split_once(']')) {
            let own = self.tools.place(number.parse::<usize>().ok()?.checked_sub(other_tools)?)?;
            return Some(format!("{own}{}", rest.strip_prefix(".function").unwrap_or(rest)));
        }
        let (chat, own) = PLACES.into_iter().find(|(chat, _)| place.starts_with(chat))?;
        let rest = place.strip_prefix(chat).filter(|_| own != "input").unwrap_or_default();
        Some(format!("{own}{rest}"))
    }
}

/// Fields that have a value.
fn given<const N: usize>(fields: [(&str, Option<Value>); N]) -> impl Iterator<Item = (String, Value)> {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ToolCache;
    use crate::wire::chat::ChatRequest;

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
        let body = request.chat_body(&[]).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        let (chat, turn) = ChatRequest::read(body.into_bytes(), &ToolCache::default()).unwrap();
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
        let body: Value = serde_json::from_str(&request.chat_body(&earlier).unwrap()).unwrap();
        let call = json!({"id": "c", "type": "function", "function": {"name": "n__f", "arguments": "{}"}});
        let expected = json!([
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "7"},
        ]);
        assert_eq!(body.get("messages"), Some(&expected));
        let error = request.chat_body(earlier.get(..1).unwrap()).unwrap_err();
        assert_eq!(error.param.as_deref(), Some("input[0].id"));
        let error = read(&json!({"model": "m", "input": "u", "tool_choice": "required"})).chat_body(&[]).unwrap_err();
        assert_eq!((error.param.as_deref(), error.code), (Some("tool_choice"), "invalid_value"));
    }

    #[test]
    fn faults_of_the_chat_request_are_told_in_own_words() {
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
            let request = read(&body);
            let chat = request.chat_body(&[]).unwrap();
            let refusal = ChatRequest::read(chat.into_bytes(), &ToolCache::default()).expect_err(param);
            let refusal = request.own_words(refusal);
            assert_eq!(refusal.param.as_deref(), Some(param), "{extra}");
            assert!(!refusal.message.contains("function.parameters"), "{}", refusal.message);
        }
    }
}
