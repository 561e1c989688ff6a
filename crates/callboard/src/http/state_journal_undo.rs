//! A character's state in a conversation, the journal of its changes, and undo.

use axum::extract::{Path, RawQuery, Request, State};
use callboard_core::journal::{CallNote, UndoError, UndoOutcome, with_inverses};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use http::HeaderMap;
use serde_json::{Value, json};

use super::body::read_body;
use super::conversations::owned;
use super::reply::HttpResult;
use super::router::Shared;
use super::{query, reply, undo_body};
use crate::conversation::TURN_WAIT;
use crate::store::{ConversationHead, StoreError, UndoFailure};
use crate::{clock, random};

const USUAL: usize = 100;
const MOST: usize = 1000;

/// The state now.
pub(super) async fn state(State(shared): State<Shared>, Path(name): Path<String>, headers: HeaderMap) -> HttpResult {
    let id = owned(&shared, &name, &headers).await?.id;
    let head = shared.store.conversation_head(&id).await?;
    let head = head.ok_or_else(|| ApiError::conversation_not_found(&id))?;
    Ok(reply::json(state_object(&head).to_string()))
}

/// What changed it, oldest first: `after` is a sequence, `limit` how many.
pub(super) async fn list(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = query::known_pairs(query.as_deref().unwrap_or_default(), &["after", "limit"])?;
    let (after, limit) = page(&pairs)?;
    let id = owned(&shared, &name, &headers).await?.id;
    // The inverse of an entry follows from all before it.
    let wanted = i64::try_from(after.saturating_add(limit as u64 + 1)).unwrap_or(i64::MAX);
    let entries = shared.store.journal(&id, 0, wanted).await?;
    // Read after the entries: a turn that is written in between may have brought the initial state with them.
    let head = shared.store.conversation_head(&id).await?;
    let head = head.ok_or_else(|| ApiError::conversation_not_found(&id))?;
    let initial = head.memory.as_ref().and_then(|memory| memory.record.initial());
    let inverted = with_inverses(initial, &entries).map_err(|error| StoreError::Damaged(error.to_string()))?;
    let page: Vec<_> = inverted.iter().skip_while(|entry| entry.entry.sequence <= after).collect();
    let has_more = page.len() > limit;
    let list = json!({"object": "list", "data": page.get(..limit).unwrap_or(&page), "has_more": has_more});
    Ok(reply::json(list.to_string()))
}

/// Undoes changes.
pub(super) async fn undo(State(shared): State<Shared>, Path(name): Path<String>, request: Request) -> HttpResult {
    let headers = request.headers().clone();
    let body = read_body(request, &shared).await?;
    let target = undo_body::read(&body.bytes)?;
    let id = owned(&shared, &name, &headers).await?.id;
    let mut turn = shared.store.begin_turn(&id, TURN_WAIT).await?;
    let note = CallNote {
        call_id: format!("call_{}", random::letters::<24>()),
        tool: "undo".to_owned(),
        arguments: String::from_utf8_lossy(&body.bytes).into_owned(),
        result: String::new(),
        at: clock::milliseconds(),
    };
    let undone = turn.undo(&target, note).await.map_err(refused)?;
    Ok(reply::json(undone_object(undone.as_ref(), turn.head()).to_string()))
}

fn refused(failure: UndoFailure) -> ApiError {
    match failure {
        UndoFailure::Store(error) => error.into(),
        UndoFailure::Refused(error @ (UndoError::UnknownCall(_) | UndoError::UnknownSequence(_))) => {
            ApiError::new(404, "call_not_found", error.to_string())
        }
        UndoFailure::Refused(error) => ApiError::new(409, "cannot_undo", error.to_string()),
    }
}

fn page(pairs: &[(String, String)]) -> Result<(u64, usize), BadRequest> {
    let (mut after, mut limit) = (0, USUAL);
    for (key, value) in pairs {
        let number = value.parse::<u64>().ok();
        match (key.as_str(), number) {
            ("after", Some(number)) => after = number,
            ("limit", Some(number)) if (1..=MOST as u64).contains(&number) => limit = number as usize,
            ("after", None) => {
                return Err(BadRequest::invalid("after", format!("after is {value:?}; it must be a sequence")));
            }
            ("limit", _) => {
                let message = format!("limit is {value:?}; it must be a whole number from 1 to {MOST}");
                return Err(BadRequest::invalid("limit", message));
            }
            _ => {}
        }
    }
    Ok((after, limit))
}

/// The state as the character wrote it.
fn state_json(head: &ConversationHead) -> Value {
    head.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default()
}

fn state_object(head: &ConversationHead) -> Value {
    let conversation = &head.conversation;
    json!({
        "object": "conversation.state",
        "conversation": conversation.id,
        "character": head.memory.as_ref().map(|memory| memory.character.as_str()),
        "version": conversation.version,
        "updated_at": conversation.updated_at / 1000,
        "state": state_json(head),
    })
}

fn undone_object(undone: Option<&UndoOutcome>, head: &ConversationHead) -> Value {
    let marks = undone.map(|undone| undone.marks.as_slice()).unwrap_or_default();
    let entry = |sequence| head.memory.as_ref()?.record.entry(sequence);
    let named = |taken: bool| {
        let chosen = marks.iter().filter(move |(_, by)| by.is_some() == taken);
        let chosen = chosen.filter_map(move |(sequence, _)| entry(*sequence));
        chosen.map(|entry| json!({"sequence": entry.sequence, "call_id": entry.call.call_id, "tool": entry.call.tool}))
    };
    json!({
        "object": "conversation.undo",
        "conversation": head.conversation.id,
        "call_id": undone.and_then(|undone| Some(entry(undone.sequence)?.call.call_id.as_str())),
        "sequence": undone.map(|undone| undone.sequence),
        // Newest first.
        "undone": named(true).rev().collect::<Vec<_>>(),
        "restored": named(false).collect::<Vec<_>>(),
        "version": head.conversation.version,
        "state": state_json(head),
    })
}
