//! Errors about what is stored: responses, conversations and their items.

use super::ApiError;
use crate::model::BadRequest;

impl ApiError {
    /// A response that is not stored.
    #[must_use]
    pub fn response_not_found(id: &str) -> Self {
        let message = format!("there is no response {id:?}; it was deleted, has expired, or was not stored");
        Self::new(404, "response_not_found", message)
    }

    /// A response that cannot be cancelled, because only those in the background can.
    #[must_use]
    pub fn response_not_cancellable(id: &str) -> Self {
        let message = format!("the response {id:?} is not in the background; end its connection to stop it");
        Self::new(400, "response_not_cancellable", message)
    }

    /// A request that continues a response which is not stored.
    #[must_use]
    pub fn previous_response_not_found(id: &str) -> Self {
        let message = format!("there is no response {id:?} to continue; was it sent with \"store\": false?");
        BadRequest::at("previous_response_id", "previous_response_not_found", message).into()
    }

    /// A request on a WebSocket that is not to be stored, and continues a response which the connection does not remember.
    #[must_use]
    pub fn previous_response_not_on_connection(id: &str) -> Self {
        let message = format!(
            "this connection does not remember the response {id:?}, and a request with \"store\": false continues only what it remembers; \
             continue a stored response with \"store\": true, or send the whole input"
        );
        BadRequest::at("previous_response_id", "previous_response_not_found", message).into()
    }

    /// A response that was deleted while the one that follows it was made.
    #[must_use]
    pub fn previous_response_deleted(id: &str) -> Self {
        let message = format!(
            "the response {id:?} was deleted while this one, which follows it, was made; nothing of it is stored: send the whole input anew"
        );
        BadRequest::at("previous_response_id", "previous_response_not_found", message).into()
    }

    /// A conversation that does not exist.
    #[must_use]
    pub fn conversation_not_found(id: &str) -> Self {
        let message = format!("there is no conversation {id:?}; make one with POST /v1/conversations");
        Self::new(404, "conversation_not_found", message)
    }

    /// A client's own name that leads to several conversations, given by their ids and characters.
    #[must_use]
    pub fn conversation_name_ambiguous<'a>(name: &str, several: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let several: Vec<String> = several.map(|(id, character)| format!("{id} ({character})")).collect();
        let message =
            format!("the name {name:?} leads to several conversations; send the id of one: {}", several.join(", "));
        Self::new(409, "conversation_name_ambiguous", message)
    }

    /// An item that is not in the conversation.
    #[must_use]
    pub fn item_not_found(id: &str, conversation: &str) -> Self {
        Self::new(404, "item_not_found", format!("the conversation {conversation:?} holds no item {id:?}"))
    }

    /// A history over the size limit of a turn.
    #[must_use]
    pub fn history_too_large(history: &str, bytes: u64, limit: u64) -> Self {
        let (whose, remedy) = match history.split_once('_') {
            Some(("conv", _)) => (format!("{history:?}"), "delete items of it, or begin a new conversation"),
            Some(("resp", _)) => (format!("{history:?}"), "leave it out and send what matters of it as input"),
            _ => ("this conversation".to_owned(), "begin a new one"),
        };
        let message = format!(
            "the history of {whose} has at least {bytes} bytes, more than the limit limits.history_bytes of {limit} bytes; {remedy} \
             (nothing is left out by itself, also not with truncation \"auto\")"
        );
        Self::new(400, "context_length_exceeded", message)
    }
}
