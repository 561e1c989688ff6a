//! A request to a character, whose model gets the character's tools together with the client's.
//!
//! Sampling fields apply as for a model. Structured answers are refused, and token probabilities are left out.

use serde_json::Value;

use super::ResponsesRequest;
use crate::contract::ToolCache;
use crate::model::BadRequest;
use crate::turn::TurnRequest;
use crate::wire::chat::{CharacterPart, ChatRequest, ToolPart};

impl ResponsesRequest {
    /// The chat request to a character's model: its prompt before the client's instructions, its tools before the client's.
    pub fn character_request(
        &self,
        earlier: &[Value],
        part: &CharacterPart<'_>,
        cache: &ToolCache,
    ) -> Result<(ChatRequest, TurnRequest), BadRequest> {
        let own_tools: Vec<&str> = part.tools.iter().filter_map(chat_name).collect();
        self.check_for_character(part.id, &own_tools)?;
        let prompts = [part.prompt, self.instructions().unwrap_or_default()];
        let prompt = prompts.into_iter().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
        let mut parts = self.chat_parts(part.model, self.messages(Some(&prompt), earlier)?);
        parts.tools.splice(..0, ToolPart::of_character(part.tools));
        self.checked_request(parts, cache)
    }

    /// Refuses what a character does not support: structured answers, and tools with the names of the character's tools.
    pub fn check_for_character(&self, id: &str, own_tools: &[&str]) -> Result<(), BadRequest> {
        if self.format.as_ref().and_then(|format| format.get("type")).is_some_and(|kind| kind != "text") {
            let message = format!("the character {id:?} answers in words; leave text.format out");
            return Err(BadRequest::at("text.format", "unsupported_parameter", message));
        }
        self.refuse_names(own_tools)
    }

    /// Refuses the client's functions that have a name of these tools.
    pub fn refuse_names(&self, taken: &[&str]) -> Result<(), BadRequest> {
        let mut names = self.tools.flat_names().enumerate();
        let Some((number, name)) = names.find(|(_, name)| taken.contains(name)) else { return Ok(()) };
        let place = format!("{}.name", self.tools.place(number).unwrap_or("tools"));
        let message = format!("{place}: {name:?} is a tool that the character runs itself; give yours another name");
        Err(BadRequest::at(place, "duplicate_tool_name", message))
    }

    /// The names under which a model sees the client's functions, in their order; those inside namespaces in one piece.
    #[must_use]
    pub fn client_tools(&self) -> Vec<String> {
        self.tools.flat_names().map(str::to_owned).collect()
    }
}

fn chat_name(tool: &Value) -> Option<&str> {
    tool.get("function")?.get("name")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::chat_json;
    use super::*;
    use crate::turn::ModelCall;

    fn character_json(request: &ResponsesRequest, part: &CharacterPart<'_>) -> Result<Value, BadRequest> {
        let (chat, _) = request.character_request(&[], part, &ToolCache::default())?;
        Ok(serde_json::from_slice(&chat.upstream_body(&ModelCall::default())).unwrap())
    }

    fn read(extra: &Value) -> ResponsesRequest {
        let mut body = json!({"model": "narrator", "input": "hello"});
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        ResponsesRequest::read(body.to_string().into_bytes()).unwrap()
    }

    fn function(name: &str) -> Value {
        json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}})
    }

    #[test]
    fn what_a_character_cannot_take_is_refused_by_its_place() {
        let inside = json!({"type": "namespace", "name": "dice", "tools": [function("look"), function("roll")]});
        let format = json!({"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}});
        let table = [
            (json!({"tools": [{"type": "web_search"}, function("roll")]}), "tools[1].name", "duplicate_tool_name"),
            (json!({"tools": [function("f"), inside]}), "tools[1].tools[1].name", "duplicate_tool_name"),
            (json!({"text": format}), "text.format", "unsupported_parameter"),
            (json!({"text": {"format": {"type": "json_object"}}}), "text.format", "unsupported_parameter"),
        ];
        for (extra, param, code) in table {
            let error = read(&extra).check_for_character("narrator", &["roll", "dice__roll"]).expect_err(param);
            assert_eq!((error.param.as_deref(), error.code), (Some(param), code), "{extra}");
        }
        let fine = json!({"tools": [function("Roll"), {"type": "mcp", "server_label": "roll"}],
            "text": {"format": {"type": "text"}, "verbosity": "low"}});
        assert_eq!(read(&fine).check_for_character("narrator", &["roll"]), Ok(()));
        assert_eq!(read(&json!({})).check_for_character("narrator", &["roll"]), Ok(()));
    }

    #[test]
    fn a_character_and_its_client_share_one_request() {
        let schema = json!({"type": "object", "properties": {}});
        let own = json!({"type": "function", "function": {"name": "roll", "parameters": schema}});
        let part = CharacterPart { id: "narrator", model: "m", prompt: "You tell.", tools: std::slice::from_ref(&own) };
        let request = read(&json!({"instructions": "Be brief.", "tools": [function("show")], "temperature": 0.5,
            "tool_choice": "required", "parallel_tool_calls": false, "max_output_tokens": 9, "top_logprobs": 2}));
        let show = json!({"type": "function", "function": {"name": "show", "parameters": schema}});
        let expected = json!({
            "model": "m",
            "messages": [{"role": "system", "content": "You tell.\n\nBe brief."}, {"role": "user", "content": "hello"}],
            "tools": [own, show], "tool_choice": "required", "parallel_tool_calls": false, "temperature": 0.5,
            "max_completion_tokens": 9, "stream": true, "stream_options": {"include_usage": true},
        });
        assert_eq!(character_json(&request, &part).unwrap(), expected);
        let bare = read(&json!({"tool_choice": "required"}));
        assert_eq!(character_json(&bare, &part).unwrap()["tool_choice"], "required");
        let fault = character_json(&bare, &CharacterPart { tools: &[], ..part }).unwrap_err();
        assert_eq!(fault.param.as_deref(), Some("tool_choice"));
        let fault = character_json(&read(&json!({"tools": [function("roll")]})), &part).unwrap_err();
        assert_eq!(fault.param.as_deref(), Some("tools[0].name"));
    }

    #[test]
    fn errors_in_the_shared_list_name_the_clients_tool_or_the_characters() {
        let own = json!({"type": "function", "function": {"name": "roll", "parameters": {"type": "object"}}});
        let array = json!({"type": "function", "name": "show", "parameters": {"type": "array"}});
        let request = read(&json!({"tools": [{"type": "web_search"}, array]}));
        let part = CharacterPart { id: "narrator", model: "m", prompt: "", tools: &[own] };
        let refusal = character_json(&request, &part).unwrap_err();
        assert_eq!(refusal.param.as_deref(), Some("tools[1].parameters"));
        let broken = json!({"type": "function", "function": {"name": "roll", "parameters": {"type": "array"}}});
        let refusal = character_json(&request, &CharacterPart { tools: &[broken], ..part }).unwrap_err();
        assert_eq!(refusal.param, None);
        assert!(refusal.message.contains("character.tools[0].parameters"), "{}", refusal.message);
    }

    #[test]
    fn the_clients_side_is_given_in_chat_forms() {
        let inside = json!({"type": "namespace", "name": "files", "tools": [function("read")]});
        let request = read(&json!({"tools": [inside, {"type": "web_search"}, function("show")],
            "tool_choice": {"type": "function", "name": "read", "namespace": "files"}, "parallel_tool_calls": false}));
        assert_eq!(request.client_tools(), ["files__read", "show"]);
        let chat = chat_json(&request, &[]).unwrap();
        let names: Vec<&Value> =
            chat["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
        assert_eq!(names, ["files__read", "show"]);
        let choice = json!({"type": "function", "function": {"name": "files__read"}});
        assert_eq!((&chat["tool_choice"], &chat["parallel_tool_calls"]), (&choice, &json!(false)));
        let plain = read(&json!({}));
        let chat = chat_json(&plain, &[]).unwrap();
        assert!(["tools", "tool_choice", "parallel_tool_calls"].iter().all(|key| chat.get(key).is_none()));
        assert!(plain.client_tools().is_empty());
    }
}
