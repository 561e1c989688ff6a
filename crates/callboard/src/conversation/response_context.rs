//! What a response continues: a conversation, an earlier response, or nothing.

use std::time::Duration;

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{ResponsesRequest, drop_unpaired};
use serde_json::Value;

use super::character_part::character_part;
use super::connection_cache::{ConnectionCache, ConnectionResponse};
use super::ids::response_of;
use super::owned_conversation::{begin_turn, conversation_id, owned_conversation};
use super::response_chain::LoadedResponses;
use super::response_saving::{SaveTarget, character_of, snapshot_key};
use super::which_model_may_continue::{Continued, check_continuation};
use crate::characters::LoadedCharacter;
use crate::clock;
use crate::memory_budget::RequestMemory;
use crate::store::{CharacterMemory, Exchange, FoundSnapshot, Store, StoreError};

/// How long a turn waits for others of its conversation.
pub const TURN_WAIT: Duration = Duration::from_secs(120);

/// Where to look, and for whom.
pub struct ContextQuery<'a> {
    /// The store.
    pub store: &'a Store,
    /// The responses of this connection.
    pub connection: Option<&'a ConnectionCache>,
    /// Whose responses and conversations may be seen.
    pub owner: &'a str,
    /// The character that is asked for, if it is one.
    pub character: Option<&'a LoadedCharacter>,
    /// The model or character that is asked for.
    pub model: &'a str,
    /// What the request takes of the memory budget.
    pub memory: &'a RequestMemory,
}

/// What precedes a response.
pub struct ResponseContext {
    /// All items, oldest first.
    pub items: Vec<Value>,
    /// The character's part; none where it has not begun.
    pub memory: Option<CharacterMemory>,
    /// Where the response is saved.
    pub target: SaveTarget,
    /// Whether the items are stored nowhere.
    pub unstored: bool,
}

impl ResponseContext {
    fn new(items: Vec<Value>, memory: Option<CharacterMemory>, target: SaveTarget) -> Self {
        Self { items, memory, target, unstored: false }
    }

    /// The metadata of the conversation that the response belongs to: a JSON object.
    pub fn metadata(&self) -> &str {
        match &self.target {
            SaveTarget::Conversation(turn) => &turn.head().conversation.metadata,
            _ => "{}",
        }
    }

    /// The conversation that the response belongs to.
    pub fn conversation(&self) -> Option<&str> {
        match &self.target {
            SaveTarget::Conversation(turn) => Some(&turn.head().conversation.id),
            _ => None,
        }
    }
}

/// Loads what a request continues. In a conversation, its turn is claimed.
pub async fn load_context(
    request: &mut ResponsesRequest,
    query: &ContextQuery<'_>,
) -> Result<ResponseContext, ApiError> {
    let context = match (request.conversation.clone(), request.previous_response_id.clone()) {
        (Some(id), _) => query.conversation(&id).await.map_err(|error| error.about("conversation"))?,
        (None, Some(id)) => query.response(&id, request.store).await?,
        (None, None) => {
            let target = target(request.store, None);
            ResponseContext::new(Vec::new(), query.memory_of_input(request).await?, target)
        }
    };
    let found = query.referenced(&request.references(&context.items)).await?;
    request.fill_references(&found)?;
    Ok(context)
}

fn target(store: bool, previous: Option<&str>) -> SaveTarget {
    match store {
        true => SaveTarget::Response { previous: previous.map(str::to_owned) },
        false => SaveTarget::Nowhere,
    }
}

impl ContextQuery<'_> {
    fn character_id(&self) -> Option<&str> {
        self.character.map(|character| character.character.manifest().id.as_str())
    }

    async fn conversation(&self, name: &str) -> Result<ResponseContext, ApiError> {
        let id = &conversation_id(self.store, (name, self.owner), self.character_id()).await?;
        // Checked before waiting for a running turn: other owners' conversations neither block nor are blocked.
        if self.store.has_running_turn(id) {
            owned_conversation(self.store, id, self.owner).await?;
        }
        let (turn, items) = begin_turn(self.store, id, self.memory).await?;
        if turn.head().conversation.owner != self.owner {
            return Err(ApiError::conversation_not_found(name));
        }
        let memory = character_part(self.store, turn.head(), self.character, self.model).await?;
        Ok(ResponseContext::new(drop_unpaired(items), memory, SaveTarget::Conversation(Box::new(turn))))
    }

    fn check_continuation(&self, character: &str, continued: Continued<'_>) -> Result<(), ApiError> {
        check_continuation(character, self.model, self.character_id(), continued)
    }

    async fn response(&self, id: &str, stored: bool) -> Result<ResponseContext, ApiError> {
        if let Some(cached) = self.connection.and_then(|connection| connection.find(id)) {
            self.store.check_history(id, cached.bytes)?;
            if let Some(response) = &cached.response {
                return self.connection_response(id, response, stored);
            }
        }
        if !stored && self.connection.is_some_and(|connection| connection.find(id).is_none()) {
            return Err(ApiError::previous_response_not_on_connection(id));
        }
        let mut chain = LoadedResponses::new(self.store, id, self.memory);
        let newest = chain.piece(Some(clock::milliseconds())).await?;
        self.check_newest(id, newest.exchanges.last())?;
        self.check_response_character(id, newest.snapshot_key.as_deref())?;
        chain.add(&newest.exchanges)?;
        chain.read_rest().await?;
        if let Some(gone) = chain.rest {
            let message =
                format!("the response {id:?} followed {gone:?}, which was deleted; send the whole input instead");
            return Err(BadRequest::at("previous_response_id", "previous_response_not_found", message).into());
        }
        let memory = self.newest_memory(&chain.newest_first).await?.map(|found| found.memory);
        Ok(ResponseContext::new(chain.into_items(), memory, target(stored, Some(id))))
    }

    /// A response that is cached on this connection.
    fn connection_response(
        &self,
        id: &str,
        response: &ConnectionResponse,
        stored: bool,
    ) -> Result<ResponseContext, ApiError> {
        if let Some(memory) = &response.memory {
            self.check_continuation(&memory.character, Continued::Response(id))?;
        }
        let own = response.memory.as_ref().filter(|memory| Some(memory.character.as_str()) == self.character_id());
        let memory = own.map(|memory| CharacterMemory::clone(memory));
        // A response that only this connection has cannot be loaded later, so the new one is not linked to it.
        let target = target(stored, response.stored.then_some(id));
        Ok(ResponseContext {
            unstored: !response.stored,
            ..ResponseContext::new(response.items.clone(), memory, target)
        })
    }

    /// The snapshot of a response tells which character made it. A loaded character has been looked for already.
    fn check_response_character(&self, id: &str, snapshot_key: Option<&str>) -> Result<(), ApiError> {
        match snapshot_key.and_then(|key| character_of(key, id)).filter(|_| self.character.is_none()) {
            Some(character) => self.check_continuation(character, Continued::Response(id)),
            None => Ok(()),
        }
    }

    fn check_newest(&self, id: &str, newest: Option<&Exchange>) -> Result<(), ApiError> {
        let missing = || Err(ApiError::previous_response_not_found(id));
        let Some(last) = newest.filter(|last| last.owner == self.owner && last.id == id) else { return missing() };
        if let Some(conversation) = &last.conversation {
            let message =
                format!("the response {id:?} belongs to the conversation {conversation:?}; send that instead");
            return Err(BadRequest::at("previous_response_id", "response_in_conversation", message).into());
        }
        Ok(())
    }

    /// The character's part at the end of the first of these responses that it took part in.
    async fn newest_memory(&self, responses: &[String]) -> Result<Option<FoundSnapshot>, StoreError> {
        let Some(character) = self.character_id() else { return Ok(None) };
        let keys: Vec<String> = responses.iter().map(|id| snapshot_key(id, character)).collect();
        let mut found = self.store.find_snapshot(&keys, |_, _| true).await?;
        if let Some(found) = &mut found {
            character.clone_into(&mut found.memory.character);
        }
        Ok(found)
    }

    /// The character's part at the end of the newest response whose items the client sends itself, as many clients do.
    async fn memory_of_input(&self, request: &ResponsesRequest) -> Result<Option<CharacterMemory>, StoreError> {
        let mut newest_first: Vec<String> = request.input_ids().rev().filter_map(response_of).collect();
        newest_first.dedup();
        let Some(found) = self.newest_memory(&newest_first).await? else { return Ok(None) };
        let Some(id) = newest_first.get(found.index) else { return Ok(None) };
        let response = self.store.response(id, clock::milliseconds()).await?;
        Ok(response.filter(|response| response.exchange.owner == self.owner).map(|_| found.memory))
    }

    /// Items that the input references, from the responses they belong to.
    async fn referenced(&self, ids: &[&str]) -> Result<Vec<Value>, StoreError> {
        let mut responses: Vec<String> = ids.iter().filter_map(|id| response_of(id)).collect();
        responses.sort_unstable();
        responses.dedup();
        let (mut items, mut bytes) = (Vec::new(), 0_u64);
        for id in responses {
            let response = self.store.response(&id, clock::milliseconds()).await?;
            if let Some(said) = response.map(|response| response.exchange).filter(|said| said.owner == self.owner) {
                bytes = bytes.saturating_add(said.bytes());
                self.store.check_history(&id, bytes)?;
                let mut found = items_said(&said)?;
                if let Some(conversation) = &said.conversation {
                    found.retain(|item| id_of(item).is_some_and(|id| ids.contains(&id)));
                    found = self.not_deleted(conversation, found).await?;
                }
                items.extend(found);
            }
        }
        Ok(items)
    }

    /// Items of a response that are still in its conversation.
    async fn not_deleted(&self, conversation: &str, items: Vec<Value>) -> Result<Vec<Value>, StoreError> {
        let mut held = Vec::new();
        for item in items {
            let id = id_of(&item).unwrap_or_default();
            if self.store.item(conversation, id).await?.is_some() {
                held.push(item);
            }
        }
        Ok(held)
    }
}

/// All items that a response was made from: its context and its own input.
pub async fn input_of(store: &Store, said: &Exchange, memory: &RequestMemory) -> Result<Vec<Value>, ApiError> {
    let mut items = Vec::new();
    if let Some(previous) = &said.previous {
        let mut chain = LoadedResponses::new(store, previous, memory);
        chain.read_rest().await?;
        items = chain.into_items();
    }
    items.extend(serde_json::from_str::<Vec<Value>>(&said.input).map_err(damaged)?);
    Ok(items)
}

fn id_of(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_str)
}

/// The input and output of a response.
pub(super) fn items_said(said: &Exchange) -> Result<Vec<Value>, StoreError> {
    let mut items: Vec<Value> = serde_json::from_str(&said.input).map_err(damaged)?;
    items.extend(serde_json::from_str::<Vec<Value>>(&said.output).map_err(damaged)?);
    Ok(items)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a response: {error}"))
}
