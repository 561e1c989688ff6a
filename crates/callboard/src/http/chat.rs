//! `POST /v1/chat/completions`: reads and checks the request, runs the turn, and sends its events as a stream or folded.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use callboard_core::contract::Report;
use callboard_core::model::Usage;
use callboard_core::turn::{Turn, TurnRequest, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ChunkWriter, Completion, ReplyReader, Stamp};
use futures_util::stream;
use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};

use super::limit::Ticket;
use super::router::{Arrival, Shared};
use super::{reply, request_id};
use crate::config::ContractMode;
use crate::session::{Observer, Progress, Session, SessionParts, relay_body};
use crate::telemetry::metrics;
use crate::upstream::Upstream;

const ENDPOINT: &str = "chat";

/// Handles one chat request.
pub(super) async fn complete(State(shared): State<Shared>, request: Request) -> Response {
    let arrival = request.extensions().get::<Arrival>().cloned();
    let Some(arrival) = arrival else {
        return reply::error(&ApiError::new(500, "no_request_id", "the request was not named"));
    };
    let response = match answer(&shared, &arrival, request).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(request_id = arrival.id, code = error.code, param = error.param, "refused");
            reply::error(&error)
        }
    };
    metrics::request(ENDPOINT, response.status().as_u16(), arrival.at.elapsed());
    response
}

async fn answer(shared: &Shared, arrival: &Arrival, request: Request) -> Result<Response, ApiError> {
    let ticket = shared.in_flight.enter()?;
    let authorization = request.headers().get(AUTHORIZATION).filter(|_| shared.app.keys.is_open()).cloned();
    let body = read_body(request, shared.app.settings.limits.body_bytes).await?;
    let (request, turn) = ChatRequest::read(body, &shared.app.tools)?;
    let upstream = shared.app.upstreams.pick(&request.model, &shared.client, authorization.as_ref()).await?;
    if upstream.contract != ContractMode::Enforce {
        return relay(shared, &upstream, &request, turn, authorization, ticket).await;
    }
    let (streams, include_usage) = (request.stream, request.include_usage);
    let stamp = stamp(&request.model);
    let session = session(shared, arrival, request, turn, upstream, authorization);
    if streams {
        streamed(session, ChunkWriter::new(&stamp, include_usage), arrival, ticket).await
    } else {
        whole(session, &stamp).await
    }
}

async fn read_body(request: Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(ApiError::body_too_large(limit));
    }
    match to_bytes(request.into_body(), limit).await {
        Ok(bytes) => Ok(bytes.into()),
        Err(error) if is_length_limit(&error) => Err(ApiError::body_too_large(limit)),
        Err(_) => Err(ApiError::new(400, "incomplete_body", "the request body broke off before it was whole")),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}

fn stamp(model: &str) -> Stamp {
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Stamp { id: format!("chatcmpl-{}", request_id::random_letters::<24>()), created, model: model.to_owned() }
}

fn engine(shared: &Shared, turn: TurnRequest, reasks: usize) -> Turn {
    let settings = &shared.app.settings;
    let turn_settings = TurnSettings {
        reasks: u32::try_from(reasks).unwrap_or(u32::MAX),
        stream_arguments: settings.contract.stream_arguments,
        arguments_bytes: settings.limits.arguments_bytes,
    };
    Turn::new(turn, turn_settings, Box::new(request_id::random_bytes))
}

fn session(
    shared: &Shared,
    arrival: &Arrival,
    request: ChatRequest,
    turn: TurnRequest,
    upstream: Arc<Upstream>,
    authorization: Option<HeaderValue>,
) -> Session {
    let settings = &shared.app.settings;
    Session::new(SessionParts {
        turn: engine(shared, turn, settings.contract.reasks),
        request,
        upstream,
        client: shared.client.clone(),
        authorization,
        idle: settings.timeouts.idle,
        keep_alive: settings.timeouts.keep_alive,
        reply_bytes: settings.limits.reply_bytes,
        request_id: arrival.id.clone(),
    })
}

/// The events folded into one body.
async fn whole(mut session: Session, stamp: &Stamp) -> Result<Response, ApiError> {
    let mut completion = Completion::default();
    loop {
        match session.next().await {
            Progress::Events(events) => events.into_iter().for_each(|event| completion.event(event)),
            Progress::KeepAlive => {}
            Progress::Failed(error) => return Ok(failed(&error, session.report())),
            Progress::Complete(finish, usage) => {
                let usage = counted(session.usage_or_estimate(usage));
                let mut response = reply::json(completion.finish(stamp, finish, &usage));
                let headers = response.headers_mut();
                headers.insert(reply::CONTRACT, reply::header(&session.report().to_string()));
                mark_estimate(headers, &usage);
                return Ok(response);
            }
        }
    }
}

/// A failure, with what was done before it came to that.
fn failed(error: &ApiError, report: &Report) -> Response {
    let mut response = reply::error(error);
    if !report.is_clean() {
        response.headers_mut().insert(reply::CONTRACT, reply::header(&report.to_string()));
    }
    response
}

fn counted(usage: Usage) -> Usage {
    if !usage.estimated {
        metrics::tokens(usage.prompt_tokens, usage.completion_tokens);
    }
    usage
}

fn mark_estimate(headers: &mut HeaderMap, usage: &Usage) {
    if usage.estimated {
        headers.insert(reply::USAGE, HeaderValue::from_static("estimated"));
    }
}

/// A stream of chunks. It begins with the first event, so that a failure before it is an error with its own status.
async fn streamed(
    session: Session,
    writer: ChunkWriter,
    arrival: &Arrival,
    ticket: Ticket,
) -> Result<Response, ApiError> {
    let mut outlet = Box::new(Outlet { session, writer, over: false, _ticket: ticket });
    let first = match outlet.session.next().await {
        Progress::Failed(error) => return Ok(failed(&error, outlet.session.report())),
        progress => outlet.write(progress),
    };
    metrics::first_byte(ENDPOINT, arrival.at.elapsed());
    let body = stream::unfold((Some(first), outlet), |(first, mut outlet)| async move {
        let bytes = match first {
            Some(first) => first,
            None if outlet.over => return None,
            None => {
                let progress = outlet.session.next().await;
                outlet.write(progress)
            }
        };
        Some((Ok::<_, std::convert::Infallible>(bytes), (None, outlet)))
    });
    let mut response =
        reply::with_type(Body::from_stream(body), HeaderValue::from_static("text/event-stream; charset=utf-8"));
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// A session on its way out as a stream.
struct Outlet {
    session: Session,
    writer: ChunkWriter,
    over: bool,
    _ticket: Ticket,
}

impl Outlet {
    fn write(&mut self, progress: Progress) -> Bytes {
        let mut out = String::new();
        match progress {
            Progress::Events(events) => events.into_iter().for_each(|event| self.writer.event(event, &mut out)),
            Progress::KeepAlive => out.push_str(": keep-alive\n\n"),
            Progress::Failed(error) => {
                self.over = true;
                if !self.session.report().is_clean() {
                    out.push_str(&format!(": callboard-contract {}\n\n", self.session.report()));
                }
                out.push_str(&error.to_event());
            }
            Progress::Complete(finish, usage) => {
                self.over = true;
                let usage = counted(self.session.usage_or_estimate(usage));
                self.writer.finish(finish, Some(&usage), self.session.report(), &mut out);
            }
        }
        out.into()
    }
}

/// The server's own bytes, for servers whose contract is observed or off.
async fn relay(
    shared: &Shared,
    upstream: &Upstream,
    request: &ChatRequest,
    turn: TurnRequest,
    authorization: Option<HeaderValue>,
    ticket: Ticket,
) -> Result<Response, ApiError> {
    let body = request.upstream_body(&callboard_core::turn::Ask::default());
    let sent = shared.client.chat(upstream, authorization.as_ref(), body).await.map_err(|failure| failure.to_api())?;
    let most = shared.app.settings.limits.reply_bytes;
    let observer = (upstream.contract == ContractMode::Observe).then(|| {
        let reader = if sent.is_stream { ReplyReader::stream(most) } else { ReplyReader::whole(most) };
        Observer::new(engine(shared, turn, 0), reader)
    });
    let kind = if sent.is_stream { "text/event-stream; charset=utf-8" } else { "application/json" };
    let bytes = stream::StreamExt::map(relay_body(sent.body, observer), move |bytes| {
        let _held = &ticket;
        bytes
    });
    let mut response = reply::with_type(Body::from_stream(bytes), HeaderValue::from_static(kind));
    response.headers_mut().insert(reply::CONTRACT, HeaderValue::from_static(upstream.contract.as_str()));
    Ok(response)
}
