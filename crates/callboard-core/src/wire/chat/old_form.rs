//! The old form of tool calls, `functions` and `function_call`, turned into the form of `tools`.
//!
//! A client that sends `functions` gets its reply in the old form as well: at most one call, as `function_call`. Messages in the
//! old form may also be part of a history that is sent with `tools`.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::ChatRequest;
use super::chunk::json_text;
use crate::contract::ToolPlace;
use crate::model::{BadRequest, Finish};

const FUNCTIONS: &str = "functions";
const FUNCTION_CALL: &str = "function_call";

/// How a client sends and gets calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallForm {
    /// As `tools` and `tool_calls`.
    #[default]
    Tools,
    /// As `functions` and one `function_call`.
    Function,
}

impl CallForm {
    /// The finish reason as this client knows it.
    pub(super) fn finish_word(self, finish: Finish) -> &'static str {
        match (self, finish) {
            (Self::Function, Finish::ToolCalls) => FUNCTION_CALL,
            _ => finish.as_word(),
        }
    }

    /// Where the client wrote the function of this number.
    pub(super) fn place(self, number: usize) -> ToolPlace {
        match self {
            Self::Tools => ToolPlace::in_chat(number),
            Self::Function => ToolPlace::flat(&format!("{FUNCTIONS}[{number}]")),
        }
    }

    /// An error about the tools or the choice, at the place where the client wrote them.
    pub(super) fn at_own_place(self, error: BadRequest) -> BadRequest {
        match (self, error.param.as_deref()) {
            (Self::Function, Some("tools")) => BadRequest { param: Some(FUNCTIONS.to_owned()), ..error },
            (Self::Function, Some(place)) if place.starts_with("tool_choice") => {
                BadRequest { param: Some(FUNCTION_CALL.to_owned()), ..error }
            }
            _ => error,
        }
    }
}

impl ChatRequest {
    /// Turns fields and messages of the old form into the new one.
    pub(super) fn convert_old_form(&mut self) -> Result<(), BadRequest> {
        if let Some(messages) = self.get("messages").filter(|text| text.contains("\"function_call\""))
            && let Ok(messages) = serde_json::from_str::<Vec<Value>>(messages)
        {
            let converted = convert_messages(messages)?;
            self.set_field("messages", &Value::Array(converted).to_string());
        }
        let choice = self.get(FUNCTION_CALL).map(choice_text).transpose()?;
        let Some(functions) = self.get(FUNCTIONS) else {
            let refusal =
                || BadRequest::invalid(FUNCTION_CALL, "function_call needs functions; with tools, send tool_choice");
            return choice.map_or(Ok(()), |_| Err(refusal()));
        };
        if self.get("tools").is_some() {
            return Err(BadRequest::invalid(FUNCTIONS, "functions is the old form of tools; send one of the two"));
        }
        let tools = tools_text(functions)?;
        self.form = CallForm::Function;
        self.remove_field(FUNCTIONS);
        self.remove_field(FUNCTION_CALL);
        self.set_field("tools", &tools);
        if let Some(choice) = choice {
            self.set_field("tool_choice", &choice);
        }
        if tools != "[]" {
            self.set_field("parallel_tool_calls", "false");
        }
        Ok(())
    }
}

fn tools_text(functions: &str) -> Result<String, BadRequest> {
    let wrong =
        || BadRequest::wrong_type(FUNCTIONS, "functions must be a list of functions; better send tools instead");
    let list: Vec<&RawValue> = serde_json::from_str(functions).map_err(|_| wrong())?;
    let tool = |function: &&RawValue| format!("{{\"type\":\"function\",\"function\":{function}}}");
    Ok(format!("[{}]", list.iter().map(tool).collect::<Vec<_>>().join(",")))
}

fn choice_text(choice: &str) -> Result<String, BadRequest> {
    let wrong = || {
        let message =
            "function_call must be \"auto\", \"none\" or {\"name\": …}; better send tools and tool_choice instead";
        BadRequest::invalid(FUNCTION_CALL, message)
    };
    match serde_json::from_str(choice).map_err(|_| wrong())? {
        Value::String(word) if word == "auto" || word == "none" => Ok(json_text(&word)),
        Value::Object(named) if named.get("name").is_some_and(Value::is_string) => {
            Ok(json!({"type": "function", "function": {"name": named.get("name")}}).to_string())
        }
        _ => Err(wrong()),
    }
}

/// Calls of the old form have no ids, so they get some by their order; each result answers the call before it.
fn convert_messages(messages: Vec<Value>) -> Result<Vec<Value>, BadRequest> {
    let (mut converted, mut calls, mut open) = (Vec::with_capacity(messages.len()), 0_usize, None);
    for (number, mut message) in messages.into_iter().enumerate() {
        let Some(fields) = message.as_object_mut() else {
            converted.push(message);
            continue;
        };
        if let Some(call) = fields.shift_remove(FUNCTION_CALL).filter(Value::is_object)
            && !fields.contains_key("tool_calls")
        {
            calls += 1;
            let id = format!("call_function{calls:0>16}");
            fields.insert("tool_calls".to_owned(), json!([{"id": id, "type": "function", "function": call}]));
            open = Some(id);
        } else if fields.get("role").is_some_and(|role| role == "function") {
            answer(fields, open.take(), number)?;
        }
        converted.push(message);
    }
    Ok(converted)
}

/// Makes a message of the role `function` a result of the open call.
fn answer(fields: &mut Map<String, Value>, open: Option<String>, number: usize) -> Result<(), BadRequest> {
    let Some(id) = open else {
        let message = format!("messages[{number}] answers no function_call of the assistant message before it");
        return Err(BadRequest::at(format!("messages[{number}].role"), "invalid_tool_call_id", message));
    };
    fields.shift_remove("name");
    fields.insert("role".to_owned(), "tool".into());
    fields.insert("tool_call_id".to_owned(), id.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::ToolCache;

    fn read(body: &Value) -> Result<(ChatRequest, crate::turn::TurnRequest), BadRequest> {
        let mut whole = json!({"model": "m", "messages": [{"role": "user", "content": "u"}]});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        ChatRequest::read(whole.to_string().into_bytes(), &ToolCache::default())
    }

    fn sent(body: &Value) -> Value {
        let (request, _) = read(body).unwrap();
        serde_json::from_slice(&request.upstream_body(&crate::turn::ModelCall::default())).unwrap()
    }

    #[test]
    fn functions_become_tools() {
        let function = json!({"name": "f", "parameters": {"type": "object", "properties": {}}});
        let sent = sent(&json!({"functions": [function], "function_call": {"name": "f"}}));
        assert_eq!(sent["tools"], json!([{"type": "function", "function": function}]));
        assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "f"}}));
        assert_eq!(sent["parallel_tool_calls"], json!(false));
        assert!(sent.get("functions").is_none() && sent.get("function_call").is_none());
        let (request, turn) = read(&json!({"functions": [function], "function_call": "auto"})).unwrap();
        assert_eq!((request.form, turn.rules.required, turn.rules.parallel), (CallForm::Function, false, false));
    }

    #[test]
    fn a_history_in_the_old_form_has_calls_and_results() {
        let call = json!({"name": "f", "arguments": "{}"});
        let sent = sent(&json!({"messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": null, "function_call": call},
            {"role": "function", "name": "f", "content": "1"},
            {"role": "assistant", "content": "", "function_call": call},
            {"role": "function", "name": "f", "content": "2"},
            {"role": "assistant", "content": "done", "function_call": null},
        ]}));
        let messages = sent["messages"].as_array().unwrap();
        for (place, result) in [(1, "1"), (3, "2")] {
            let id = &messages[place]["tool_calls"][0]["id"];
            assert_eq!(messages[place]["tool_calls"][0]["function"], call);
            assert_eq!(messages[place + 1], json!({"role": "tool", "content": result, "tool_call_id": id}));
        }
        assert_ne!(messages[1]["tool_calls"][0]["id"], messages[3]["tool_calls"][0]["id"]);
        assert_eq!(messages[5], json!({"role": "assistant", "content": "done"}));
    }

    #[test]
    fn faults_name_the_old_fields() {
        let f = json!({"name": "f"});
        let result = json!({"role": "function", "name": "f", "content": "1"});
        let call = json!({"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}});
        for (body, param) in [
            (json!({"functions": {}}), "functions"),
            (json!({"functions": [{"name": "f g"}]}), "functions[0].name"),
            (json!({"functions": [f], "tools": []}), "functions"),
            (json!({"functions": [f], "function_call": "required"}), "function_call"),
            (json!({"functions": [f], "function_call": {"name": "g"}}), "function_call"),
            (json!({"function_call": "auto"}), "function_call"),
            (json!({"messages": [call, result, result]}), "messages[2].role"),
        ] {
            assert_eq!(read(&body).unwrap_err().param.as_deref(), Some(param), "{body}");
        }
    }
}
