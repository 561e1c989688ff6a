//! Requests that create and change conversations, and the objects that clients get back.

use serde_json::{Map, Value, json};

use super::chat_item::ChatItem;
use super::request::{InputItem, read_items};
use super::stored_items::NewId;
use super::stored_items::stored_form;
use super::typed_fields::Fields;
use crate::model::BadRequest;
use crate::wire::body_object::read_object;

/// Items that one request may add.
const MOST_ITEMS: usize = 20;

/// A checked request to make a conversation, to change it, or to put items into it.
#[derive(Debug)]
pub struct ConversationRequest {
    items: Vec<InputItem>,
    /// The client's metadata; none where it sent none.
    pub metadata: Option<Map<String, Value>>,
}

impl ConversationRequest {
    /// Reads the body that makes a conversation; an empty body makes an empty one.
    pub fn read_new(body: Vec<u8>) -> Result<Self, BadRequest> {
        let body = if body.is_empty() { b"{}".to_vec() } else { body };
        Self::read(body)
    }

    /// Reads the body that changes a conversation's metadata.
    pub fn read_change(body: Vec<u8>) -> Result<Self, BadRequest> {
        let request = Self::read(body)?;
        match request.metadata {
            Some(_) => Ok(request),
            None => Err(BadRequest::missing("metadata", "metadata is missing; send the pairs to keep")),
        }
    }

    /// Reads the body that puts items into a conversation.
    pub fn read_items(body: Vec<u8>) -> Result<Self, BadRequest> {
        let request = Self::read(body)?;
        if request.items.is_empty() {
            return Err(BadRequest::missing("items", "items is missing; send a list of at least one item"));
        }
        Ok(request)
    }

    /// The items as they are stored and listed.
    #[must_use]
    pub fn stored_items(&self, new_id: &mut NewId) -> Vec<Value> {
        stored_form(&self.items, new_id)
    }

    fn read(body: Vec<u8>) -> Result<Self, BadRequest> {
        let map = read_object(body)?;
        let fields = Fields::of(&map);
        let items = fields.list("items")?.cloned().unwrap_or_default();
        if items.len() > MOST_ITEMS {
            let message = format!("items holds {}; at most {MOST_ITEMS} can be added at a time", items.len());
            return Err(BadRequest::invalid("items", message));
        }
        let items = read_items(items, "items")?;
        refuse_references(&items)?;
        let metadata = fields.metadata()?;
        Ok(Self { items, metadata: fields.get("metadata").map(|_| metadata) })
    }
}

/// A reference names what is stored already: it would add nothing, or the same item twice.
fn refuse_references(items: &[InputItem]) -> Result<(), BadRequest> {
    match items.iter().position(|item| matches!(item.meaning, ChatItem::Reference(_))) {
        None => Ok(()),
        Some(number) => {
            let place = format!("items[{number}].type");
            let message = format!("{place} is \"item_reference\"; a conversation takes items, so send the item itself");
            Err(BadRequest::at(place, "unsupported_value", message))
        }
    }
}

/// A conversation as clients see it.
#[must_use]
pub fn conversation_object(id: &str, created_at: u64, metadata: &Map<String, Value>) -> Value {
    json!({"id": id, "object": "conversation", "created_at": created_at, "metadata": metadata})
}

/// What is answered to the deletion of a conversation.
#[must_use]
pub fn conversation_deleted(id: &str) -> Value {
    json!({"id": id, "object": "conversation.deleted", "deleted": true})
}

/// What is answered to the deletion of a response.
#[must_use]
pub fn response_deleted(id: &str) -> Value {
    json!({"id": id, "object": "response", "deleted": true})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_their_place() {
        type Read = fn(Vec<u8>) -> Result<ConversationRequest, BadRequest>;
        let many = json!({"items": vec![json!({"role": "user", "content": "a"}); 21]});
        let table: [(Read, Value, &str); 9] = [
            (ConversationRequest::read_new, json!({"items": [{"role": "user"}]}), "items[0].content"),
            (ConversationRequest::read_new, json!({"items": 1}), "items"),
            (ConversationRequest::read_new, json!({"metadata": {"a": 1}}), "metadata.a"),
            (ConversationRequest::read_new, many, "items"),
            (ConversationRequest::read_change, json!({}), "metadata"),
            (ConversationRequest::read_items, json!({}), "items"),
            (ConversationRequest::read_items, json!({"items": [{"type": "mesage"}]}), "items[0].type"),
            (
                ConversationRequest::read_items,
                json!({"items": [{"role": "user", "content": "a"}, {"type": "item_reference", "id": "msg_1"}]}),
                "items[1].type",
            ),
            (ConversationRequest::read_new, json!({"items": [{"id": "msg_1"}]}), "items[0].type"),
        ];
        for (read, body, param) in table {
            let error = read(body.to_string().into_bytes()).expect_err(&body.to_string());
            assert_eq!(error.param.as_deref(), Some(param), "{body}");
        }
    }

    #[test]
    fn a_conversation_is_made_with_or_without_a_body() {
        let empty = ConversationRequest::read_new(Vec::new()).unwrap();
        assert!(empty.metadata.is_none());
        let body = json!({"items": [{"role": "user", "content": "a"}], "metadata": {"k": "v"}});
        let request = ConversationRequest::read_new(body.to_string().into_bytes()).unwrap();
        assert_eq!(request.metadata.as_ref().and_then(|pairs| pairs.get("k")), Some(&"v".into()));
        let mut new_id: NewId = Box::new(|prefix| format!("{prefix}_1"));
        let expected = json!([{"id": "msg_1", "type": "message", "status": "completed", "role": "user",
            "content": [{"type": "input_text", "text": "a"}]}]);
        assert_eq!(Value::Array(request.stored_items(&mut new_id)), expected);
    }
}
