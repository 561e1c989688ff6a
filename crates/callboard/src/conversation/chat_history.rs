//! Chat Completions with a character: the client's history finds the conversation, and the turn is saved for the next history.

use std::sync::Arc;

use callboard_core::contract::ToolCache;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{CallForm, ChatRequest, PlainMessage};
use callboard_core::wire::responses::drop_unpaired;
use serde_json::Value;

use super::character_part::character_part;
use super::chat_items::{CallOwners, items_of, messages_of};
use super::chat_place::{ChatPlace, is_conversation_id, new_items};
use super::chat_snapshots::{ChatSnapshots, FoundHistory};
use super::history_key::HistoryKey;
use super::owned_conversation::{begin_turn, owned_conversation};
use crate::characters::LoadedCharacter;
use crate::clock;
use crate::memory_budget::RequestMemory;
use crate::store::{CharacterMemory, NewSnapshot, SnapshotName, Store, StoreError, TurnRecords, TurnWrite};

/// Where a turn is saved.
pub struct ChatHistory {
    store: Store,
    /// The key of the whole history; none where the client named the conversation by its id.
    key: Option<HistoryKey>,
    name: Option<SnapshotName>,
    place: ChatPlace,
    owners: CallOwners,
    /// The items that precede the messages which follow.
    input: Vec<Value>,
    /// How many messages are in the conversation already, or among those items.
    stored: usize,
    /// The text sent so far.
    sent: String,
    /// The ids of the calls sent so far.
    calls: String,
}

/// Who a history belongs to.
#[derive(Debug, Clone, Default)]
pub struct ChatOwner {
    /// The client, as far as keys tell clients apart.
    pub owner: String,
    /// The conversation that the client names, if it does.
    pub conversation: Option<String>,
}

impl ChatOwner {
    /// The id of the conversation, where the client names it by that.
    #[must_use]
    pub fn conversation_id(&self) -> Option<&str> {
        self.conversation.as_deref().filter(|name| is_conversation_id(name))
    }
}

/// A conversation at the start of a turn.
pub struct ResumedChat {
    /// The character's part, with all messages up to now.
    pub memory: CharacterMemory,
    /// The client's system messages.
    pub system: Vec<String>,
    /// Where the turn is saved.
    pub history: ChatHistory,
}

/// Finds the conversation of a chat request, or begins one.
pub async fn resume_chat(
    snapshots: &ChatSnapshots,
    character: &LoadedCharacter,
    request: &ChatRequest,
    owner: &ChatOwner,
) -> Result<ResumedChat, ApiError> {
    refuse_unsupported_fields(request, character)?;
    let (system, history) = split_history(request.history());
    let start = start_key(character, request, owner);
    let found = find(snapshots, owner, start, &history).await?;
    let store = snapshots.store().clone();
    let (mut memory, place) = match found.memory {
        Some(mut memory) => {
            character.character.manifest().id.clone_into(&mut memory.character);
            let place = ChatPlace::of_history(&store, &owner.owner, &mut memory).await?;
            (memory, place)
        }
        None => (character.begin().await?, ChatPlace::new(&owner.owner)),
    };
    let before = memory.messages.len();
    memory.messages.extend(history.into_iter().skip(found.covered).map(|message| message.json));
    let owners = CallOwners { client_messages: before..memory.messages.len(), client_tools: request.client_tools() };
    let name = owner.conversation.is_some().then(|| SnapshotName { name: start.to_string(), turn: found.turn });
    let stored = place.stored(before);
    let history = ChatHistory {
        store,
        key: Some(found.key),
        name,
        place,
        owners,
        input: Vec::new(),
        stored,
        sent: String::new(),
        calls: String::new(),
    };
    Ok(ResumedChat { memory, system, history })
}

/// Continues the conversation with this id. What it holds counts: of the client's history only what comes after the model's last message.
pub async fn resume_conversation(
    (store, tools): (&Store, &ToolCache),
    character: &LoadedCharacter,
    request: &ChatRequest,
    (id, owner): (&str, &str),
    budget: &RequestMemory,
) -> Result<ResumedChat, ApiError> {
    refuse_unsupported_fields(request, character)?;
    // Checked before waiting for a running turn: other owners' conversations neither block nor are blocked.
    if store.has_running_turn(id) {
        owned_conversation(store, id, owner).await?;
    }
    let (turn, items) = begin_turn(store, id, budget).await?;
    if turn.head().conversation.owner != owner {
        return Err(ApiError::conversation_not_found(id));
    }
    let own = &character.character.manifest().id;
    let mut memory = match character_part(store, turn.head(), Some(character), own).await? {
        Some(memory) => memory,
        None => character.begin_with(&turn.head().conversation.metadata).await?,
    };
    let (system, history) = split_history(request.history());
    let new: Vec<String> = newest(history, !items.is_empty()).into_iter().map(|message| message.json).collect();
    let input = items_of(&new, 0, &CallOwners { client_messages: 0..new.len(), ..CallOwners::default() });
    memory.messages = messages_of(own, &drop_unpaired(items), &input, tools)?;
    let place = ChatPlace::Claimed(Box::new(turn));
    let history = ChatHistory {
        store: store.clone(),
        key: None,
        name: None,
        place,
        owners: CallOwners { client_tools: request.client_tools(), ..CallOwners::default() },
        input,
        stored: memory.messages.len(),
        sent: String::new(),
        calls: String::new(),
    };
    Ok(ResumedChat { memory, system, history })
}

/// What the conversation does not have yet.
fn newest(mut history: Vec<PlainMessage>, continues: bool) -> Vec<PlainMessage> {
    let last = history.iter().rposition(|message| message.role == "assistant").filter(|_| continues);
    history.split_off(last.map_or(0, |last| last + 1))
}

/// Refuses what a character does not take in Chat Completions.
fn refuse_unsupported_fields(request: &ChatRequest, character: &LoadedCharacter) -> Result<(), ApiError> {
    let name = &character.character.manifest().id;
    let mut error = match request {
        request if request.offers_tools && request.form == CallForm::Function => {
            let message = format!("the character {name:?} takes functions as tools only; send them in tools");
            ApiError::new(400, "unsupported_parameter", message)
        }
        request if request.asks_for_format() => {
            let message = format!("the character {name:?} answers in plain text; leave response_format out");
            ApiError::new(400, "unsupported_parameter", message)
        }
        _ => return Ok(()),
    };
    error.param = Some(if request.asks_for_format() { "response_format" } else { "functions" }.to_owned());
    Err(error)
}

/// Separates the client's system messages from the others.
fn split_history(history: Vec<PlainMessage>) -> (Vec<String>, Vec<PlainMessage>) {
    let (system, others): (Vec<_>, Vec<_>) =
        history.into_iter().partition(|message| matches!(message.role.as_str(), "system" | "developer"));
    (system.into_iter().map(|message| message.text).collect(), others)
}

/// Histories of different owners, users and names never share a key.
fn start_key(character: &LoadedCharacter, request: &ChatRequest, owner: &ChatOwner) -> HistoryKey {
    let user = request.text_field("user").unwrap_or_default();
    let named = owner.conversation.as_deref().unwrap_or_default();
    HistoryKey::start(&[&character.character.manifest().id, &owner.owner, &user, named])
}

async fn find(
    snapshots: &ChatSnapshots,
    owner: &ChatOwner,
    start: HistoryKey,
    history: &[PlainMessage],
) -> Result<FoundHistory, StoreError> {
    let found = snapshots.find(start, history).await?;
    let is_new = history.iter().all(|message| message.role == "user");
    if found.memory.is_some() || !is_new || owner.conversation.is_none() {
        return Ok(found);
    }
    let named = snapshots.named(start).await?;
    let turn = named.as_ref().map_or(0, |named| named.turn).saturating_add(1);
    Ok(FoundHistory { memory: named.map(|named| named.memory), turn, ..found })
}

impl ChatHistory {
    /// Takes note of a call that is sent.
    pub(super) fn sent_call(&mut self, id: &str) {
        self.calls.push_str(id);
    }

    /// Takes note of text that is sent.
    pub(super) fn sent_text(&mut self, text: &str) {
        self.sent.push_str(text);
    }

    /// The id of its conversation.
    pub(super) fn conversation(&self) -> &str {
        self.place.id()
    }

    /// Saves a complete turn: the client's next history will end with the text that was sent.
    pub(super) async fn save(self, memory: Option<Arc<CharacterMemory>>) -> Result<(), StoreError> {
        let Some(memory) = memory else { return Ok(()) };
        let key = self.key.map(|key| key.then("assistant", &format!("{}{}", self.sent.trim(), self.calls)));
        let write = self.write(key, memory, None);
        self.place.finish(&self.store, write).await
    }

    /// Saves an interrupted turn, without waiting: the client's next history holds some of the text, or none.
    pub(super) fn save_interrupted(self, memory: Option<Arc<CharacterMemory>>) -> Result<(), StoreError> {
        let Some(memory) = memory else { return Ok(()) };
        let write = self.write(self.key.map(HistoryKey::interrupted), memory, Some(self.sent.clone()));
        self.place.finish_in_background(&self.store, write)
    }

    fn write(&self, key: Option<HistoryKey>, memory: Arc<CharacterMemory>, interrupted: Option<String>) -> TurnWrite {
        let at = clock::milliseconds();
        let said = items_of(&memory.messages, self.stored, &self.owners);
        let items = new_items(self.input.iter().cloned().chain(said), &memory.character);
        let snapshot = key.map(|key| NewSnapshot {
            key: key.to_string(),
            name: self.name.clone(),
            at,
            memory: Arc::clone(&memory),
            interrupted,
            response: None,
            place: Some(self.place.after(items.len())),
        });
        let records = TurnRecords { snapshot, ..TurnRecords::default() };
        TurnWrite { at, memory: Some(memory), items, records }
    }
}
