//! The messages of a chat request: roles, contents, and that every tool result answers a call made before it.
//!
//! Only what the rules need is read; the rest of a message is untouched text.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::place::Place;
use crate::model::BadRequest;
use crate::wire::json_extent::items;

const ROLES: &str = "\"system\", \"developer\", \"user\", \"assistant\" or \"tool\"";

/// What a turn has to know about the messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::wire) struct MessageFacts {
    /// The ids of all calls.
    pub(in crate::wire) ids: Vec<String>,
    /// Whether some servers would refuse the history as it is.
    pub(in crate::wire) needs_healing: bool,
    /// Whether the last message is a tool's result.
    pub(in crate::wire) ends_with_result: bool,
}

/// Checks the `messages` of a request.
pub(super) fn check(text: &str) -> Result<MessageFacts, BadRequest> {
    let wrong = || BadRequest::wrong_type("messages", "messages must be a list of messages");
    let list = items(text).ok_or_else(wrong)?;
    if list.is_empty() {
        return Err(BadRequest::invalid("messages", "messages must hold at least one message"));
    }
    check_each(list.into_iter())
}

/// Checks messages that come one by one.
pub(super) fn check_each<'a>(messages: impl Iterator<Item = &'a str>) -> Result<MessageFacts, BadRequest> {
    let mut history = History::default();
    for (number, message) in messages.enumerate() {
        let place = Place::Message(number);
        history.check(&Message::read(message, place)?, place)?;
    }
    let unanswered = history.answered.len() < history.known.len();
    let needs_healing = history.damaged || unanswered;
    Ok(MessageFacts { ids: history.ids, needs_healing, ends_with_result: history.ends_with_result })
}

/// Whether arguments are the text of a JSON object, which is all that some servers take in a history.
pub(in crate::wire) fn is_object(arguments: &str) -> bool {
    arguments.starts_with('{') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    audio: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    fn read(text: &'a str, place: Place<'_>) -> Result<Self, BadRequest> {
        if !text.starts_with('{') {
            return Err(BadRequest::wrong_type(place, format!("{place} must be an object")));
        }
        serde_json::from_str(text).map_err(|error| BadRequest::invalid(place, format!("{place}: {error}")))
    }

    fn role(&self, place: Place<'_>) -> Result<&'static str, BadRequest> {
        let at = place.field("role");
        let role = self.role.ok_or_else(|| BadRequest::missing(at, format!("{at} is missing; write {ROLES}")))?;
        let role: Cow<'_, str> = serde_json::from_str::<Text<'_>>(role.get())
            .map_err(|_| BadRequest::wrong_type(at, format!("{at} must be {ROLES}")))?
            .0;
        let known = ["system", "developer", "user", "assistant", "tool"].into_iter().find(|name| *name == role);
        known.ok_or_else(|| BadRequest::invalid(at, format!("{at} is {role:?}; it must be {ROLES}")))
    }
}

/// A string that is copied only where it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Default)]
struct History {
    ids: Vec<String>,
    known: HashSet<String>,
    answered: HashSet<String>,
    /// The calls of the last assistant message, whose results must follow it.
    open: HashSet<String>,
    damaged: bool,
    ends_with_result: bool,
}

impl History {
    fn check(&mut self, message: &Message<'_>, place: Place<'_>) -> Result<(), BadRequest> {
        let role = message.role(place)?;
        if message.tool_calls.is_some() && role != "assistant" {
            let at = place.field("tool_calls");
            return Err(BadRequest::invalid(
                at,
                format!("only assistant messages hold tool_calls; this one's role is {role:?}"),
            ));
        }
        if message.tool_call_id.is_some() && role != "tool" {
            let at = place.field("tool_call_id");
            return Err(BadRequest::invalid(
                at,
                format!("only tool messages hold a tool_call_id; this one's role is {role:?}"),
            ));
        }
        if role != "tool" {
            self.open.clear();
        }
        self.ends_with_result = role == "tool";
        match role {
            "assistant" => self.assistant(message, place),
            "tool" => self.tool(message, place),
            _ => {
                let at = place.field("content");
                let content = message.content.ok_or_else(|| BadRequest::missing(at, format!("{at} is missing")))?;
                check_content(content.get(), at, role == "user")
            }
        }
    }

    /// An assistant that said nothing is what agents keep of an interrupted or empty reply.
    fn assistant(&mut self, message: &Message<'_>, place: Place<'_>) -> Result<(), BadRequest> {
        if let Some(content) = message.content {
            check_content(content.get(), place.field("content"), false)?;
        }
        if let Some(calls) = message.tool_calls {
            return self.calls(calls.get(), place.field("tool_calls"));
        }
        self.damaged |= message.content.is_none() && message.refusal.is_none() && message.audio.is_none();
        Ok(())
    }

    fn calls(&mut self, text: &str, at: Place<'_>) -> Result<(), BadRequest> {
        let Ok(Value::Array(calls)) = serde_json::from_str::<Value>(text) else {
            return Err(BadRequest::wrong_type(at, format!("{at} must be a list of calls")));
        };
        self.damaged |= calls.is_empty();
        for (number, call) in calls.iter().enumerate() {
            self.call(call, at.item(number))?;
        }
        Ok(())
    }

    fn call(&mut self, call: &Value, at: Place<'_>) -> Result<(), BadRequest> {
        let id = text_at(call, "id", at)?;
        if id.is_empty() {
            return Err(BadRequest::invalid(at.field("id"), format!("{at}.id must not be empty")));
        }
        if call.get("type").is_some_and(|kind| kind.as_str() != Some("function")) {
            return Err(BadRequest::invalid(at.field("type"), format!("{at}.type must be \"function\"")));
        }
        let function = call.get("function").filter(|function| function.is_object());
        let place = at.field("function");
        let function = function
            .ok_or_else(|| BadRequest::missing(place, format!("{place} must be an object with name and arguments")))?;
        if text_at(function, "name", place)?.is_empty() {
            return Err(BadRequest::invalid(place.field("name"), format!("{place}.name must not be empty")));
        }
        let arguments = text_at(function, "arguments", place)?;
        self.damaged |= !is_object(arguments);
        if !self.open.insert(id.to_owned()) {
            let message =
                format!("{at}.id {id:?} was used by another call of this message; give each call an id of its own");
            return Err(BadRequest::at(at.field("id"), "duplicate_tool_call_id", message));
        }
        self.begin_call(id);
        Ok(())
    }

    /// Agents that number the calls of each turn use an id again; a result answers the last call with its id.
    fn begin_call(&mut self, id: &str) {
        if !self.known.insert(id.to_owned()) {
            self.damaged |= !self.answered.remove(id);
        }
        self.ids.push(id.to_owned());
    }

    fn tool(&mut self, message: &Message<'_>, place: Place<'_>) -> Result<(), BadRequest> {
        let at = place.field("tool_call_id");
        let missing =
            || BadRequest::missing(at, format!("{at} is missing; it must be the id of the call that is answered"));
        let id = message.tool_call_id.ok_or_else(missing)?;
        let id: String =
            serde_json::from_str(id.get()).map_err(|_| BadRequest::wrong_type(at, format!("{at} must be a string")))?;
        if !self.known.contains(&id) {
            let message = format!("{at} {id:?} answers no call of an earlier assistant message");
            return Err(BadRequest::at(at, "invalid_tool_call_id", message));
        }
        self.damaged |= !self.open.contains(&id);
        if !self.answered.insert(id.clone()) {
            return Err(BadRequest::at(at, "invalid_tool_call_id", format!("{at} {id:?} was answered before")));
        }
        let at = place.field("content");
        let content = message
            .content
            .ok_or_else(|| BadRequest::missing(at, format!("{at} is missing; an empty string is fine")))?;
        check_content(content.get(), at, false)
    }
}

fn text_at<'a>(value: &'a Value, key: &'static str, at: Place<'_>) -> Result<&'a str, BadRequest> {
    let place = at.field(key);
    match value.get(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(BadRequest::wrong_type(place, format!("{place} must be a string"))),
        None => Err(BadRequest::missing(place, format!("{place} is missing"))),
    }
}

/// A string, or a list of parts. Text parts must have text; other kinds are for users only and are passed on as they are.
fn check_content(text: &str, at: Place<'_>, any_part: bool) -> Result<(), BadRequest> {
    if text.starts_with('"') {
        return Ok(());
    }
    let Ok(Value::Array(parts)) = serde_json::from_str::<Value>(text) else {
        return Err(BadRequest::wrong_type(at, format!("{at} must be a string or a list of parts")));
    };
    for (number, part) in parts.iter().enumerate() {
        let at = at.item(number);
        match part.get("type").and_then(Value::as_str) {
            Some("text") => text_at(part, "text", at).map(|_| ())?,
            Some("refusal") => text_at(part, "refusal", at).map(|_| ())?,
            Some(_) if any_part => {}
            Some(kind) => {
                return Err(BadRequest::invalid(
                    at.field("type"),
                    format!("{at}.type is {kind:?}; this role takes text parts only"),
                ));
            }
            None => {
                return Err(BadRequest::missing(
                    at.field("type"),
                    format!("{at}.type is missing, for instance \"text\""),
                ));
            }
        }
    }
    Ok(())
}
