//! The traces over HTTP: the newest first, page by page, and one by its id.

use axum::extract::{Path, RawQuery, State};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::PageQuery;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::query::known_pairs;
use super::reply::{self, HttpResult};
use super::requester::Requester;
use super::router::Shared;
use crate::conversation::conversation_id;
use crate::store::{StoreError, Trace, TraceFilter, TracePage};

const PARAMETERS: [&str; 7] = ["limit", "after", "conversation", "character", "model", "request_id", "order"];

/// What is looked for in a trace's JSON, to compare it exactly.
#[derive(Deserialize)]
struct Head {
    character: Option<String>,
    model: String,
}

/// A page of traces.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> HttpResult {
    let (page, mut filter) = read_query(&query.unwrap_or_default())?;
    resolve_conversation(&shared, &mut filter, &headers).await?;
    // A client that has read the end of a turn finds its trace.
    shared.app.traces.flush().await;
    let before = match &page.after {
        None => None,
        Some(id) => {
            let message = || format!("after is {id:?}, which is not a trace");
            let trace = shared.store.trace(id).await.map_err(failed)?;
            let trace = trace.ok_or_else(|| BadRequest::at("after", "trace_not_found", message()))?;
            Some((trace.created_at, trace.id))
        }
    };
    let found = find(&shared, before, page.limit, &filter).await.map_err(failed)?;
    Ok(reply::json(written(&found, page.limit)))
}

/// Traces know a conversation by its id, also where the client has a name for it.
pub(super) async fn resolve_conversation(
    shared: &Shared,
    filter: &mut TraceFilter,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let Some(name) = &mut filter.conversation else { return Ok(()) };
    let owner = Requester::of(shared, headers).owner;
    match conversation_id(&shared.store, (name, &owner), None).await {
        Ok(id) => *name = id,
        // It may be the name of turns that are stored nowhere.
        Err(error) if error.status == 404 => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// One trace.
pub(super) async fn one(State(shared): State<Shared>, Path(id): Path<String>) -> HttpResult {
    Ok(reply::json(stored(&shared, &id).await?.body))
}

/// A trace by its id.
pub(super) async fn stored(shared: &Shared, id: &str) -> Result<Trace, ApiError> {
    shared.app.traces.flush().await;
    let trace = shared.store.trace(id).await.map_err(failed)?;
    trace.ok_or_else(|| ApiError::new(404, "trace_not_found", format!("there is no trace {id:?}")))
}

fn read_query(query: &str) -> Result<(PageQuery, TraceFilter), BadRequest> {
    let pairs = known_pairs(query, &PARAMETERS)?;
    let page = PageQuery::read(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
    if !page.newest_first {
        return Err(BadRequest::invalid("order", "traces are listed newest first; leave order out"));
    }
    let named = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let filter = TraceFilter {
        conversation: named("conversation"),
        character: named("character"),
        model: named("model"),
        request_id: named("request_id"),
    };
    Ok((page, filter))
}

/// Up to one more than the limit: the extra one shows that there is a next page.
async fn find(
    shared: &Shared,
    mut before: Option<(i64, String)>,
    limit: usize,
    filter: &TraceFilter,
) -> Result<Vec<Trace>, StoreError> {
    let most = limit.saturating_add(1);
    let mut found = Vec::new();
    while found.len() < most {
        let page = TracePage { before: before.take(), limit: i64::try_from(most).unwrap_or(i64::MAX) };
        let traces = shared.store.traces_like(&page, filter).await?;
        let (last, whole) = (traces.last().map(|trace| (trace.created_at, trace.id.clone())), traces.len() == most);
        found.extend(traces.into_iter().filter(|trace| fits(trace, filter)));
        if !whole {
            break;
        }
        before = last;
    }
    Ok(found)
}

/// The store only searches the text, so its results are compared exactly here.
fn fits(trace: &Trace, filter: &TraceFilter) -> bool {
    let Ok(head) = serde_json::from_str::<Head>(&trace.body) else { return false };
    filter.character.as_ref().is_none_or(|wanted| head.character.as_ref() == Some(wanted))
        && filter.model.as_ref().is_none_or(|wanted| head.model == *wanted)
}

fn written<'a>(found: &'a [Trace], limit: usize) -> String {
    #[derive(serde::Serialize)]
    struct List<'a> {
        object: &'static str,
        data: Vec<&'a RawValue>,
        first_id: &'a str,
        last_id: &'a str,
        has_more: bool,
    }
    let shown = found.get(..limit).unwrap_or(found);
    let id = |trace: Option<&'a Trace>| trace.map_or("", |trace| trace.id.as_str());
    let list = List {
        object: "list",
        data: shown.iter().filter_map(|trace| serde_json::from_str(&trace.body).ok()).collect(),
        first_id: id(shown.first()),
        last_id: id(shown.last()),
        has_more: found.len() > shown.len(),
    };
    serde_json::to_string(&list).unwrap_or_default()
}

/// The message of the database stays in the log.
pub(super) fn failed(error: StoreError) -> ApiError {
    ApiError { message: "traces cannot be read now; Callboard's log says why".to_owned(), ..ApiError::from(error) }
}
