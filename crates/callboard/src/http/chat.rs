//! `POST /v1/chat/completions`: reads and checks the request, and decides who answers it: a model server or a character.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use callboard_core::turn::{Ask, Turn, TurnRequest, TurnSettings};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ChunkWriter, ReplyReader, Stamp};
use futures_util::stream;
use http::header::{AUTHORIZATION, CONTENT_LENGTH};
use http::{HeaderName, HeaderValue};

use super::limit::Ticket;
use super::outlet::{Run, streamed, whole};
use super::reply;
use super::router::{Arrival, Shared};
use crate::config::ContractMode;
use crate::random;
use crate::session::{Asking, Observer, Session, SessionParts, relay_body};
use crate::stage::{self, Role, SceneParts};
use crate::telemetry::metrics;
use crate::upstream::{Route, Upstream};

const ENDPOINT: &str = "chat";

/// Names a conversation with a character.
const CONVERSATION: HeaderName = HeaderName::from_static("callboard-conversation");

/// Who asks.
struct Asker {
    authorization: Option<HeaderValue>,
    conversation: Option<String>,
}

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
    let asker = asker(shared, &request);
    let body = read_body(request, shared.app.settings.limits.body_bytes).await?;
    let (request, turn) = ChatRequest::read(body, &shared.app.tools)?;
    let (streams, stamp) = (request.stream, stamp(&request.model));
    let writer = ChunkWriter::new(&stamp, request.include_usage);
    let run = match shared.app.cast.role(&request.model) {
        Some(role) => Run::Stage(Box::new(scene(shared, arrival, role, &request, asker).await?)),
        None => {
            let routes =
                shared.app.upstreams.routes(&request.model, &shared.client, asker.authorization.as_ref()).await?;
            if let Some(route) = routes.first().filter(|route| route.upstream.contract != ContractMode::Enforce) {
                return relay(shared, &route.upstream, &request, turn, asker, ticket).await;
            }
            Run::Gateway(Box::new(session(shared, arrival, request, turn, routes, asker)))
        }
    };
    Ok(if streams { streamed(run, writer, ENDPOINT, arrival, ticket).await } else { whole(run, &stamp).await })
}

fn asker(shared: &Shared, request: &Request) -> Asker {
    let headers = request.headers();
    let conversation = headers.get(CONVERSATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let authorization = headers.get(AUTHORIZATION).filter(|_| shared.app.keys.is_open()).cloned();
    Asker { authorization, conversation }
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
    Stamp { id: format!("chatcmpl-{}", random::letters::<24>()), created, model: model.to_owned() }
}

fn engine(shared: &Shared, turn: TurnRequest, reasks: usize) -> Turn {
    let settings = &shared.app.settings;
    let turn_settings = TurnSettings {
        reasks: u32::try_from(reasks).unwrap_or(u32::MAX),
        stream_arguments: settings.contract.stream_arguments,
        arguments_bytes: settings.limits.arguments_bytes,
    };
    Turn::new(turn, turn_settings, Box::new(random::bytes))
}

async fn scene(
    shared: &Shared,
    arrival: &Arrival,
    role: Arc<Role>,
    request: &ChatRequest,
    asker: Asker,
) -> Result<stage::Scene, ApiError> {
    let app = &shared.app;
    stage::begin(SceneParts {
        role,
        request,
        conversations: Arc::clone(&app.conversations),
        settings: &app.settings,
        tools: &app.tools,
        upstreams: &app.upstreams,
        client: shared.client.clone(),
        authorization: asker.authorization,
        named: asker.conversation,
        request_id: arrival.id.clone(),
        random: random::bytes,
    })
    .await
}

fn session(
    shared: &Shared,
    arrival: &Arrival,
    request: ChatRequest,
    turn: TurnRequest,
    routes: Vec<Route>,
    asker: Asker,
) -> Session {
    let settings = &shared.app.settings;
    Session::new(SessionParts {
        turn: engine(shared, turn, settings.contract.reasks),
        request,
        asking: Asking {
            routes,
            client: shared.client.clone(),
            authorization: asker.authorization,
            retries: settings.limits.retries,
            request_id: arrival.id.clone(),
        },
        idle: settings.timeouts.idle,
        keep_alive: settings.timeouts.keep_alive,
        reply_bytes: settings.limits.reply_bytes,
        performer: None,
    })
}

/// The server's own bytes, for servers whose contract is observed or off.
async fn relay(
    shared: &Shared,
    upstream: &Upstream,
    request: &ChatRequest,
    turn: TurnRequest,
    asker: Asker,
    ticket: Ticket,
) -> Result<Response, ApiError> {
    let body = request.upstream_body(&Ask::default());
    let sent = shared.client.chat(upstream, asker.authorization.as_ref(), body).await;
    let sent = sent.map_err(|failure| failure.to_api())?;
    let most = shared.app.settings.limits.reply_bytes;
    let observer = (upstream.contract == ContractMode::Observe).then(|| {
        let reader = if sent.is_stream { ReplyReader::stream(most) } else { ReplyReader::whole(most) };
        Observer::new(engine(shared, turn, 0), reader)
    });
    let kind = if sent.is_stream { reply::EVENT_STREAM } else { reply::JSON };
    let bytes = stream::StreamExt::map(relay_body(sent.body, observer), move |bytes| {
        let _held = &ticket;
        bytes
    });
    let mut response = reply::with_type(Body::from_stream(bytes), kind);
    response.headers_mut().insert(reply::CONTRACT, HeaderValue::from_static(upstream.contract.as_str()));
    Ok(response)
}
