//! From a request to its reply, for every wire: a wire prepares a [`Session`], and this sends what comes of it, whole or as server-sent
//! events.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use callboard_core::contract::Report;
use callboard_core::wire::{ApiError, ReplyWriter};
use futures_util::{Stream, StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, Version};
use tokio::time::{sleep, timeout};

use super::bad_call_comments::BadCallComments;
use super::body::{RequestBody, read_body};
use super::client_connection::ClientConnection;
use super::in_flight_limit::Ticket;
use super::reply;
use super::request_log::RequestLog;
use super::requester::{CONVERSATION, Requester};
use super::router::{Arrival, Shared};
use crate::memory_budget::RequestMemory;
use crate::session::{Session, Step};
use crate::telemetry::metrics;

/// How often a client that has closed its side is probed.
const PROBE_INTERVAL: Duration = Duration::from_millis(500);

const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// A wire: a reader that prepares a session, and the writer of its replies.
pub(super) trait Wire {
    /// Its name in metrics and traces.
    const ENDPOINT: &'static str;
    type Writer: ReplyWriter + Send + 'static;

    /// Reads a request.
    fn open(
        shared: &Shared,
        request: Incoming,
    ) -> impl Future<Output = Result<Prepared<Self::Writer>, ApiError>> + Send;
}

/// A request whose body has arrived.
pub(super) struct Incoming {
    pub(super) id: String,
    /// Names a conversation with a character.
    pub(super) conversation: Option<HeaderValue>,
    pub(super) requester: Requester,
    pub(super) body: Vec<u8>,
    /// The body for the trace, where content is recorded.
    pub(super) recorded: Option<String>,
    pub(super) memory: RequestMemory,
    pub(super) log: RequestLog,
}

/// What answers a request.
pub(super) enum Prepared<W: ReplyWriter> {
    Whole(Session<W>),
    Stream(Session<W>),
    /// The model server's own bytes.
    Passthrough(Response),
}

/// Handles a request of one wire.
pub(super) async fn serve<W: Wire>(State(shared): State<Shared>, request: Request) -> Response {
    let Some(arrival) = request.extensions().get::<Arrival>().cloned() else {
        return reply::error(&ApiError::new(500, "no_request_id", "the request has no id"));
    };
    // Boxed here, because the layers of the router move the future of a handler several times.
    let answer = Box::pin(answer::<W>(&shared, &arrival, request));
    let response = answer.await.unwrap_or_else(|error| arrival.refused(&error));
    metrics::request(W::ENDPOINT, response.status().as_u16(), arrival.at.elapsed());
    response
}

async fn answer<W: Wire>(shared: &Shared, arrival: &Arrival, request: Request) -> Result<Response, ApiError> {
    let requester = Requester::of(shared, request.headers());
    let conversation = request.headers().get(CONVERSATION).cloned();
    let (client, version) = (request.extensions().get::<Arc<ClientConnection>>().cloned(), request.version());
    let RequestBody { bytes, memory } = read_body(request, shared).await?;
    // Taken after the body, so slow uploads hold no slot.
    let held = Held::new(shared.in_flight.enter()?, memory.clone(), arrival.log.clone());
    let log = arrival.log.clone();
    let recorded = shared.app.traces.records_content().then(|| String::from_utf8_lossy(&bytes).into_owned());
    let incoming = Incoming { id: arrival.id.clone(), conversation, requester, body: bytes, recorded, memory, log };
    let reply = pin!(reply::<W>(shared, arrival, incoming, held, client.clone()));
    match client {
        Some(client) => for_client(&client, version, reply).await,
        None => reply.await,
    }
}

/// What a request holds until its reply ends or is dropped.
pub(super) struct Held {
    _ticket: Ticket,
    _memory: RequestMemory,
    _log: RequestLog,
}

impl Held {
    pub(super) fn new(ticket: Ticket, memory: RequestMemory, log: RequestLog) -> Self {
        Self { _ticket: ticket, _memory: memory, _log: log }
    }
}

async fn reply<W: Wire>(
    shared: &Shared,
    arrival: &Arrival,
    incoming: Incoming,
    held: Held,
    client: Option<Arc<ClientConnection>>,
) -> Result<Response, ApiError> {
    Ok(match W::open(shared, incoming).await? {
        Prepared::Whole(session) => whole(session, &arrival.log).await,
        Prepared::Stream(session) => {
            streamed::<W>(session.until(arrival.ending.clone()), arrival, client).await.map(|body| holding(body, held))
        }
        Prepared::Passthrough(response) => response.map(|body| holding(body, held)),
    })
}

/// A client that has sent its request may close its side, and gets its reply. If it has closed the whole connection, a probe finds that
/// out, or some do where a proxy is between; HTTP/1.0 knows no interim response to send as one.
pub(super) async fn for_client(
    client: &ClientConnection,
    version: Version,
    mut reply: Pin<&mut impl Future<Output = Result<Response, ApiError>>>,
) -> Result<Response, ApiError> {
    tokio::select! {
        biased;
        reply = reply.as_mut() => return reply,
        () = client.half_closed() => {}
    }
    if version < Version::HTTP_11 {
        return Err(ApiError::half_closed());
    }
    loop {
        client.probe();
        if let Ok(reply) = timeout(PROBE_INTERVAL, reply.as_mut()).await {
            return reply;
        }
    }
}

/// A body that holds something until it ends or is dropped.
pub(super) fn holding(body: Body, held: Held) -> Body {
    Body::from_stream(body.into_data_stream().map(move |piece| {
        let _held = &held;
        piece
    }))
}

async fn whole<W: ReplyWriter>(mut session: Session<W>, log: &RequestLog) -> Response {
    loop {
        match session.next().await {
            Step::Piece(_) | Step::KeepAlive => {}
            Step::Failed(error, _) => {
                log.turn_ends(&session, Some(&error.code));
                return failed(&error, &session.report());
            }
            Step::Done(_, usage) => {
                log.turn_ends(&session, None);
                let mut response = reply::json(session.take_body());
                let headers = response.headers_mut();
                headers.insert(reply::CONTRACT, reply::header(&session.report().to_string()));
                name_conversation(headers, session.chat_conversation());
                if usage.estimated {
                    headers.insert(reply::USAGE, HeaderValue::from_static("estimated"));
                }
                return response;
            }
        }
    }
}

fn name_conversation(headers: &mut HeaderMap, id: Option<&str>) {
    if let Some(id) = id {
        headers.insert(CONVERSATION, reply::header(id));
    }
}

/// A failure before anything was sent, with what was done to keep the contract.
fn failed(error: &ApiError, report: &Report) -> Response {
    let mut response = reply::error(error);
    if !report.is_clean() {
        response.headers_mut().insert(reply::CONTRACT, reply::header(&report.to_string()));
    }
    response
}

/// Server-sent events. The stream begins with the first piece, so a failure before it has its own status.
async fn streamed<W: Wire>(
    mut session: Session<W::Writer>,
    arrival: &Arrival,
    client: Option<Arc<ClientConnection>>,
) -> Response {
    let bad_calls = arrival.shows_bad_calls.then(BadCallComments::new);
    let mut texts = StepTexts { log: arrival.log.clone(), bad_calls };
    let (first, over) = match session.next().await {
        Step::Failed(error, text) if text.is_empty() => {
            arrival.log.turn_ends(&session, Some(&error.code));
            return failed(&error, &session.report());
        }
        step => {
            arrival.log.stream_begins();
            texts.of(step, &mut session)
        }
    };
    metrics::first_byte(W::ENDPOINT, arrival.at.elapsed());
    let conversation = session.chat_conversation().map(str::to_owned);
    let start = (Box::new(session), texts, Some(first), over);
    let body = stream::unfold(start, |(mut session, mut texts, first, over)| async move {
        let (text, over) = match first {
            Some(first) => {
                session.mark_seen();
                (first, over)
            }
            None if over => return None,
            None => {
                let step = session.next().await;
                texts.of(step, &mut session)
            }
        };
        Some((text, (session, texts, None, over)))
    });
    let body = Body::from_stream(with_probe(body, client).map(Ok::<_, std::convert::Infallible>));
    let mut response = reply::with_type(body, reply::EVENT_STREAM);
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    name_conversation(response.headers_mut(), conversation.as_deref());
    response
}

/// The events, with comments among them once the client has closed its side: if it is gone, its system answers one with a reset. A proxy
/// between may need several.
fn with_probe(
    events: impl Stream<Item = String> + Send + 'static,
    client: Option<Arc<ClientConnection>>,
) -> impl Stream<Item = String> + Send + 'static {
    let mut events = Box::pin(events);
    let mut probes = client.map(|client| Box::pin(probes(client)));
    stream::poll_fn(move |cx| {
        let next = events.as_mut().poll_next(cx);
        let is_due = next.is_pending()
            && probes.as_mut().is_some_and(|probes| matches!(probes.as_mut().poll_next(cx), Poll::Ready(Some(()))));
        if is_due { Poll::Ready(Some(KEEP_ALIVE.to_owned())) } else { next }
    })
}

/// When the client is to be probed: from when it has closed its side.
fn probes(client: Arc<ClientConnection>) -> impl Stream<Item = ()> {
    stream::unfold(false, move |is_closed| {
        let client = Arc::clone(&client);
        async move {
            if is_closed {
                sleep(PROBE_INTERVAL).await;
            } else {
                client.half_closed().await;
            }
            Some(((), true))
        }
    })
}

/// Turns the steps of a stream into text, and logs its end.
struct StepTexts {
    log: RequestLog,
    bad_calls: Option<BadCallComments>,
}

impl StepTexts {
    /// The text of a step, and whether it is the last.
    fn of<W: ReplyWriter>(&mut self, step: Step, session: &mut Session<W>) -> (String, bool) {
        match &step {
            Step::Done(..) => self.log.turn_ends(session, None),
            Step::Failed(error, _) => self.log.turn_ends(session, Some(&error.code)),
            Step::Piece(_) | Step::KeepAlive => {}
        }
        let (text, is_last) = match step {
            Step::Piece(text) => (text, false),
            // The reply has begun with it, so its start comes first.
            Step::KeepAlive => (session.start() + KEEP_ALIVE, false),
            Step::Done(text, _) | Step::Failed(_, text) => (text, true),
        };
        match &mut self.bad_calls {
            Some(comments) => (comments.next(session.report().bad_calls(), is_last) + &text, is_last),
            None => (text, is_last),
        }
    }
}
