//! `GET /v1/characters/{id}/prompt`: what a model is given beside the conversation: the prompt, this turn's context, and the tools.

use axum::extract::{Path, RawQuery, State};
use callboard_core::wire::ApiError;
use http::HeaderMap;
use serde_json::json;

use super::characters::loaded;
use super::conversations::owned;
use super::query::known_pairs;
use super::reply::{self, HttpResult};
use super::requester::Requester;
use super::router::Shared;
use crate::characters::LoadedCharacter;
use crate::conversation::{character_part, conversation_id};
use crate::session::{CharacterPrompt, offered_tools};
use crate::store::CharacterMemory;

/// The prompt of a character: in a conversation, or in one that begins.
pub(super) async fn one(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = known_pairs(&query.unwrap_or_default(), &["conversation"])?;
    let conversation = pairs.into_iter().next_back().map(|(_, id)| id);
    let character = loaded(&shared, &id)?;
    let memory = memory(&shared, &character, conversation.as_deref(), &headers).await?;
    let CharacterPrompt { system, rules, context } = CharacterPrompt::of(&character, &memory).await?;
    let tools = offered_tools(&character, memory.record.state(), &shared.app.tools).await?;
    let object = json!({
        "object": "character.prompt",
        "character": id,
        "conversation": conversation,
        "system_prompt": system,
        "rules": rules,
        "turn_context": context,
        "tools": tools,
    });
    Ok(reply::json(object.to_string()))
}

async fn memory(
    shared: &Shared,
    character: &LoadedCharacter,
    conversation: Option<&str>,
    headers: &HeaderMap,
) -> Result<CharacterMemory, ApiError> {
    let Some(name) = conversation else { return character.begin_with("{}").await };
    let (model, owner) = (&character.character.manifest().id, Requester::of(shared, headers).owner);
    let id = conversation_id(&shared.store, (name, &owner), Some(model)).await?;
    owned(shared, &id, headers).await?;
    let head = shared.store.conversation_head(&id).await?.ok_or_else(|| ApiError::conversation_not_found(name))?;
    match character_part(&shared.store, &head, Some(character), model)
        .await
        .map_err(|error| error.about("conversation"))?
    {
        Some(memory) => Ok(memory),
        None => character.begin_with(&head.conversation.metadata).await,
    }
}
