//! Chat Completions with a character: the client's history finds the conversation, and the turn is saved for the next history.

use std::sync::Arc;

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, PlainMessage};

use super::chat_snapshots::{ChatSnapshots, FoundHistory};
use super::history_key::HistoryKey;
use crate::characters::LoadedCharacter;
use crate::clock;
use crate::store::{CharacterMemory, NewSnapshot, SnapshotName, Store, StoreError, TurnRecords};

/// Where a turn is saved.
pub struct ChatHistory {
    store: Store,
    key: HistoryKey,
    name: Option<SnapshotName>,
    /// The text sent so far.
    sent: String,
}

/// Who a history belongs to.
#[derive(Debug, Clone, Default)]
pub struct ChatOwner {
    /// The client, as far as keys tell clients apart.
    pub owner: String,
    /// The conversation that the client names, if it does.
    pub conversation: Option<String>,
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
    let mut memory = match found.memory {
        Some(memory) => CharacterMemory { character: character.character.manifest().id.clone(), ..memory },
        None => character.begin().await?,
    };
    memory.messages.extend(history.into_iter().skip(found.covered).map(|message| message.json));
    let name = owner.conversation.is_some().then(|| SnapshotName { name: start.to_string(), turn: found.turn });
    let history = ChatHistory { store: snapshots.store().clone(), key: found.key, name, sent: String::new() };
    Ok(ResumedChat { memory, system, history })
}

/// Refuses what a character does not take in Chat Completions.
fn refuse_unsupported_fields(request: &ChatRequest, character: &LoadedCharacter) -> Result<(), ApiError> {
    let name = &character.character.manifest().id;
    let mut error = match request {
        request if request.offers_tools => {
            let message =
                format!("the character {name:?} runs its own tools; send none here, or ask its model directly");
            ApiError::new(400, "unsupported_parameter", message)
        }
        request if request.asks_for_format() => {
            let message = format!("the character {name:?} answers in plain text; leave response_format out");
            ApiError::new(400, "unsupported_parameter", message)
        }
        _ => return Ok(()),
    };
    error.param = Some(if request.offers_tools { "tools" } else { "response_format" }.to_owned());
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
    /// Takes note of text that is sent.
    pub(super) fn sent_text(&mut self, text: &str) {
        self.sent.push_str(text);
    }

    /// Saves a complete turn: the client's next history will end with the text that was sent.
    pub(super) async fn save(self, memory: Option<Arc<CharacterMemory>>) -> Result<(), StoreError> {
        let key = self.key.then("assistant", &self.sent);
        let records = self.records(key, memory, None);
        self.store.write_records(&records).await
    }

    /// Saves an interrupted turn, without waiting: the client's next history holds some of the text, or none.
    pub(super) fn save_interrupted(self, memory: Option<Arc<CharacterMemory>>) -> Result<(), StoreError> {
        let records = self.records(self.key.interrupted(), memory, Some(self.sent.clone()));
        self.store.write_records_in_background(&records)
    }

    fn records(
        &self,
        key: HistoryKey,
        memory: Option<Arc<CharacterMemory>>,
        interrupted: Option<String>,
    ) -> TurnRecords {
        let snapshot = memory.map(|memory| NewSnapshot {
            key: key.to_string(),
            name: self.name.clone(),
            at: clock::milliseconds(),
            memory,
            interrupted,
            response: None,
        });
        TurnRecords { snapshot, ..TurnRecords::default() }
    }
}
