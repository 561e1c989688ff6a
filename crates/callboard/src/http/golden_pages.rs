//! `GET /v1/traces/{id}/golden_page`: a recorded turn as a page that reproduces it.

use std::path::Path as FilePath;

use axum::body::Body;
use axum::extract::{Path, State};
use callboard_core::wire::ApiError;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;

use super::reply::{self, HttpResult};
use super::router::Shared;
use super::traces::{failed, stored};
use crate::store::{Trace, TraceFilter, TracePage};
use crate::trace::{CharacterFile, GoldenPage, RecordedTurn, golden_page};

const MARKDOWN: HeaderValue = HeaderValue::from_static("text/markdown; charset=utf-8");
/// The longest conversation that fits on a page.
const MOST_TURNS: i64 = 200;

/// The page of one turn.
pub(super) async fn one(State(shared): State<Shared>, Path(id): Path<String>) -> HttpResult {
    let trace = stored(&shared, &id).await?;
    let turn = recorded(&trace)?;
    let (turns, code) = match turn.character().map(str::to_owned) {
        None => (vec![turn], None),
        Some(character) => {
            let code = character_code(&shared, &character)?;
            (conversation_until(&shared, &trace, turn).await?, Some((character, code)))
        }
    };
    let file = code.as_ref().map(|(id, code)| CharacterFile { id, code });
    let page = golden_page(&turns, file).map_err(|error| ApiError::new(409, "not_reproducible", error.to_string()))?;
    Ok(as_file(page))
}

fn as_file(GoldenPage { name, text }: GoldenPage) -> axum::response::Response {
    let mut response = reply::with_type(Body::from(text), MARKDOWN);
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    disposition.into_iter().for_each(|value| drop(response.headers_mut().insert(CONTENT_DISPOSITION, value)));
    response
}

fn recorded(trace: &Trace) -> Result<RecordedTurn, ApiError> {
    serde_json::from_str(&trace.body).map_err(|error| {
        ApiError::new(409, "not_reproducible", format!("the trace {:?} cannot be read: {error}", trace.id))
    })
}

/// The turns of a character's conversation up to this one, oldest first.
async fn conversation_until(shared: &Shared, trace: &Trace, last: RecordedTurn) -> Result<Vec<RecordedTurn>, ApiError> {
    let Some(conversation) = last.conversation().map(str::to_owned) else { return Ok(vec![last]) };
    let page = TracePage { before: Some((trace.created_at, trace.id.clone())), limit: MOST_TURNS };
    let filter = TraceFilter { conversation: Some(conversation), ..TraceFilter::default() };
    let earlier = shared.store.traces_like(&page, &filter).await.map_err(failed)?;
    let mut turns = earlier.iter().rev().map(recorded).collect::<Result<Vec<_>, _>>()?;
    turns.push(last);
    Ok(turns)
}

/// The code of a character's file as it is now.
fn character_code(shared: &Shared, id: &str) -> Result<String, ApiError> {
    let folder: &FilePath = shared.app.characters.folder();
    let known = shared.app.characters.ids().iter().any(|known| known == id);
    let code = known.then(|| std::fs::read_to_string(folder.join(format!("{id}.py"))).ok()).flatten();
    code.ok_or_else(|| ApiError::new(409, "not_reproducible", format!("the file of the character {id:?} is gone")))
}
