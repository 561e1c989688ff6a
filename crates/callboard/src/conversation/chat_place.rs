//! The conversation that a turn of Chat Completions belongs to: one that exists, or one that begins with the turn.

use callboard_core::journal::StateRecord;
use callboard_core::wire::responses::ResponsesRequest;
use serde_json::{Value, json};

use super::ids::{item_ids, new_conversation_id, new_response_id};
use super::response_context::TURN_WAIT;
use crate::clock;
use crate::store::{CharacterMemory, ConversationPlace, NewConversation, NewItem, Store, StoreError, Turn, TurnWrite};

/// Where the turn is written.
pub(super) enum ChatPlace {
    /// A conversation whose turn is claimed.
    Claimed(Box<Turn>),
    /// One that begins with this turn.
    New(NewConversation),
}

impl ChatPlace {
    /// A conversation that begins.
    pub(super) fn new(owner: &str, metadata: String) -> Self {
        let (id, at) = (new_conversation_id(), clock::milliseconds());
        Self::New(NewConversation { id, owner: owner.to_owned(), at, metadata })
    }

    /// The conversation of a history, where it still ends where the history does: then the character's state is that of the conversation,
    /// with what was undone or called there by hand. None where it went on in another way, or is gone.
    pub(super) async fn of_history(
        store: &Store,
        owner: &str,
        memory: &mut CharacterMemory,
    ) -> Result<Option<Self>, StoreError> {
        let Some(place) = &memory.place else { return Ok(None) };
        let Some(turn) = claim(store, owner, place).await? else { return Ok(None) };
        memory.record = whole_record(store, &turn).await?.unwrap_or_else(|| memory.record.clone());
        Ok(Some(Self::Claimed(Box::new(turn))))
    }

    /// A conversation that begins with the memory of another one.
    pub(super) fn copy(owner: &str, metadata: String, memory: &mut CharacterMemory) -> Self {
        memory.place = None;
        memory.record = std::mem::take(&mut memory.record).unstored();
        Self::new(owner, metadata)
    }

    /// The id of the conversation.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Claimed(turn) => &turn.head().conversation.id,
            Self::New(new) => &new.id,
        }
    }

    /// How many of the messages up to now are in the conversation already.
    pub(super) fn stored(&self, messages: usize) -> usize {
        match self {
            Self::Claimed(_) => messages,
            Self::New(_) => 0,
        }
    }

    /// The end of the conversation after so many new items.
    pub(super) fn after(&self, items: usize) -> ConversationPlace {
        let position = match self {
            Self::Claimed(turn) => turn.head().conversation.next_position,
            Self::New(_) => 0,
        };
        let position = position.saturating_add(i64::try_from(items).unwrap_or(i64::MAX));
        ConversationPlace { conversation: self.id().to_owned(), position }
    }

    pub(super) async fn finish(self, store: &Store, write: TurnWrite) -> Result<(), StoreError> {
        match self {
            Self::Claimed(turn) => turn.finish(write).await.map(drop),
            Self::New(new) => store.begin_with_turn(new, write).await,
        }
    }

    pub(super) fn finish_in_background(self, store: &Store, write: TurnWrite) -> Result<(), StoreError> {
        match self {
            Self::Claimed(turn) => turn.finish_in_background(write),
            Self::New(new) => store.begin_with_turn_in_background(new, write),
        }
    }
}

/// Claims the turn of a conversation that ends at this place; none where it was continued otherwise, or is gone.
async fn claim(store: &Store, owner: &str, place: &ConversationPlace) -> Result<Option<Turn>, StoreError> {
    // A turn that runs moves the end.
    if store.has_running_turn(&place.conversation) {
        return Ok(None);
    }
    match store.begin_turn(&place.conversation, TURN_WAIT).await {
        Ok(turn) => {
            let conversation = &turn.head().conversation;
            let fits = conversation.owner == owner && conversation.next_position == place.position;
            Ok(fits.then_some(turn))
        }
        // Busy: a turn of another process runs.
        Err(StoreError::NotFound(_) | StoreError::Busy { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The character's state in a conversation, with its whole journal.
pub(super) async fn whole_record(store: &Store, turn: &Turn) -> Result<Option<StateRecord>, StoreError> {
    let head = turn.head();
    let Some(memory) = &head.memory else { return Ok(None) };
    let journal = store.journal(&head.conversation.id, 0, i64::MAX).await?;
    Ok(Some(memory.record.clone().with_journal(journal)))
}

/// Items as they are stored; what no request could bring is left out.
pub(super) fn new_items(items: impl IntoIterator<Item = Value>, character: &str) -> Vec<NewItem> {
    let mut new_id = item_ids(&new_response_id());
    let mut stored = Vec::new();
    for item in items {
        let request = json!({"model": character, "input": [item]}).to_string();
        let request = ResponsesRequest::read(request.into_bytes());
        stored.extend(request.map(|request| request.input_items(&mut new_id)).unwrap_or_default());
    }
    for item in stored.iter_mut().filter(|item| item["type"] == "mcp_call") {
        item["server_label"] = character.into();
    }
    stored.iter().map(NewItem::of).collect()
}
