//! `/v1/responses` over a WebSocket: one message asks for a response, and its events come back as messages.
//!
//! Responses of a connection are answered one after the other. What they say is remembered as long as the connection lives, so
//! that a client may go on from a response that is stored nowhere. The socket is listened to all the time: pings are
//! answered while a response is made, and a client that leaves ends it.

use std::collections::VecDeque;
use std::time::Instant;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Extension, RequestExt as _};
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{Framing, ResponsesRequest};
use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use super::frames::{self, Asked};
use super::reply;
use super::respond::{Manner, respond};
use super::responses::ENDPOINT;
use super::router::{Arrival, Shared};
use super::running::Asker;
use crate::responses::{LocalResponses, ResponseTurn, Step};
use crate::stopping::stop_asked;
use crate::telemetry::metrics;
use crate::trace::TraceParent;

/// Requests that may wait behind the one that is answered.
const MOST_WAITING: usize = 64;

/// A message up to so many times the limit is read, to be refused in words; a larger one ends the connection.
const READ_BEYOND: usize = 2;

/// The client has left, or the program ends.
struct Gone;

/// Takes up a connection.
pub(super) async fn open(
    State(shared): State<Shared>,
    Extension(arrival): Extension<Arrival>,
    mut request: Request,
) -> Response {
    let upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection> = request.extract_parts().await;
    let Ok(upgrade) = upgrade else { return reply::error(&ApiError::upgrade_required()) };
    if shared.app.keys.is_open() && is_from_foreign_page(request.headers()) {
        return reply::error(&ApiError::foreign_page());
    }
    let asker = Asker::of(&shared, request.headers());
    let most = shared.app.settings.limits.body_bytes;
    let read = most.saturating_mul(READ_BEYOND);
    let upgrade = upgrade.max_message_size(read).max_frame_size(read);
    upgrade.on_upgrade(move |socket| async move {
        let waiting = Waiting { messages: VecDeque::new(), most_bytes: most };
        let _open = shared.sockets.clone();
        let mut connection = Connection { socket, shared, arrival, asker, waiting, answered: 0 };
        connection.serve().await;
    })
}

/// Browsers let any page open a WebSocket to this machine and read it; where no key is asked for, nothing else would stop it.
/// They name the page, as other clients do not.
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
    asker: Asker,
    waiting: Waiting,
    answered: usize,
}

/// Requests behind the one that is answered.
struct Waiting {
    messages: VecDeque<Utf8Bytes>,
    most_bytes: usize,
}

impl Waiting {
    /// Where there is no room the client is not read from, until something was answered.
    fn has_room(&self) -> bool {
        let bytes: usize = self.messages.iter().map(|message| message.len()).sum();
        self.messages.len() < MOST_WAITING && bytes < self.most_bytes
    }
}

impl Connection {
    /// Answers until the client leaves or the program ends.
    async fn serve(&mut self) {
        let mut local = LocalResponses::new(self.shared.app.settings.limits.history_bytes as u64);
        while let Ok(text) = self.next_request().await {
            if self.answer(&text, &mut local).await.is_err() {
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
            () = stop_asked(&mut stopping) => {
                let frame = CloseFrame { code: close_code::AWAY, reason: "the server is stopping".into() };
                let _ = self.socket.send(Message::Close(Some(frame))).await;
                Err(Gone)
            }
            message = next_text(&mut self.socket) => message,
        }
    }

    async fn answer(&mut self, text: &str, local: &mut LocalResponses) -> Result<(), Gone> {
        self.answered += 1;
        let (request_id, at) = (format!("{}.{}", self.arrival.id, self.answered), Instant::now());
        let Asked { request, stream_id, caller } = Asked::read(text, self.waiting.most_bytes);
        let entered = request.and_then(|request| Ok((request, self.shared.in_flight.enter()?)));
        let (begun, _ticket) = match entered {
            Ok((request, ticket)) => (self.begin(&request_id, request, caller, local).await?, Some(ticket)),
            Err(error) => (Err(error), None),
        };
        let status = match begun {
            Ok(turn) => self.tell(turn, stream_id.as_deref(), local).await?,
            Err(error) => self.refuse(&error, stream_id.as_deref()).await?,
        };
        metrics::request(ENDPOINT, status, at.elapsed());
        Ok(())
    }

    async fn begin(
        &mut self,
        request_id: &str,
        request: ResponsesRequest,
        caller: Option<TraceParent>,
        local: &LocalResponses,
    ) -> Result<Result<ResponseTurn, ApiError>, Gone> {
        let (shared, mut asker) = (self.shared.clone(), self.asker.clone());
        asker.caller = caller.or(asker.caller);
        let manner = Manner::Streamed(Framing::Lines);
        let begun = async { respond(&shared, request_id, request, asker, manner, Some(local)).await };
        listening(&mut self.socket, &mut self.waiting, begun).await
    }

    /// Tells a response; the status it would have had over HTTP comes back.
    async fn tell(
        &mut self,
        mut turn: ResponseTurn,
        stream_id: Option<&str>,
        local: &mut LocalResponses,
    ) -> Result<u16, Gone> {
        let mut ending = self.shared.ending.clone();
        let end = loop {
            let told = tokio::select! {
                biased;
                told = listening(&mut self.socket, &mut self.waiting, turn.next(Some(local))) => Some(told?),
                () = stop_asked(&mut ending) => None,
            };
            let step = match told {
                Some(step) => step,
                None => turn.fail(ApiError::stopping_midway()).await,
            };
            match step {
                Step::Piece(lines) => {
                    turn.mark_seen();
                    self.send(&lines, stream_id).await?;
                }
                Step::KeepAlive => send(&mut self.socket, Message::Ping("alive".into())).await?,
                end => break end,
            }
        };
        // Whoever has seen the end of a response finds its trace, so the turn ends first.
        drop(turn);
        self.tell_end(end, stream_id).await
    }

    async fn tell_end(&mut self, end: Step, stream_id: Option<&str>) -> Result<u16, Gone> {
        let (status, lines) = match end {
            Step::Failed(error, lines) if lines.is_empty() => return self.refuse(&error, stream_id).await,
            Step::Failed(error, lines) => (error.status, lines),
            Step::Over(lines, _) | Step::Piece(lines) => (200, lines),
            Step::KeepAlive => (200, String::new()),
        };
        self.send(&lines, stream_id).await?;
        Ok(status)
    }

    async fn refuse(&mut self, error: &ApiError, stream_id: Option<&str>) -> Result<u16, Gone> {
        tracing::debug!(request_id = self.arrival.id, code = error.code, param = error.param, "refused");
        let line = frames::error(error);
        self.send(&line, stream_id).await?;
        Ok(error.status)
    }

    /// Sends events, one message each.
    async fn send(&mut self, lines: &str, stream_id: Option<&str>) -> Result<(), Gone> {
        for line in lines.lines() {
            let text = frames::marked(line, stream_id);
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
                if let Some(frame) = frames::parting(error) {
                    let _ = socket.send(Message::Close(Some(frame))).await;
                }
                return Err(Gone);
            }
        }
    }
}

/// Does something while the socket is listened to. Requests that come meanwhile wait; when the client leaves, it is dropped.
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
    fn pages_of_other_hosts_are_told_from_clients_and_from_own_pages() {
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
