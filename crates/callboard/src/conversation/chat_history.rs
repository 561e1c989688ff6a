//! Chat Completions with a character: the client's history finds the conversation, and the turn is saved for the next history.

use std::sync::Arc;

use callboard_core::contract::ToolCache;
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{CallForm, ChatRequest, PlainMessage};
use callboard_core::wire::responses::{ConversationRequest, drop_unpaired};
use serde_json::Value;

use super::character_part::character_part;
use super::chat_items::{CallOwners, items_of, messages_of};
use super::chat_place::{ChatPlace, new_items, whole_record};
use super::chat_snapshots::{ChatSnapshots, FoundHistory};
use super::history_key::HistoryKey;
use super::owned_conversation::{begin_turn, is_conversation_id, owned_conversation};
use crate::characters::LoadedCharacter;
use crate::clock;
use crate::memory_budget::RequestMemory;
use crate::store::{
    CharacterMemory, ClientName, NewSnapshot, SnapshotName, Store, StoreError, Turn, TurnRecords, TurnWrite,
};

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

/// Where conversations are found, and what loading them takes.
pub struct ChatSources<'a> {
    /// The histories, and the store that they are in.
    pub snapshots: &'a ChatSnapshots,
    /// Compiled tools.
    pub tools: &'a ToolCache,
    /// What the request takes of the memory budget.
    pub memory: &'a RequestMemory,
}

/// A claimed turn, and all items that precede it.
type LoadedConversation = (Turn, Vec<Value>);

/// The client's system messages, and the others.
type SplitHistory = (Vec<String>, Vec<PlainMessage>);

/// How the turn is found later: by its history, and by the client's name where it gave one.
struct Found {
    key: HistoryKey,
    name: Option<SnapshotName>,
}

/// Finds the conversation of a chat request, or begins one.
pub async fn resume_chat(
    sources: &ChatSources<'_>,
    character: &LoadedCharacter,
    request: &ChatRequest,
    owner: &ChatOwner,
) -> Result<ResumedChat, ApiError> {
    refuse_unsupported_fields(request, character)?;
    let metadata = metadata_of(request)?;
    let (store, history) = (sources.snapshots.store(), split_history(request.history()));
    let start = start_key(character, request, owner);
    let FoundHistory { memory, covered, key, turn } = find(sources.snapshots, owner, start, &history.1).await?;
    let found = Found { key, name: owner.conversation.as_ref().map(|_| snapshot_name(start, turn, owner, character)) };
    let (mut memory, place) = match memory {
        None => (character.begin_with(&metadata).await?, ChatPlace::new(&owner.owner, metadata)),
        Some(mut memory) => {
            character.character.manifest().id.clone_into(&mut memory.character);
            let place = ChatPlace::of_history(store, &owner.owner, &mut memory).await?;
            // A name stays with its conversation, however that went on; a history that differs from it begins another one.
            if let (None, Some(end), true) = (&place, &memory.place, turn > 0)
                && let Some(whole) = load_items(sources, (&end.conversation, &owner.owner)).await?
            {
                return resume_whole(sources, character, request, (whole, history), Some(found)).await;
            }
            let place = place.unwrap_or_else(|| ChatPlace::copy(&owner.owner, metadata, &mut memory));
            (memory, place)
        }
    };
    let before = memory.messages.len();
    memory.messages.extend(history.1.into_iter().skip(covered).map(|message| message.json));
    let owners = CallOwners { client_messages: before..memory.messages.len(), client_tools: request.client_tools() };
    let stored = place.stored(before);
    let history_saved = ChatHistory { owners, stored, ..ChatHistory::at(store, place, Some(found)) };
    Ok(ResumedChat { memory, system: history.0, history: history_saved })
}

/// Continues the conversation with this id. What it holds counts: of the client's history only what comes after the model's last message.
pub async fn resume_conversation(
    sources: &ChatSources<'_>,
    character: &LoadedCharacter,
    request: &ChatRequest,
    (id, owner): (&str, &str),
) -> Result<ResumedChat, ApiError> {
    refuse_unsupported_fields(request, character)?;
    let store = sources.snapshots.store();
    // Checked before waiting for a running turn: other owners' conversations neither block nor are blocked.
    if store.has_running_turn(id) {
        owned_conversation(store, id, owner).await?;
    }
    let whole = load_items(sources, (id, owner)).await?.ok_or_else(|| ApiError::conversation_not_found(id))?;
    resume_whole(sources, character, request, (whole, split_history(request.history())), None).await
}

/// Claims the turn of an owner's conversation and loads its items; none where there is no such conversation.
async fn load_items(
    sources: &ChatSources<'_>,
    (id, owner): (&str, &str),
) -> Result<Option<LoadedConversation>, ApiError> {
    match begin_turn(sources.snapshots.store(), id, sources.memory).await {
        Ok((turn, items)) => Ok((turn.head().conversation.owner == owner).then_some((turn, items))),
        Err(error) if error.status == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Continues a conversation with all that it holds.
async fn resume_whole(
    sources: &ChatSources<'_>,
    character: &LoadedCharacter,
    request: &ChatRequest,
    ((turn, items), (system, history)): (LoadedConversation, SplitHistory),
    found: Option<Found>,
) -> Result<ResumedChat, ApiError> {
    let (store, own) = (sources.snapshots.store(), &character.character.manifest().id);
    let mut memory = match character_part(store, turn.head(), Some(character), own).await? {
        Some(memory) => memory,
        None => character.begin_with(&turn.head().conversation.metadata).await?,
    };
    if found.is_some() {
        // It becomes the memory of a history.
        memory.record = whole_record(store, &turn).await?.unwrap_or(memory.record);
    }
    let new: Vec<String> = newest(history, !items.is_empty()).into_iter().map(|message| message.json).collect();
    let input = items_of(&new, 0, &CallOwners { client_messages: 0..new.len(), ..CallOwners::default() });
    let messages = messages_of(own, &drop_unpaired(items), &input, sources.tools);
    memory.messages = messages.map_err(|error| misfit(&error, &turn.head().conversation.id))?;
    let owners = CallOwners { client_tools: request.client_tools(), ..CallOwners::default() };
    let place = ChatPlace::Claimed(Box::new(turn));
    let stored = memory.messages.len();
    let history = ChatHistory { owners, input, stored, ..ChatHistory::at(store, place, found) };
    Ok(ResumedChat { memory, system, history })
}

/// The metadata of a conversation that begins with this request, by the rules of `/v1/conversations`.
fn metadata_of(request: &ChatRequest) -> Result<String, BadRequest> {
    let Some(sent) = request.json_field("metadata") else { return Ok("{}".to_owned()) };
    let read = ConversationRequest::read_new(format!("{{\"metadata\":{sent}}}").into_bytes())?;
    Ok(Value::Object(read.metadata.unwrap_or_default()).to_string())
}

/// The error of messages that cannot follow what a conversation holds: the client sent no `input`.
fn misfit(error: &BadRequest, conversation: &str) -> BadRequest {
    let message =
        format!("the new messages, as items, do not fit the conversation {conversation:?}: {}", error.message);
    BadRequest::at("messages", error.code, message)
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
fn split_history(history: Vec<PlainMessage>) -> SplitHistory {
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

fn snapshot_name(start: HistoryKey, turn: i64, owner: &ChatOwner, character: &LoadedCharacter) -> SnapshotName {
    let client = ClientName {
        owner: owner.owner.clone(),
        character: character.character.manifest().id.clone(),
        name: owner.conversation.clone().unwrap_or_default(),
    };
    SnapshotName { key: start.to_string(), turn, client }
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
    fn at(store: &Store, place: ChatPlace, found: Option<Found>) -> Self {
        let (key, name) = found.map_or((None, None), |found| (Some(found.key), found.name));
        Self {
            store: store.clone(),
            key,
            name,
            place,
            owners: CallOwners::default(),
            input: Vec::new(),
            stored: 0,
            sent: String::new(),
            calls: String::new(),
        }
    }

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
