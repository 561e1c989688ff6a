//! A character's state in a conversation: what it is, what changed it, and how that is taken back.

use axum::extract::{Path, RawQuery, Request, State};
use axum::response::Response;
use callboard_core::journal::{CallNote, Entry, UndoError, Undone};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use http::HeaderMap;
use serde_json::{Value, json};

use super::body::read_body;
use super::conversations::owned;
use super::router::Shared;
use super::{query, reply, undo_wish};
use crate::responses::TURN_WAIT;
use crate::store::{Standing, UndoFailure};
use crate::{clock, random};

const USUAL: usize = 100;
const MOST: usize = 1000;

/// The state now.
pub(super) async fn state(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    reply::result(async {
        owned(&shared, &id, &headers).await?;
        let standing = shared.store.standing(&id).await?.ok_or_else(|| ApiError::conversation_not_found(&id))?;
        Ok(reply::json(state_object(&standing).to_string()))
    })
    .await
}

/// What changed it, oldest first: `after` is a sequence, `limit` how many.
pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    reply::result(async {
        let pairs = query::known_pairs(query.as_deref().unwrap_or_default(), &["after", "limit"])?;
        let (after, limit) = page(&pairs)?;
        owned(&shared, &id, &headers).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut entries = shared.store.journal(&id, after, wanted).await?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let list = json!({"object": "list", "data": entries, "has_more": has_more});
        Ok(reply::json(list.to_string()))
    })
    .await
}

/// Takes something back.
pub(super) async fn undo(State(shared): State<Shared>, Path(id): Path<String>, request: Request) -> Response {
    reply::result(async {
        let headers = request.headers().clone();
        let body = read_body(request, &shared.app.settings).await?;
        let target = undo_wish::read(&body)?;
        owned(&shared, &id, &headers).await?;
        let mut turn = shared.store.begin_turn(&id, TURN_WAIT).await?;
        let note = CallNote {
            call_id: format!("call_{}", random::letters::<24>()),
            tool: "undo".to_owned(),
            arguments: String::from_utf8_lossy(&body).into_owned(),
            result: String::new(),
            at: clock::milliseconds(),
        };
        let undone = turn.undo(&target, note).await.map_err(refused)?;
        let journal = shared.store.journal(&id, 0, i64::MAX).await?;
        Ok(reply::json(undone_object(&id, undone.as_ref(), &journal, turn.standing()).to_string()))
    })
    .await
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

/// The state as the character keeps it, letter by letter.
fn state_json(standing: &Standing) -> Value {
    standing.state.as_deref().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default()
}

fn state_object(standing: &Standing) -> Value {
    let conversation = &standing.conversation;
    json!({
        "object": "conversation.state",
        "conversation": conversation.id,
        "character": standing.opening.as_ref().map(|opening| opening.character.as_str()),
        "version": conversation.version,
        "updated_at": conversation.updated_at / 1000,
        "state": state_json(standing),
    })
}

fn undone_object(id: &str, undone: Option<&Undone>, journal: &[Entry], standing: &Standing) -> Value {
    let marks = undone.map(|undone| undone.marks.as_slice()).unwrap_or_default();
    let named = |taken: bool| {
        let of = |sequence: u64| journal.iter().find(|entry| entry.sequence == sequence);
        let chosen =
            marks.iter().filter(move |(_, by)| by.is_some() == taken).filter_map(move |(sequence, _)| of(*sequence));
        chosen.map(|entry| json!({"sequence": entry.sequence, "call_id": entry.call.call_id, "tool": entry.call.tool}))
    };
    json!({
        "object": "conversation.undo",
        "conversation": id,
        "call_id": undone.map(|undone| undone.entry.call.call_id.as_str()),
        "sequence": undone.map(|undone| undone.entry.sequence),
        // The newest was undone first.
        "undone": named(true).rev().collect::<Vec<_>>(),
        "restored": named(false).collect::<Vec<_>>(),
        "version": standing.conversation.version,
        "state": state_json(standing),
    })
}
