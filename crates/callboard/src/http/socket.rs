//! `/v1/responses` over a WebSocket: a message requests a response, and its events come back as messages.
//!
//! Responses of a connection are made one after the other, and cached as long as it lives, so that a client may continue from a response
//! that is stored nowhere. The socket is read all the time: pings are answered while a response is made, and a close ends it.

use std::collections::VecDeque;
use std::time::Instant;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Extension, RequestExt as _};
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{Framing, ResponseWriter, ResponsesRequest};
use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use super::delivery::Wire as _;
use super::reply;
use super::requester::Requester;
use super::responses::{ResponseTurn, Responses, prepare};
use super::router::{Arrival, Shared};
use super::socket_messages::{self, SocketRequest};
use crate::conversation::ConnectionCache;
use crate::session::{Session, Step};
use crate::shutdown_requested::shutdown_requested;
use crate::telemetry::metrics;
use crate::trace::TraceParent;

/// Requests that may wait for the one in progress.
const MOST_WAITING: usize = 64;

/// A message up to so many times the limit is read, to be refused with an error; a larger one closes the connection.
const READ_BEYOND: usize = 2;

/// The client is gone, or the program stops.
struct Gone;

/// Upgrades a connection.
pub(super) async fn open(
    State(shared): State<Shared>,
    Extension(arrival): Extension<Arrival>,
    mut request: Request,
) -> Response {
    let upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection> = request.extract_parts().await;
    let Ok(upgrade) = upgrade else { return reply::error(&ApiError::upgrade_required()) };
    if shared.keys.is_open() && is_from_foreign_page(request.headers()) {
        return reply::error(&ApiError::foreign_page());
    }
    let requester = Requester::of(&shared, request.headers());
    let most = shared.app.settings.limits.body_bytes;
    let read = most.saturating_mul(READ_BEYOND);
    let upgrade = upgrade.max_message_size(read).max_frame_size(read);
    upgrade.on_upgrade(move |socket| async move {
        let waiting = Waiting { messages: VecDeque::new(), most_bytes: most };
        let _open = shared.sockets.clone();
        let mut connection = Connection { socket, shared, arrival, requester, waiting, answered: 0 };
        connection.serve().await;
    })
}

/// Browsers let any page open a WebSocket to this machine and read it; without keys nothing else would stop it. They send the page's
/// origin, which other clients do not.
fn is_from_foreign_page(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let page = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    !page.zip(host).is_some_and(|(page, host)| page.eq_ignore_ascii_case(host))
}

struct Connection {
    socket: WebSocket,
    shared: Shared,
    arrival: Arrival,
    requester: Requester,
    waiting: Waiting,
    answered: usize,
}

/// Requests that wait for the one in progress.
struct Waiting {
    messages: VecDeque<Utf8Bytes>,
    most_bytes: usize,
}

impl Waiting {
    /// Without room the socket is not read until a response is done.
    fn has_room(&self) -> bool {
        let bytes: usize = self.messages.iter().map(|message| message.len()).sum();
        self.messages.len() < MOST_WAITING && bytes < self.most_bytes
    }
}

impl Connection {
    /// Serves until the client leaves or the program stops.
    async fn serve(&mut self) {
        let mut cache = ConnectionCache::new(self.shared.app.settings.limits.history_bytes as u64);
        while let Ok(text) = self.next_request().await {
            if self.answer(&text, &mut cache).await.is_err() {
                return;
            }
        }
    }

    async fn next_request(&mut self) -> Result<Utf8Bytes, Gone> {
        if let Some(text) = self.waiting.messages.pop_front() {
            return Ok(text);
        }
        let mut stopping = self.shared.stopping.clone();
        tokio::select! {
            biased;
            () = shutdown_requested(&mut stopping) => {
                let frame = CloseFrame { code: close_code::AWAY, reason: "the server is stopping".into() };
                let _ = self.socket.send(Message::Close(Some(frame))).await;
                Err(Gone)
            }
            message = next_text(&mut self.socket) => message,
        }
    }

    async fn answer(&mut self, text: &str, cache: &mut ConnectionCache) -> Result<(), Gone> {
        self.answered += 1;
        let (request_id, at) = (format!("{}.{}", self.arrival.id, self.answered), Instant::now());
        let SocketRequest { request, stream_id, caller } = SocketRequest::read(text, self.waiting.most_bytes);
        let entered = request.and_then(|request| Ok((request, self.shared.in_flight.enter()?)));
        let (prepared, _ticket) = match entered {
            Ok((request, ticket)) => (self.prepare(&request_id, request, caller, cache).await?, Some(ticket)),
            Err(error) => (Err(error), None),
        };
        let status = match prepared {
            Ok(session) => self.deliver(session, stream_id.as_deref(), cache).await?,
            Err(error) => self.refuse(&error, stream_id.as_deref()).await?,
        };
        metrics::request(Responses::ENDPOINT, status, at.elapsed());
        Ok(())
    }

    async fn prepare(
        &mut self,
        request_id: &str,
        request: ResponsesRequest,
        caller: Option<TraceParent>,
        cache: &ConnectionCache,
    ) -> Result<Result<Session<ResponseWriter>, ApiError>, Gone> {
        let (shared, mut requester) = (self.shared.clone(), self.requester.clone());
        requester.caller = caller.or(requester.caller);
        let (id, requester) = (request_id, &requester);
        let turn = ResponseTurn { id, request, requester, framing: Some(Framing::Lines), connection: Some(cache) };
        let prepared = prepare(&shared, turn);
        listening(&mut self.socket, &mut self.waiting, prepared).await
    }

    /// Sends a response and returns the status it would have had over HTTP.
    async fn deliver(
        &mut self,
        session: Session<ResponseWriter>,
        stream_id: Option<&str>,
        cache: &mut ConnectionCache,
    ) -> Result<u16, Gone> {
        let mut session = session.until(self.shared.ending.clone());
        let (status, lines) = loop {
            match listening(&mut self.socket, &mut self.waiting, session.next()).await? {
                Step::Piece(lines) => {
                    session.mark_seen();
                    self.send(&lines, stream_id).await?;
                }
                Step::KeepAlive => send(&mut self.socket, Message::Ping("alive".into())).await?,
                Step::Failed(error, lines) if lines.is_empty() => {
                    drop(session);
                    return self.refuse(&error, stream_id).await;
                }
                Step::Failed(error, lines) => break (error.status, lines),
                Step::Done(lines, _) => break (200, lines),
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

    async fn refuse(&mut self, error: &ApiError, stream_id: Option<&str>) -> Result<u16, Gone> {
        tracing::debug!(request_id = self.arrival.id, code = error.code, param = error.param, "refused");
        let line = socket_messages::error(error);
        self.send(&line, stream_id).await?;
        Ok(error.status)
    }

    /// Sends events, one message each.
    async fn send(&mut self, lines: &str, stream_id: Option<&str>) -> Result<(), Gone> {
        for line in lines.lines() {
            let text = socket_messages::with_stream_id(line, stream_id);
            send(&mut self.socket, Message::Text(text.into())).await?;
        }
        Ok(())
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), Gone> {
    socket.send(message).await.map_err(|_| Gone)
}

/// The next request. Pings are answered by the socket itself.
async fn next_text(socket: &mut WebSocket) -> Result<Utf8Bytes, Gone> {
    loop {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => return Ok(text),
            Some(Ok(Message::Binary(_))) => return Ok("binary messages are not read here".into()),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_))) | None => return Err(Gone),
            Some(Err(error)) => {
                if let Some(frame) = socket_messages::close_frame(error) {
                    let _ = socket.send(Message::Close(Some(frame))).await;
                }
                return Err(Gone);
            }
        }
    }
}

/// Runs a future while the socket is read. Requests that arrive meanwhile are queued; when the client leaves, the future is dropped.
async fn listening<T>(socket: &mut WebSocket, waiting: &mut Waiting, work: impl Future<Output = T>) -> Result<T, Gone> {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            text = next_text(socket), if waiting.has_room() => waiting.messages.push_back(text?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_hosts_are_foreign() {
        let table = [
            (None, false),
            (Some("http://127.0.0.1:8787"), false),
            (Some("http://127.0.0.1"), true),
            (Some("http://127.0.0.1:8787.example.com"), true),
            (Some("https://example.com"), true),
            (Some("null"), true),
        ];
        for (origin, foreign) in table {
            let origin = origin.map(|origin| (ORIGIN, origin.parse().unwrap()));
            let headers: HeaderMap = origin.into_iter().chain([(HOST, "127.0.0.1:8787".parse().unwrap())]).collect();
            assert_eq!(is_from_foreign_page(&headers), foreign, "{headers:?}");
        }
    }
}
