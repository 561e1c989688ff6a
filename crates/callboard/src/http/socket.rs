//! `/v1/responses` over a WebSocket: a message requests a response, and its events come back as messages.
//!
//! Responses of a connection are made one after the other, and cached as long as it lives, so that a client may continue from a response
//! that is stored nowhere. The socket is read all the time: pings are answered while a response is made, and a close ends it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Extension, RequestExt as _};
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{Framing, ResponseWriter, ResponsesRequest};
use futures_util::SinkExt as _;
use http::HeaderMap;
use tokio::time::timeout;

use super::client_connection::ClientConnection;
use super::delivery::Wire as _;
use super::in_flight_limit::Ticket;
use super::reply;
use super::request_log::RequestLog;
use super::requester::Requester;
use super::responses::{ResponseTurn, Responses, prepare};
use super::router::{Arrival, Shared};
use super::socket_input::{SocketInput, overdue};
use super::socket_messages::{self, SocketRequest};
use crate::conversation::ConnectionCache;
use crate::memory_budget::{MemoryBudget, RequestMemory};
use crate::session::{Session, Step};
use crate::shutdown_requested::shutdown_requested;
use crate::telemetry::metrics;
use crate::trace::TraceParent;

/// Requests that may wait for the one in progress.
const MOST_WAITING: usize = 64;

/// A message up to so many times the limit is read, to be refused with an error; a larger one closes the connection.
const READ_BEYOND: usize = 2;

/// Events are written at once, so the buffers are small.
const BUFFER: usize = 16 << 10;

/// How long the client may take to answer a close.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// The client is gone, or the program stops.
struct Gone;

/// A request that has arrived, with its share of the memory budget.
struct Received {
    text: Utf8Bytes,
    memory: RequestMemory,
}

/// Upgrades a connection.
pub(super) async fn open(
    State(shared): State<Shared>,
    Extension(arrival): Extension<Arrival>,
    Extension(client): Extension<Arc<ClientConnection>>,
    mut request: Request,
) -> Response {
    if shared.keys.is_open()
        && shared.cors_origins.allowed(request.headers(), true).is_none()
        && let Err(error) = shared.allowed_hosts.check_socket(request.headers())
    {
        return reply::error(&error);
    }
    let upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection> = request.extract_parts().await;
    let Ok(upgrade) = upgrade else { return reply::error(&ApiError::upgrade_required()) };
    let limits = &shared.app.settings.limits;
    let Ok(place) = Arc::clone(&shared.app.sockets).try_acquire_owned() else {
        return reply::error(&ApiError::too_many_sockets(limits.sockets));
    };
    let requester = Requester::of(&shared, request.headers());
    let credentials = request.headers().clone();
    let most = limits.body_bytes;
    let read = most.saturating_mul(READ_BEYOND);
    let upgrade =
        upgrade.max_message_size(read).max_frame_size(read).read_buffer_size(BUFFER).write_buffer_size(BUFFER);
    upgrade.on_upgrade(move |socket| async move {
        *client.input() = Some(SocketInput::new(&shared.app.memory));
        let opened = Instant::now();
        let waiting = Waiting { messages: VecDeque::new(), most_bytes: most };
        let _open = (shared.sockets.clone(), place);
        let timeouts = &shared.app.settings.timeouts;
        let budget = shared.app.memory.clone();
        let input = Input { socket, client, budget, body_time: timeouts.body, client_time: timeouts.client };
        let mut connection =
            Connection { input, shared: shared.clone(), arrival, requester, credentials, waiting, answered: 0, opened };
        connection.serve().await;
    })
}

struct Connection {
    input: Input,
    shared: Shared,
    arrival: Arrival,
    requester: Requester,
    /// The headers that admitted the connection; its key may have been removed since.
    credentials: HeaderMap,
    waiting: Waiting,
    answered: usize,
    opened: Instant,
}

/// Requests that wait for the one in progress.
struct Waiting {
    messages: VecDeque<Received>,
    most_bytes: usize,
}

impl Waiting {
    /// Without room the socket is not read until a response is done.
    fn has_room(&self) -> bool {
        let bytes: usize = self.messages.iter().map(|message| message.text.len()).sum();
        self.messages.len() < MOST_WAITING && bytes < self.most_bytes
    }
}

impl Connection {
    /// Serves until the client leaves or the program stops.
    async fn serve(&mut self) {
        let mut cache =
            ConnectionCache::new(self.shared.app.settings.limits.history_bytes as u64, self.shared.app.memory.clone());
        while let Ok(received) = self.next_request().await {
            if self.answer(&received, &mut cache).await.is_err() {
                return;
            }
        }
    }

    async fn next_request(&mut self) -> Result<Received, Gone> {
        let left = self.shared.app.settings.timeouts.socket_life.saturating_sub(self.opened.elapsed());
        if left.is_zero() {
            return self.expire().await;
        }
        if let Some(received) = self.waiting.messages.pop_front() {
            return Ok(received);
        }
        let mut stopping = self.shared.stopping.clone();
        let idle = self.shared.app.settings.timeouts.socket;
        let (code, reason) = tokio::select! {
            biased;
            () = shutdown_requested(&mut stopping) => (close_code::AWAY, "the server is stopping"),
            message = self.input.next() => return message,
            () = tokio::time::sleep(left) => return self.expire().await,
            () = tokio::time::sleep(idle) => (close_code::NORMAL, "no request came within timeouts.socket_seconds"),
        };
        self.input.close(CloseFrame { code, reason: reason.into() }).await;
        Err(Gone)
    }

    /// The connection has been open for as long as one may be. Requests that wait are not answered.
    async fn expire(&mut self) -> Result<Received, Gone> {
        let line = socket_messages::error(&ApiError::socket_too_old());
        self.send(&line, None).await?;
        let reason = "the connection has been open for timeouts.socket_life_seconds";
        self.input.close(CloseFrame { code: close_code::NORMAL, reason: reason.into() }).await;
        Err(Gone)
    }

    async fn answer(&mut self, received: &Received, cache: &mut ConnectionCache) -> Result<(), Gone> {
        self.answered += 1;
        let (request_id, at) = (format!("{}.{}", self.arrival.id, self.answered), Instant::now());
        let log = RequestLog::of_message("/v1/responses", &request_id);
        let Received { text, memory } = received;
        if let Err(exceeded) = memory.grow_for_json(text.as_bytes(), text.len()) {
            let status = self.refuse(&exceeded.into(), None, &log).await?;
            log.status(status);
            return Ok(());
        }
        let SocketRequest { request, continues, stream_id, caller } =
            SocketRequest::read(text, self.waiting.most_bytes);
        let entered = request.and_then(|request| Ok((request, self.enter()?)));
        let (prepared, _ticket) = match entered {
            Ok((request, ticket)) => {
                log.model(&request.model);
                (self.prepare((&request_id, received), request, caller, cache).await?, Some(ticket))
            }
            Err(error) => (Err(error), None),
        };
        let status = match prepared {
            Ok(session) => self.deliver((session, &log), stream_id.as_deref(), cache).await?,
            Err(error) => self.refuse(&error, stream_id.as_deref(), &log).await?,
        };
        log.status(status);
        // Open Responses: a continuation that fails removes the response that it named.
        continues.filter(|_| status >= 400).iter().for_each(|id| cache.evict(id));
        metrics::request(Responses::ENDPOINT, status, at.elapsed());
        Ok(())
    }

    fn enter(&self) -> Result<Ticket, ApiError> {
        if !self.shared.keys.admit(&self.credentials) {
            return Err(ApiError::invalid_api_key());
        }
        self.shared.in_flight.enter()
    }

    async fn prepare(
        &mut self,
        (id, received): (&str, &Received),
        request: ResponsesRequest,
        caller: Option<TraceParent>,
        cache: &ConnectionCache,
    ) -> Result<Result<Session<ResponseWriter>, ApiError>, Gone> {
        let (shared, mut requester) = (self.shared.clone(), self.requester.clone());
        requester.caller = caller.or(requester.caller);
        let requester = &requester;
        let recorded = shared.app.traces.records_content().then_some(received.text.as_str());
        let (memory, framing) = (&received.memory, Some(Framing::Lines));
        let turn = ResponseTurn { id, request, requester, memory, recorded, framing, connection: Some(cache) };
        let prepared = prepare(&shared, turn);
        listening(&mut self.input, &mut self.waiting, prepared).await
    }

    /// Sends a response and returns the status it would have had over HTTP.
    async fn deliver(
        &mut self,
        (session, log): (Session<ResponseWriter>, &RequestLog),
        stream_id: Option<&str>,
        cache: &mut ConnectionCache,
    ) -> Result<u16, Gone> {
        let mut session = session.until(self.shared.ending.clone());
        log.stream_begins();
        let (status, lines) = loop {
            match listening(&mut self.input, &mut self.waiting, session.next()).await? {
                Step::Piece(lines) => {
                    session.mark_seen();
                    self.send(&lines, stream_id).await?;
                }
                Step::KeepAlive => send(&mut self.input.socket, Message::Ping("alive".into())).await?,
                Step::Failed(error, lines) if lines.is_empty() => {
                    log.turn_ends(&session, Some(&error.code));
                    drop(session);
                    return self.refuse(&error, stream_id, log).await;
                }
                Step::Failed(error, lines) => {
                    log.turn_ends(&session, Some(&error.code));
                    break (error.status, lines);
                }
                Step::Done(lines, _) => {
                    log.turn_ends(&session, None);
                    break (200, lines);
                }
            }
        };
        if let Some(response) = session.take_connection_response().filter(|_| status == 200) {
            cache.insert(response);
        }
        // Dropped before the last event is sent, so its trace can be found once that is seen.
        drop(session);
        self.send(&lines, stream_id).await?;
        Ok(status)
    }

    async fn refuse(&mut self, error: &ApiError, stream_id: Option<&str>, log: &RequestLog) -> Result<u16, Gone> {
        tracing::debug!(request_id = self.arrival.id, code = error.code, param = error.param, "refused");
        log.error(&error.code);
        let line = socket_messages::error(error);
        self.send(&line, stream_id).await?;
        Ok(error.status)
    }

    /// Sends events, one message each.
    async fn send(&mut self, lines: &str, stream_id: Option<&str>) -> Result<(), Gone> {
        for line in lines.lines() {
            let text = socket_messages::with_stream_id(line, stream_id);
            send(&mut self.input.socket, Message::Text(text.into())).await?;
        }
        Ok(())
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    socket.send(message).await.map_err(|_| Gone)
}

/// The messages of the client.
struct Input {
    socket: WebSocket,
    client: Arc<ClientConnection>,
    budget: MemoryBudget,
    /// The time for a whole message.
    body_time: Duration,
    /// The time for a client that does not read.
    client_time: Duration,
}

impl Input {
    /// The next request.
    async fn next(&mut self) -> Result<Received, Gone> {
        loop {
            let message = tokio::select! {
                biased;
                message = self.socket.recv() => message,
                () = overdue(&self.client, self.body_time) => {
                    let reason = "a message was not complete within timeouts.body_seconds";
                    self.close(CloseFrame { code: close_code::POLICY, reason: reason.into() }).await;
                    return Err(Gone);
                }
            };
            match message {
                Some(Ok(Message::Text(text))) => return Ok(self.received(text)),
                Some(Ok(Message::Binary(_))) => return Ok(self.received("binary messages are not read here".into())),
                Some(Ok(Message::Ping(data) | Message::Pong(data))) => self.control_frame(data.len()).await?,
                Some(Ok(Message::Close(_))) => {
                    self.finish().await;
                    return Err(Gone);
                }
                Some(Err(error)) => {
                    if let Some(frame) = socket_messages::close_frame(error) {
                        self.close(frame).await;
                    }
                    return Err(Gone);
                }
                None => return Err(Gone),
            }
        }
    }

    fn received(&self, text: Utf8Bytes) -> Received {
        let counted = self.client.input().as_mut().map(SocketInput::message);
        Received { text, memory: counted.unwrap_or_else(|| self.budget.start()) }
    }

    /// The socket answers a ping by itself. Nothing more is read until that is written: a client that reads no pongs would fill the memory.
    async fn control_frame(&mut self, data: usize) -> Result<(), Gone> {
        if let Some(input) = self.client.input().as_mut() {
            input.control_frame(data);
        }
        match timeout(self.client_time, self.socket.flush()).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone),
        }
    }

    /// Closes the connection from this side.
    async fn close(&mut self, frame: CloseFrame) {
        let _ = timeout(CLOSING_TIME, self.socket.send(Message::Close(Some(frame)))).await;
        self.finish().await;
    }

    /// Sends what is left, such as the answer to a close, and waits briefly for the client's end.
    async fn finish(&mut self) {
        let rest = async { while let Some(Ok(_)) = self.socket.recv().await {} };
        let _ = timeout(CLOSING_TIME, rest).await;
    }
}

/// Runs a future while the socket is read. Requests that arrive meanwhile are queued; when the client leaves, the future is dropped.
async fn listening<T>(input: &mut Input, waiting: &mut Waiting, work: impl Future<Output = T>) -> Result<T, Gone> {
    let mut work = std::pin::pin!(work);
    loop {
        let has_room = waiting.has_room();
        if !has_room && let Some(input) = input.client.input().as_mut() {
            input.pause();
        }
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            received = input.next(), if has_room => waiting.messages.push_back(received?),
        }
    }
}
