//! What a response goes on from: a conversation, an earlier response, or nothing.

use std::time::Duration;

use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{ResponsesRequest, drop_unpaired};
use serde_json::Value;

use super::conversations::{begin_turn, owned_conversation};
use super::ids::response_of;
use super::keeping::{Home, character_of, snapshot_key};
use super::lineage::Lineage;
use super::local::{LocalResponse, LocalResponses};
use super::player::{Went, check_player};
use crate::clock;
use crate::session::Record;
use crate::stage::Role;
use crate::store::{Opening, Place, Said, Snapshot, Store, StoreError, Turn};

/// How long a turn waits for others of its conversation.
pub const TURN_WAIT: Duration = Duration::from_secs(120);

/// Where to look, and for whom.
pub struct Followed<'a> {
    /// What lasts.
    pub store: &'a Store,
    /// Responses of this connection only.
    pub local: Option<&'a LocalResponses>,
    /// Whose responses and conversations may be seen.
    pub owner: &'a str,
    /// The character that plays, if one does.
    pub role: Option<&'a Role>,
    /// The model or the character that is asked for.
    pub model: &'a str,
}

/// What stands before a response.
pub struct Earlier {
    /// All items, oldest first.
    pub items: Vec<Value>,
    /// The character's part of it; none where it has not begun.
    pub remembered: Option<Remembered>,
    /// Where the response is kept.
    pub home: Home,
    /// Whether the items are stored nowhere.
    pub alone: bool,
}

/// A character's part of a conversation.
#[derive(Clone)]
pub struct Remembered {
    /// Who it is.
    pub character: String,
    /// The prompt that was made when it began.
    pub system_prompt: String,
    /// Its state and its journal.
    pub record: Record,
    /// Where the journal is stored already.
    pub place: Option<Place>,
}

/// Finds what a request goes on from. The turn of a conversation is claimed with it.
pub async fn load(request: &mut ResponsesRequest, followed: &Followed<'_>) -> Result<Earlier, ApiError> {
    let home = if request.store { Home::Response { previous: None } } else { Home::Nowhere };
    let earlier = match (request.conversation.clone(), request.previous_response_id.clone()) {
        (Some(id), _) => followed.conversation(&id).await.map_err(|error| error.about("conversation"))?,
        (None, Some(id)) => followed.response(&id, request.store).await?,
        (None, None) => Earlier { items: Vec::new(), remembered: followed.brought(request).await?, home, alone: false },
    };
    let found = followed.referenced(&request.references(&earlier.items)).await?;
    request.fill_references(&found)?;
    Ok(earlier)
}

impl Followed<'_> {
    async fn conversation(&self, id: &str) -> Result<Earlier, ApiError> {
        // Nobody waits for the turns of others, nor makes them wait.
        if self.store.is_playing(id) {
            owned_conversation(self.store, id, self.owner).await?;
        }
        let (turn, items) = begin_turn(self.store, id).await?;
        if turn.standing().conversation.owner != self.owner {
            return Err(ApiError::conversation_not_found(id));
        }
        let remembered = self.opened(&turn).await?;
        Ok(Earlier { items: drop_unpaired(items), remembered, home: Home::Conversation(Box::new(turn)), alone: false })
    }

    /// The character's part of a conversation that it has begun to play in.
    async fn opened(&self, turn: &Turn) -> Result<Option<Remembered>, ApiError> {
        let standing = turn.standing();
        let (conversation, Some(opening)) = (&standing.conversation, &standing.opening) else { return Ok(None) };
        self.check_player(&opening.character, Went::Conversation(&conversation.id))?;
        let Some(role) = self.role else { return Ok(None) };
        let journal = if role.character.manifest().undo {
            self.store.journal(&conversation.id, 0, i64::MAX).await?
        } else {
            Vec::new()
        };
        let next = u64::try_from(conversation.next_sequence).unwrap_or(1);
        let Opening { character, system_prompt, state } = opening.clone();
        let record = Record::resumed(state, standing.state.clone(), journal, next);
        Ok(Some(Remembered { character, system_prompt, record, place: None }))
    }

    fn check_player(&self, played: &str, place: Went<'_>) -> Result<(), ApiError> {
        check_player(played, self.model, self.role.map(|role| role.character.manifest().id.as_str()), place)
    }

    /// A response that a character played is told by what it left there. Whoever is on stage has been looked for already.
    fn check_response_player(&self, id: &str, kept_with: Option<&str>) -> Result<(), ApiError> {
        match kept_with.and_then(|key| character_of(key, id)).filter(|_| self.role.is_none()) {
            Some(character) => self.check_player(character, Went::Response(id)),
            None => Ok(()),
        }
    }

    async fn response(&self, id: &str, stored: bool) -> Result<Earlier, ApiError> {
        let home = if stored { Home::Response { previous: Some(id.to_owned()) } } else { Home::Nowhere };
        if let Some(kept) = self.local.and_then(|local| local.find(id)) {
            self.store.check_history(id, kept.bytes)?;
            if let Some(local) = &kept.response {
                if let Some(remembered) = &local.remembered {
                    self.check_player(&remembered.character, Went::Response(id))?;
                }
                return Ok(self.on_connection(local, home));
            }
        }
        let mut lineage = Lineage::new(self.store, id);
        let newest = lineage.piece(Some(clock::milliseconds())).await?;
        self.check_newest(id, newest.said.last())?;
        self.check_response_player(id, newest.kept_with.as_deref())?;
        lineage.add(&newest.said)?;
        lineage.read_rest().await?;
        if let Some(gone) = lineage.rest {
            let message = format!("the response {id:?} followed {gone:?}, which is gone; send the whole input anew");
            return Err(BadRequest::at("previous_response_id", "previous_response_not_found", message).into());
        }
        let remembered = self.remembered(&lineage.newest_first).await?.map(|(_, remembered)| remembered);
        Ok(Earlier { items: lineage.into_items(), remembered, home, alone: false })
    }

    /// What this connection itself remembers of a response.
    fn on_connection(&self, local: &LocalResponse, home: Home) -> Earlier {
        let character = self.role.map(|role| role.character.manifest().id.as_str());
        let remembered = local.remembered.clone().filter(|remembered| Some(remembered.character.as_str()) == character);
        // What only this connection knows cannot be followed later, so the new response is not tied to it.
        let home = match home {
            Home::Response { .. } if !local.stored => Home::Response { previous: None },
            home => home,
        };
        Earlier { items: local.items.clone(), remembered, home, alone: !local.stored }
    }

    fn check_newest(&self, id: &str, newest: Option<&Said>) -> Result<(), ApiError> {
        let missing = || Err(ApiError::previous_response_not_found(id));
        let Some(last) = newest.filter(|last| last.owner == self.owner && last.id == id) else { return missing() };
        if let Some(conversation) = &last.conversation {
            let message =
                format!("the response {id:?} belongs to the conversation {conversation:?}; send that instead");
            return Err(BadRequest::at("previous_response_id", "response_in_conversation", message).into());
        }
        Ok(())
    }

    /// The character's part at the end of the first of these responses that it played in, and which one that is.
    async fn remembered(&self, responses: &[String]) -> Result<Option<(usize, Remembered)>, StoreError> {
        let Some(role) = self.role else { return Ok(None) };
        let character = role.character.manifest().id.clone();
        let keys: Vec<String> = responses.iter().map(|id| snapshot_key(id, &character)).collect();
        let Some((number, snapshot)) = self.store.find_snapshot(&keys, |_, _| true).await? else { return Ok(None) };
        let next = snapshot.journal.last().map_or(1, |entry| entry.sequence.saturating_add(1));
        let record = Record::resumed(snapshot.initial, snapshot.state, snapshot.journal, next);
        let Snapshot { system_prompt, place, .. } = snapshot;
        Ok(Some((number, Remembered { character, system_prompt, record, place })))
    }

    /// The character's part at the end of the newest response whose items the client brings itself, as many clients do.
    async fn brought(&self, request: &ResponsesRequest) -> Result<Option<Remembered>, StoreError> {
        let mut newest_first: Vec<String> = request.input_ids().rev().filter_map(response_of).collect();
        newest_first.dedup();
        let Some((number, remembered)) = self.remembered(&newest_first).await? else { return Ok(None) };
        let Some(id) = newest_first.get(number) else { return Ok(None) };
        let response = self.store.response(id, clock::milliseconds()).await?;
        Ok(response.filter(|response| response.said.owner == self.owner).map(|_| remembered))
    }

    /// Items that the input names, from the responses they belong to.
    async fn referenced(&self, ids: &[&str]) -> Result<Vec<Value>, StoreError> {
        let mut responses: Vec<String> = ids.iter().filter_map(|id| response_of(id)).collect();
        responses.sort_unstable();
        responses.dedup();
        let (mut items, mut bytes) = (Vec::new(), 0_u64);
        for id in responses {
            let response = self.store.response(&id, clock::milliseconds()).await?;
            if let Some(said) = response.map(|response| response.said).filter(|said| said.owner == self.owner) {
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

    /// Items of a response that its conversation still holds.
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

/// All that a response was made from: what stood before it, and its own input.
pub async fn input_of(store: &Store, said: &Said) -> Result<Vec<Value>, ApiError> {
    let mut items = Vec::new();
    if let Some(previous) = &said.previous {
        let mut lineage = Lineage::new(store, previous);
        lineage.read_rest().await?;
        items = lineage.into_items();
    }
    items.extend(serde_json::from_str::<Vec<Value>>(&said.input).map_err(damaged)?);
    Ok(items)
}

fn id_of(item: &Value) -> Option<&str> {
    item.get("id").and_then(Value::as_str)
}

/// What went into a response and what came out of it.
pub(super) fn items_said(said: &Said) -> Result<Vec<Value>, StoreError> {
    let mut items: Vec<Value> = serde_json::from_str(&said.input).map_err(damaged)?;
    items.extend(serde_json::from_str::<Vec<Value>>(&said.output).map_err(damaged)?);
    Ok(items)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn damaged(error: serde_json::Error) -> StoreError {
    StoreError::Damaged(format!("a response: {error}"))
}
