//! The character's part of a stored conversation, as turns and calls by hand continue it.

use callboard_core::wire::ApiError;

use super::owned_conversation::{conversation_id, owned_conversation};
use super::response_context::TURN_WAIT;
use super::which_model_may_continue::{Continued, check_continuation};
use crate::characters::LoadedCharacter;
use crate::store::{CharacterMemory, ConversationHead, Store, Turn};

/// A name that was used in one of so many newest calls decides between several that a new one may mean.
pub const RECENT_CALLS: u64 = 10;

/// Claims the next turn of an owner's conversation for calls of a character's tools, and loads the character's part.
pub async fn begin_calls(
    store: &Store,
    (name, owner): (&str, &str),
    character: &LoadedCharacter,
) -> Result<(Turn, Option<CharacterMemory>), ApiError> {
    let model = &character.character.manifest().id;
    let id = conversation_id(store, (name, owner), Some(model)).await?;
    // Checked before waiting for a running turn: other owners' conversations neither block nor are blocked.
    owned_conversation(store, &id, owner).await?;
    let turn = store.begin_turn(&id, TURN_WAIT).await?;
    let memory = character_part(store, turn.head(), Some(character), model).await?;
    Ok((turn, memory))
}

/// The character's part of a conversation, with its journal where the character offers undo, and the newest entries where it has
/// names: what was named lately tells which of several is meant.
pub async fn character_part(
    store: &Store,
    head: &ConversationHead,
    character: Option<&LoadedCharacter>,
    model: &str,
) -> Result<Option<CharacterMemory>, ApiError> {
    let (id, Some(memory)) = (&head.conversation.id, &head.memory) else { return Ok(None) };
    let requested = character.map(|character| character.character.manifest());
    let requested_id = requested.map(|manifest| manifest.id.as_str());
    check_continuation(&memory.character, model, requested_id, Continued::Conversation(id))?;
    let Some(manifest) = requested else { return Ok(None) };
    let mut memory = memory.clone();
    let newest = memory.record.next_sequence().saturating_sub(RECENT_CALLS + 1);
    if manifest.undo || manifest.has_get_names {
        let after = if manifest.undo { 0 } else { newest };
        memory.record = memory.record.with_journal(store.journal(id, after, i64::MAX).await?);
    }
    Ok(Some(memory))
}
