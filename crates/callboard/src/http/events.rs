//! `GET /v1/events`: tells a page that something changed, as server-sent events. They say what to read again, not what it says, so they hold
//! nothing that the reader may not see.
//!
//! An event's id is a cursor: a version of the watched conversation, and the newest trace. A client that comes back with one, to whichever
//! instance and after a restart, gets what it missed at once.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use callboard_core::wire::ApiError;
use futures_util::stream;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::conversations::owned;
use super::query::known_pairs;
use super::reply::{self, HttpResult};
use super::router::Shared;
use crate::shutdown_requested::shutdown_requested;
use crate::store::{Store, StoreError, TraceFilter, TracePage};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The most subscribers at a time.
const MAX_SUBSCRIBERS: usize = 256;
/// Changes within this time are one event.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How often the store is polled: other instances do not notify this one.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a subscriber knows of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Cursor {
    /// The version of the watched conversation; none where none is watched, or it is gone.
    version: Option<i64>,
    /// The id of the newest trace.
    trace: Option<String>,
}

/// A client that reads events.
struct Subscriber {
    store: Store,
    changes: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    conversation: Option<String>,
    cursor: Cursor,
    /// How often traces had been written.
    traces: u64,
    /// When something was last sent.
    sent: Instant,
}

/// Starts a stream of events.
pub(super) async fn subscribe(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> HttpResult {
    let pairs = known_pairs(&query.unwrap_or_default(), &["conversation"])?;
    let conversation = match pairs.into_iter().next_back() {
        Some((_, name)) => Some(owned(&shared, &name, &headers).await?.id),
        None => None,
    };
    if shared.store.subscribers() >= MAX_SUBSCRIBERS {
        let message = format!("{MAX_SUBSCRIBERS} clients listen to events already; close some");
        return Err(ApiError::new(429, "too_many_listeners", message).with_retry_after(5).into());
    }
    let changes = shared.store.subscribe();
    // What a client has read the end of is not new to it.
    shared.app.traces.flush().await;
    let now = Cursor::now(&shared.store, conversation.as_deref()).await?;
    let cursor = headers.get(LAST_EVENT_ID).and_then(|id| Cursor::read(id.to_str().ok()?));
    let (store, stopping) = (shared.store.clone(), shared.stopping.clone());
    let cursor = cursor.unwrap_or_else(|| now.clone());
    let traces = *changes.borrow();
    let mut subscriber = Subscriber { store, changes, stopping, conversation, cursor, traces, sent: Instant::now() };
    let missed = subscriber.advance(now);
    let first = subscriber.event("ready", &json!({})) + &missed;
    Ok(event_stream(subscriber, first))
}

fn event_stream(subscriber: Subscriber, first: String) -> Response {
    let events = stream::unfold((subscriber, Some(first)), |(mut subscriber, first)| async {
        let text = match first {
            Some(first) => first,
            None => subscriber.next().await?,
        };
        Some((Ok::<_, std::convert::Infallible>(text), (subscriber, None)))
    });
    let mut response = reply::with_type(Body::from_stream(events), reply::EVENT_STREAM);
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl Subscriber {
    /// Waits for something to send; none when the program is to end.
    async fn next(&mut self) -> Option<String> {
        loop {
            let mut stopping = self.stopping.clone();
            tokio::select! {
                biased;
                () = shutdown_requested(&mut stopping) => return None,
                () = changed(&mut self.changes) => {}
            }
            // A store that does not answer now is looked at again later.
            let now = Cursor::now(&self.store, self.conversation.as_deref()).await;
            let events = now.map_or_else(|_| String::new(), |now| self.advance(now));
            if !events.is_empty() || self.sent.elapsed() >= KEEP_ALIVE {
                self.sent = Instant::now();
                return Some(if events.is_empty() { ": keep-alive\n\n".to_owned() } else { events });
            }
        }
    }

    /// The events of what has changed.
    fn advance(&mut self, now: Cursor) -> String {
        let before = std::mem::replace(&mut self.cursor, now);
        let mut events = String::new();
        if before.version != self.cursor.version {
            events += &self.event("conversation", &json!({"id": self.conversation, "version": self.cursor.version}));
        }
        let traces = std::mem::replace(&mut self.traces, *self.changes.borrow());
        // The trace of a long turn is not the newest.
        if before.trace != self.cursor.trace || traces != self.traces {
            events += &self.event("turns", &json!({"newest": self.cursor.trace}));
        }
        events
    }

    fn event(&self, name: &str, data: &Value) -> String {
        format!("event: {name}\nid: {}\ndata: {data}\n\n", self.cursor.written())
    }
}

/// Something may have been written.
async fn changed(changes: &mut watch::Receiver<u64>) {
    if let Ok(Ok(())) = timeout(POLL_INTERVAL, changes.changed()).await {
        sleep(DEBOUNCE).await;
        changes.borrow_and_update();
    }
}

impl Cursor {
    async fn now(store: &Store, conversation: Option<&str>) -> Result<Self, StoreError> {
        let version = match conversation {
            Some(id) => store.conversation(id).await?.map(|conversation| conversation.version),
            None => None,
        };
        let page = TracePage { before: None, limit: 1 };
        let newest = store.traces_like(&page, &TraceFilter::default()).await?;
        Ok(Self { version, trace: newest.into_iter().next().map(|trace| trace.id) })
    }

    fn written(&self) -> String {
        let version = self.version.map_or_else(String::new, |version| version.to_string());
        format!("{version}.{}", self.trace.as_deref().unwrap_or_default())
    }

    fn read(text: &str) -> Option<Self> {
        let (version, trace) = text.split_once('.')?;
        let version = if version.is_empty() { None } else { Some(version.parse().ok()?) };
        Some(Self { version, trace: Some(trace).filter(|trace| !trace.is_empty()).map(str::to_owned) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_are_written() {
        for cursor in [
            Cursor::default(),
            Cursor { version: Some(3), trace: None },
            Cursor { version: None, trace: Some("0192".to_owned()) },
            Cursor { version: Some(0), trace: Some("0192".to_owned()) },
        ] {
            assert_eq!(Cursor::read(&cursor.written()), Some(cursor));
        }
        for wrong in ["", "x.1", "3"] {
            assert_eq!(Cursor::read(wrong), None, "{wrong}");
        }
    }
}
