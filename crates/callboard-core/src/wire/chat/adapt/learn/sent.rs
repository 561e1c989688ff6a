//! What a request really held.

use serde_json::Value;

use crate::wire::chat::adapt::apply::{INDISPENSABLE_IN_MESSAGES, forces_call};
use crate::wire::chat::adapt::message::{answered_id, call_id, calls, messages, role};
use crate::wire::chat::adapt::{alternation, call_ids, content, response_format};

/// A request that was refused.
pub(super) struct Sent<'a>(&'a Value);

impl<'a> Sent<'a> {
    pub(super) fn new(body: &'a Value) -> Self {
        Self(body)
    }

    pub(super) fn messages(&self) -> &'a [Value] {
        messages(self.0)
    }

    /// The message that a place names, or all where it names none.
    pub(super) fn messages_at(&self, path: &[String]) -> &'a [Value] {
        let all = self.messages();
        match path {
            [root, number, ..] if root == "messages" => match number.parse::<usize>() {
                Ok(number) => number.checked_add(1).and_then(|end| all.get(number..end)).unwrap_or_default(),
                Err(_) => all,
            },
            _ => all,
        }
    }

    /// The fields, without those that are null.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'a str> {
        let fields = self.0.as_object().into_iter().flatten();
        fields.filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.0.get(field).is_some_and(|value| !value.is_null())
    }

    pub(super) fn has_tools(&self) -> bool {
        self.0.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty()) || self.has_tool_history()
    }

    pub(super) fn has_tool_history(&self) -> bool {
        self.messages().iter().any(|message| role(message) == "tool" || !calls(message).is_empty())
    }

    pub(super) fn has_several_calls(&self) -> bool {
        self.messages().iter().any(|message| calls(message).len() > 1)
    }

    pub(super) fn has_role(&self, wanted: &str) -> bool {
        self.messages().iter().any(|message| role(message) == wanted)
    }

    /// Whether the message that a place names is of this role, or any where it names none.
    pub(super) fn has_role_at(&self, path: &[String], wanted: &str) -> bool {
        self.messages_at(path).iter().any(|message| role(message) == wanted)
    }

    pub(super) fn forces_call(&self) -> bool {
        forces_call(self.0.get("tool_choice"))
    }

    pub(super) fn has_strict(&self) -> bool {
        let tools = self.0.get("tools").and_then(Value::as_array).into_iter().flatten();
        let in_format = self.0.get("response_format").and_then(|format| format.get("json_schema"));
        tools.filter_map(|tool| tool.get("function")).chain(in_format).any(|holder| holder.get("strict").is_some())
    }

    /// The `type` of the response format.
    pub(super) fn format(&self) -> Option<&'a str> {
        response_format::kind(self.0.get("response_format"))
    }

    pub(super) fn alternates(&self) -> bool {
        alternation::alternates(self.messages())
    }

    pub(super) fn has_user_after_tool(&self) -> bool {
        alternation::has_user_after_tool(self.messages())
    }

    pub(super) fn has_null_content(&self, path: &[String]) -> bool {
        self.messages_at(path).iter().any(content::is_null)
    }

    pub(super) fn has_empty_content(&self, path: &[String]) -> bool {
        self.messages_at(path).iter().any(content::is_empty)
    }

    pub(super) fn has_text_parts(&self, path: &[String]) -> bool {
        self.messages_at(path).iter().any(content::is_text_parts)
    }

    pub(super) fn has_other_ids(&self) -> bool {
        let ids = self
            .messages()
            .iter()
            .flat_map(|message| calls(message).iter().filter_map(call_id).chain(answered_id(message)));
        ids.into_iter().any(|id| !call_ids::is_short(id))
    }

    /// A field of messages, by its name in any case, that a message can do without.
    pub(super) fn message_field(&self, name: &str) -> Option<&'a str> {
        let fields = self.messages().iter().filter_map(Value::as_object).flat_map(|fields| fields.keys());
        let mut spare = fields.map(String::as_str).filter(|key| !INDISPENSABLE_IN_MESSAGES.contains(key));
        spare.find(|key| key.eq_ignore_ascii_case(name))
    }
}
