//! A loaded character file, with its tools in the form that models get them.

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_python::{CallError, Character, ToolError, ToolManifest};
use serde_json::Value;

use super::offered_tools::offered;
use crate::store::CharacterMemory;

/// The exception by which the host reports metadata that a character refuses.
const INVALID_METADATA: &str = "InvalidMetadata";

/// A loaded character.
pub struct LoadedCharacter {
    /// The loaded file.
    pub character: Character,
    tools: Vec<Value>,
}

impl LoadedCharacter {
    /// Prepares a loaded file.
    pub fn new(character: Character) -> Self {
        let tools = offered(&character.manifest().tools, character.manifest().undo);
        Self { character, tools }
    }

    /// The tools as models get them.
    pub fn tools(&self) -> &[Value] {
        &self.tools
    }

    /// The tools as models get them in this state, where the character has `get_tools`; else those of its file.
    pub async fn tools_in(&self, state: Option<&str>) -> Result<Vec<Value>, ApiError> {
        let own = self.own_tools(state).await?;
        Ok(own.map_or_else(|| self.tools.clone(), |tools| offered(&tools, self.character.manifest().undo)))
    }

    /// What `get_tools` returns in this state, where the character has it.
    pub async fn own_tools(&self, state: Option<&str>) -> Result<Option<Vec<ToolManifest>>, ApiError> {
        self.character.tools(state).await.map_err(|failure| self.failed(&failure))
    }

    /// The character's part of a new conversation.
    pub async fn begin(&self) -> Result<CharacterMemory, ApiError> {
        self.begin_with("{}").await
    }

    /// The same for a conversation with this metadata, a JSON object: a character with `begin_conversation` gets it.
    pub async fn begin_with(&self, metadata: &str) -> Result<CharacterMemory, ApiError> {
        let given = Some(metadata).filter(|metadata| *metadata != "{}");
        let start = self.character.start_conversation_with(given).await.map_err(|failure| self.not_begun(&failure))?;
        Ok(CharacterMemory::new(&self.character.manifest().id, start.system_prompt, start.state))
    }

    /// The error of a conversation that cannot begin: the client's, where the character refuses its metadata.
    fn not_begun(&self, failure: &CallError) -> ApiError {
        match failure {
            CallError::Tool(ToolError::Raised { exception, message, .. }) if exception == INVALID_METADATA => {
                let id = &self.character.manifest().id;
                let message = format!("the character {id:?} cannot begin a conversation with this metadata: {message}");
                BadRequest::invalid("metadata", message).into()
            }
            failure => self.failed(failure),
        }
    }

    /// The error of a character that failed before its turn.
    pub fn failed(&self, failure: &CallError) -> ApiError {
        let id = &self.character.manifest().id;
        let at = failure.place().map(ToString::to_string);
        tracing::error!(character = id, %failure, at, "character failed before its turn");
        ApiError::new(500, "character_failed", format!("the character {id:?} failed before its turn: {failure}"))
    }

    /// The error of a character whose get_tools() returned what cannot be offered.
    pub fn offers_unusable_tools(&self, refusal: &BadRequest) -> ApiError {
        let (id, cause) = (&self.character.manifest().id, &refusal.message);
        tracing::error!(character = id, cause, "get_tools() returned tools that cannot be offered");
        ApiError::new(
            500,
            "character_failed",
            format!("get_tools() of the character {id:?} cannot be offered: {cause}"),
        )
    }
}
