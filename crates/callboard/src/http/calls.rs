//! `/v1/calls`: the calls of all turns, newest first, and figures over them. Both are read from the stored traces.

use axum::extract::{RawQuery, State};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use http::HeaderMap;
use serde_json::json;

use super::call_query::CallQuery;
use super::reply::{self, HttpResult};
use super::router::Shared;
use super::traces::{failed, resolve_conversation};
use crate::clock;
use crate::store::{Trace, TracePage};
use crate::trace::{CallFigures, ListedCall, ListedTurn};

const DEFAULT_LIMIT: usize = 100;
const DEFAULT_BUCKETS: usize = 60;
const DEFAULT_RANGE_MS: i64 = 60 * 60 * 1000;
/// Traces that are read at once.
const PAGE: i64 = 100;
/// What one request may read: turns, and bytes of their traces.
const MOST_TURNS: usize = 20_000;
const MOST_BYTES: usize = 128 << 20;
/// Yields to other requests of the thread after reading so many bytes.
const YIELD_AFTER_BYTES: usize = 256 << 10;

/// A page of calls.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> HttpResult {
    let mut query = CallQuery::read(&query.unwrap_or_default(), &["limit", "after"])?;
    resolve_conversation(&shared, &mut query.traces, &headers).await?;
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    let mut calls: Vec<ListedCall> = Vec::new();
    let mut scan = Scan::begin(&shared, &query).await?;
    while calls.len() < limit
        && let Some(turn) = scan.next().await?
    {
        calls.extend(query.calls_of(&turn));
    }
    let has_more = !scan.is_at_end().await?;
    let list = json!({"object": "list", "data": calls, "last_id": scan.last_id(), "has_more": has_more});
    Ok(reply::json(list.to_string()))
}

/// Figures over the calls of a time, which is the last hour if nothing else is said.
pub(super) async fn summary(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> HttpResult {
    let mut query = CallQuery::read(&query.unwrap_or_default(), &["buckets"])?;
    resolve_conversation(&shared, &mut query.traces, &headers).await?;
    // Turns of this millisecond count.
    let until = query.until.unwrap_or_else(|| clock::milliseconds().saturating_add(1));
    let since = query.since.unwrap_or_else(|| until.saturating_sub(DEFAULT_RANGE_MS));
    if since >= until {
        return Err(BadRequest::invalid("since", "since must be before until, which is now if it is left out").into());
    }
    (query.since, query.until) = (Some(since), Some(until));
    let mut figures = CallFigures::new(since, until, query.buckets.unwrap_or(DEFAULT_BUCKETS));
    let mut scan = Scan::begin(&shared, &query).await?;
    while let Some(turn) = scan.next().await? {
        let calls = query.calls_of(&turn);
        if !calls.is_empty() {
            figures.add(&turn, &calls);
        }
    }
    let complete = scan.is_at_end().await?;
    Ok(reply::json(json!(figures.summary(complete)).to_string()))
}

/// The turns that a query may select, newest first, up to a bound.
struct Scan<'a> {
    shared: &'a Shared,
    query: &'a CallQuery,
    before: Option<(i64, String)>,
    page: std::vec::IntoIter<Trace>,
    /// Whether the store has no more of them.
    exhausted: bool,
    turns: usize,
    bytes: usize,
    since_yield: usize,
}

impl<'a> Scan<'a> {
    async fn begin(shared: &'a Shared, query: &'a CallQuery) -> Result<Self, ApiError> {
        // A client that has read the end of a turn finds its calls.
        shared.app.traces.flush().await;
        let until = query.until.map(|until| (until, String::new()));
        let before = match &query.after {
            None => until,
            Some(id) => {
                let trace = shared.store.trace(id).await.map_err(failed)?;
                let message = || format!("after is {id:?}, which is not a turn");
                let trace = trace.ok_or_else(|| BadRequest::at("after", "trace_not_found", message()))?;
                Some((trace.created_at, trace.id))
            }
        };
        let page = Vec::new().into_iter();
        Ok(Self { shared, query, before, page, exhausted: false, turns: 0, bytes: 0, since_yield: 0 })
    }

    /// The next turn; none at the end of the time and at the bound.
    async fn next(&mut self) -> Result<Option<ListedTurn>, ApiError> {
        loop {
            if self.turns >= MOST_TURNS || self.bytes >= MOST_BYTES || self.is_at_end().await? {
                return Ok(None);
            }
            let Some(trace) = self.page.next() else { return Ok(None) };
            self.count(&trace).await;
            self.before = Some((trace.created_at, trace.id));
            let Ok(turn) = serde_json::from_str::<ListedTurn>(&trace.body) else { continue };
            if !self.query.is_in_range(&turn) {
                self.exhausted = true;
                self.page = Vec::new().into_iter();
                return Ok(None);
            }
            return Ok(Some(turn));
        }
    }

    /// Whether no turn is left. Reads the next page where one is needed to know.
    async fn is_at_end(&mut self) -> Result<bool, ApiError> {
        if self.page.len() == 0 && !self.exhausted {
            let page = TracePage { before: self.before.clone(), limit: PAGE };
            let found = self.shared.store.traces_like(&page, &self.query.traces).await.map_err(failed)?;
            self.exhausted = i64::try_from(found.len()).unwrap_or(i64::MAX) < PAGE;
            self.page = found.into_iter();
        }
        Ok(self.page.len() == 0)
    }

    async fn count(&mut self, trace: &Trace) {
        self.turns += 1;
        self.bytes += trace.body.len();
        self.since_yield += trace.body.len();
        if self.since_yield >= YIELD_AFTER_BYTES {
            self.since_yield = 0;
            tokio::task::yield_now().await;
        }
    }

    /// The last turn that was read.
    fn last_id(&self) -> Option<&str> {
        self.before.as_ref().map(|(_, id)| id.as_str()).filter(|id| !id.is_empty())
    }
}
