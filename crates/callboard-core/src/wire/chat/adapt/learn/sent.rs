//! What a refused request holds.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::complaint::Complaint;
use crate::wire::chat::adapt::apply::INDISPENSABLE_IN_MESSAGES;
use crate::wire::chat::adapt::message_accessors::{calls, messages, role};
use crate::wire::chat::adapt::{Family, Quirk, adapt};

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

    /// Whether the request holds what a quirk is about: adapting to it would change the request.
    pub(super) fn holds(&self, quirk: &Quirk) -> bool {
        match quirk {
            // Adapting to these also merges messages, so a change proves nothing.
            Quirk::Tools => {
                let tools = self.body.get("tools").and_then(Value::as_array);
                tools.is_some_and(|tools| !tools.is_empty()) || self.has_tool_history()
            }
            Quirk::SystemRole => self.has_role("system"),
            Quirk::NullContent | Quirk::EmptyContent | Quirk::ContentParts => {
                is_changed(&json!({"messages": self.named}), quirk)
            }
            _ => is_changed(self.body, quirk),
        }
    }

    pub(super) fn has_tool_history(&self) -> bool {
        messages(self.body).iter().any(|message| role(message) == "tool" || !calls(message).is_empty())
    }

    pub(super) fn has_role(&self, wanted: &str) -> bool {
        self.named.iter().any(|message| role(message) == wanted)
    }

    /// A field of messages, by its name in any case, that a message can do without.
    pub(super) fn message_field(&self, name: &str) -> Option<&'a str> {
        let fields = messages(self.body).iter().filter_map(Value::as_object).flat_map(|fields| fields.keys());
        let mut spare = fields.map(String::as_str).filter(|key| !INDISPENSABLE_IN_MESSAGES.contains(key));
        spare.find(|key| key.eq_ignore_ascii_case(name))
    }
}

fn is_changed(body: &Value, quirk: &Quirk) -> bool {
    let mut adapted = body.clone();
    adapt(&mut adapted, &BTreeSet::from([quirk.clone()]), Family::Hermes);
    adapted != *body
}
