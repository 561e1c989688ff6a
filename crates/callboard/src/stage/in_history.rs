//! A turn of Chat Completions: its conversation is found by the history that the client sent, and kept for the next one.

use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, PlainMessage};

use super::chain::Key;
use super::conversations::{Conversations, Found};
use super::{Past, Role, Scene, SceneParts, open};
use crate::clock;
use crate::session::Record;
use crate::store::{NewSnapshot, Notes, Place, Snapshot, StoreError};

/// Where a turn is kept.
pub struct InHistory {
    conversations: Conversations,
    key: Key,
    name: Option<Key>,
    place: Option<Place>,
}

/// Who a history belongs to.
#[derive(Debug, Clone, Default)]
pub struct Whose {
    /// The person, as far as keys tell people apart.
    pub owner: String,
    /// The conversation that the client names, if it does.
    pub named: Option<String>,
}

/// Finds the conversation of a chat request and makes everything ready for the turn.
pub async fn begin_in_history(
    parts: SceneParts<'_>,
    request: &ChatRequest,
    conversations: &Conversations,
    whose: &Whose,
) -> Result<Scene, ApiError> {
    refuse_foreign_fields(request, &parts.role)?;
    let (system, history) = split_history(request.history());
    let start = start_key(&parts.role, request, whose);
    let found = find(conversations, whose, start, &history).await?;
    let kept = InHistory {
        conversations: conversations.clone(),
        key: found.key,
        name: whose.named.is_some().then_some(start),
        place: found.snapshot.as_ref().and_then(|snapshot| snapshot.place.clone()),
    };
    let mut past = match found.snapshot {
        Some(snapshot) => past_of(snapshot),
        None => {
            let (system_prompt, record) = open(&parts.role).await?;
            Past { system_prompt, record, ..Past::default() }
        }
    };
    past.messages.extend(history.into_iter().skip(found.covered).map(|message| message.json));
    past.system = system;
    let mut scene = Scene::begin(parts, past).await?;
    scene.keep_in(kept);
    Ok(scene)
}

fn past_of(snapshot: Snapshot) -> Past {
    let next = snapshot.journal.last().map_or(1, |entry| entry.sequence.saturating_add(1));
    let record = Record::resumed(snapshot.initial, snapshot.state, snapshot.journal, next);
    Past { system_prompt: snapshot.system_prompt, record, messages: snapshot.messages, system: Vec::new() }
}

/// What a character's client cannot ask for in Chat Completions is refused by name.
fn refuse_foreign_fields(request: &ChatRequest, role: &Role) -> Result<(), ApiError> {
    let name = &role.character.manifest().id;
    let mut error = match request {
        request if request.offers_tools => {
            let message =
                format!("the character {name:?} runs its own tools; send none here, or ask its model directly");
            ApiError::new(400, "unsupported_parameter", message)
        }
        request if request.asks_for_format() => {
            let message = format!("the character {name:?} answers in words; leave response_format out");
            ApiError::new(400, "unsupported_parameter", message)
        }
        _ => return Ok(()),
    };
    error.param = Some(if request.offers_tools { "tools" } else { "response_format" }.to_owned());
    Err(error)
}

/// System messages of the client apart from what was said.
fn split_history(history: Vec<PlainMessage>) -> (Vec<String>, Vec<PlainMessage>) {
    let (system, said): (Vec<_>, Vec<_>) =
        history.into_iter().partition(|message| matches!(message.role.as_str(), "system" | "developer"));
    (system.into_iter().map(|message| message.text).collect(), said)
}

/// Conversations of different people and different names never meet.
fn start_key(role: &Role, request: &ChatRequest, whose: &Whose) -> Key {
    let user = request.text_field("user").unwrap_or_default();
    let named = whose.named.as_deref().unwrap_or_default();
    Key::start(&[&role.character.manifest().id, &whose.owner, &user, named])
}

async fn find(
    conversations: &Conversations,
    whose: &Whose,
    start: Key,
    history: &[PlainMessage],
) -> Result<Found, StoreError> {
    let found = conversations.find(start, history).await?;
    let is_new = history.iter().all(|message| message.role == "user");
    if found.snapshot.is_none() && is_new && whose.named.is_some() {
        return Ok(Found { snapshot: conversations.named(start).await?, ..found });
    }
    Ok(found)
}

impl InHistory {
    /// Keeps a whole turn: the client's next history will hold these words of the character.
    pub(super) async fn keep(
        self,
        said: &str,
        system_prompt: &str,
        record: &Record,
        messages: Vec<String>,
    ) -> Result<(), StoreError> {
        let (key, conversations) = (self.key.then("assistant", said), self.conversations.clone());
        conversations.keep(self.snapshot(key, system_prompt, record, messages)).await
    }

    /// Keeps a turn that the client interrupted, without waiting: its next history holds some of these words, or none.
    pub(super) fn keep_interrupted(
        self,
        said: &str,
        system_prompt: &str,
        record: &Record,
        messages: Vec<String>,
    ) -> Result<(), StoreError> {
        let (key, store) = (self.key.interrupted(), self.conversations.store().clone());
        let mut new = self.snapshot(key, system_prompt, record, messages);
        new.snapshot.interrupted = Some(said.to_owned());
        store.note_unawaited(Notes { snapshot: Some(new), ..Notes::default() })
    }

    fn snapshot(self, key: Key, system_prompt: &str, record: &Record, messages: Vec<String>) -> NewSnapshot {
        let snapshot = Snapshot {
            system_prompt: system_prompt.to_owned(),
            initial: record.initial().map(str::to_owned),
            state: record.state().map(str::to_owned),
            journal: record.journal().to_vec(),
            messages,
            interrupted: None,
            place: self.place,
        };
        let name = self.name.map(|name| name.to_string());
        NewSnapshot { key: key.to_string(), name, at: clock::milliseconds(), snapshot, response: None }
    }
}
