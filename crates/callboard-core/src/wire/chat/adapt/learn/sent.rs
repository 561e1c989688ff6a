//! What a refused request holds.

use serde_json::Value;

use super::complaint::Complaint;
use crate::wire::chat::adapt::apply::{INDISPENSABLE_IN_MESSAGES, forces_call};
use crate::wire::chat::adapt::message::{answered_id, call_id, calls, messages, role};
use crate::wire::chat::adapt::{alternation, call_ids, content, response_format};

/// A refused request, seen from one complaint.
pub(super) struct Sent<'a> {
    body: &'a Value,
    /// The message that the complaint names, or all where it names none.
    named: &'a [Value],
}

impl<'a> Sent<'a> {
    pub(super) fn new(body: &'a Value, complaint: &Complaint) -> Self {
        let all = messages(body);
        let named = match complaint.path.as_slice() {
            [root, number, ..] if root == "messages" => match number.parse::<usize>() {
                Ok(number) => number.checked_add(1).and_then(|end| all.get(number..end)).unwrap_or_default(),
                Err(_) => all,
            },
            _ => all,
        };
        Self { body, named }
    }

    /// The fields, without those that are null.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'a str> {
        let fields = self.body.as_object().into_iter().flatten();
        fields.filter(|(_, value)| !value.is_null()).map(|(key, _)| key.as_str())
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.body.get(field).is_some_and(|value| !value.is_null())
    }

    pub(super) fn has_tools(&self) -> bool {
        let tools = self.body.get("tools").and_then(Value::as_array);
        tools.is_some_and(|tools| !tools.is_empty()) || self.has_tool_history()
    }

    pub(super) fn has_tool_history(&self) -> bool {
        messages(self.body).iter().any(|message| role(message) == "tool" || !calls(message).is_empty())
    }

    pub(super) fn has_role(&self, wanted: &str) -> bool {
        self.named.iter().any(|message| role(message) == wanted)
    }

    pub(super) fn forces_call(&self) -> bool {
        forces_call(self.body.get("tool_choice"))
    }

    pub(super) fn has_strict(&self) -> bool {
        let tools = self.body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let format = self.body.get("response_format").and_then(|format| format.get("json_schema"));
        tools.filter_map(|tool| tool.get("function")).chain(format).any(|holder| holder.get("strict").is_some())
    }

    /// Whether the response format is any but this one.
    pub(super) fn has_format_but(&self, kind: &str) -> bool {
        response_format::kind(self.body.get("response_format")).is_some_and(|own| own != kind)
    }

    pub(super) fn alternates(&self) -> bool {
        alternation::alternates(messages(self.body))
    }

    pub(super) fn has_user_after_tool(&self) -> bool {
        alternation::has_user_after_tool(messages(self.body))
    }

    pub(super) fn has_null_content(&self) -> bool {
        self.named.iter().any(content::is_null)
    }

    pub(super) fn has_empty_content(&self) -> bool {
        self.named.iter().any(content::is_empty)
    }

    pub(super) fn has_text_parts(&self) -> bool {
        self.named.iter().any(content::is_text_parts)
    }

    pub(super) fn has_long_call_ids(&self) -> bool {
        let ids = |message: &'a Value| calls(message).iter().filter_map(call_id).chain(answered_id(message));
        messages(self.body).iter().flat_map(ids).any(|id| !call_ids::is_short(id))
    }

    /// A field of messages, by its name in any case, that a message can do without.
    pub(super) fn message_field(&self, name: &str) -> Option<&'a str> {
        let fields = messages(self.body).iter().filter_map(Value::as_object).flat_map(|fields| fields.keys());
        let mut spare = fields.map(String::as_str).filter(|key| !INDISPENSABLE_IN_MESSAGES.contains(key));
        spare.find(|key| key.eq_ignore_ascii_case(name))
    }
}
