//! `POST /v1/chat/completions`: reads and checks the request, and decides who answers it: a model server or a character.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use callboard_core::turn::{Ask, TurnRequest};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ChunkWriter, ReplyReader, Stamp};
use futures_util::stream;
use http::{HeaderMap, HeaderValue};

use super::body::read_body;
use super::limit::Ticket;
use super::outlet::{streamed, whole};
use super::reply;
use super::router::{Arrival, Shared};
use super::running::{self, Asker};
use crate::config::ContractMode;
use crate::session::{Observer, relay_body};
use crate::stage::{self, Asked, Role, Run, Whose};
use crate::telemetry::metrics;
use crate::trace::{TraceEvent, TraceParent, TraceRecorder, TurnStart};
use crate::upstream::Upstream;
use crate::{clock, random};

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
    let asker = Asker::naming(shared, request.headers());
    let (body, asker) = (read_body(request, &shared.app.settings).await?, asker?);
    // Behind the body: whoever sends it slowly keeps nobody else out.
    let ticket = shared.in_flight.enter()?;
    let (request, turn) = ChatRequest::read(body, &shared.app.tools)?;
    let (streams, stamp) = (request.stream, stamp(&request.model));
    let writer = ChunkWriter::new(&stamp, request.include_usage);
    let (named, caller) = (asker.conversation.clone(), asker.caller.clone());
    let mut run = match shared.app.cast.playing(&request.model)? {
        Some(role) => Run::Stage(Box::new(scene(shared, arrival, role, &request, asker).await?)),
        None => {
            let routes =
                shared.app.upstreams.routes(&request.model, &shared.client, asker.authorization.as_ref()).await?;
            if let Some(route) = routes.first().filter(|route| route.upstream.contract != ContractMode::Enforce) {
                let mut trace = shared.app.traces.begin(&about(&arrival.id, &request, caller.as_ref()));
                let traced = trace.begin_request(route, false);
                let passage = Passage { trace, traced, ticket, asker };
                return relay(shared, &route.upstream, &request, turn, passage).await;
            }
            Run::Gateway(Box::new(running::session(shared, &arrival.id, request, turn, routes, asker)))
        }
    };
    let stored = TraceEvent::StoredAs { conversation: named.as_deref(), response: None };
    run.trace_with(&shared.app.traces, ENDPOINT, caller.as_ref()).record(stored);
    Ok(if streams { streamed(run, writer, ENDPOINT, arrival, ticket).await } else { whole(run, &stamp).await })
}

fn stamp(model: &str) -> Stamp {
    let id = format!("chatcmpl-{}", random::letters::<24>());
    Stamp { id, created: clock::seconds(), model: model.to_owned() }
}

async fn scene(
    shared: &Shared,
    arrival: &Arrival,
    role: Arc<Role>,
    request: &ChatRequest,
    asker: Asker,
) -> Result<stage::Scene, ApiError> {
    let whose = Whose { owner: asker.owner.clone(), named: asker.conversation.clone() };
    let parts = running::scene_parts(shared, &arrival.id, role, Asked::Chat(request), asker);
    stage::begin_in_history(parts, request, &shared.app.conversations, &whose).await
}

/// What is known of a turn whose bytes are passed on.
fn about<'a>(request_id: &'a str, request: &'a ChatRequest, caller: Option<&'a TraceParent>) -> TurnStart<'a> {
    TurnStart { endpoint: ENDPOINT, request_id, caller, ..TurnStart::of(request) }
}

/// What goes along with bytes that are passed on.
struct Passage {
    trace: TraceRecorder,
    /// What the server is told of the trace.
    traced: HeaderMap,
    ticket: Ticket,
    asker: Asker,
}

/// The server's own bytes, for servers whose contract is observed or off.
async fn relay(
    shared: &Shared,
    upstream: &Upstream,
    request: &ChatRequest,
    turn: TurnRequest,
    Passage { mut trace, traced, ticket, asker }: Passage,
) -> Result<Response, ApiError> {
    let body = request.upstream_body(&Ask::default());
    let sent = shared.client.chat(upstream, asker.authorization.as_ref(), traced, body).await;
    let sent = sent.map_err(|failure| {
        trace.record(TraceEvent::RequestFailed(&failure));
        trace.record(TraceEvent::Failed(&failure.to_api()));
        failure.to_api()
    })?;
    trace.record(TraceEvent::ReplyBegun);
    let most = shared.app.settings.limits.reply_bytes;
    let observer = (upstream.contract == ContractMode::Observe).then(|| {
        let reader = if sent.is_stream { ReplyReader::stream(most) } else { ReplyReader::whole(most) };
        Observer::new(running::engine(shared, turn, 0), reader)
    });
    let kind = if sent.is_stream { reply::EVENT_STREAM } else { reply::JSON };
    let bytes = stream::StreamExt::map(relay_body(sent.body, observer, trace), move |bytes| {
        let _held = &ticket;
        bytes
    });
    let mut response = reply::with_type(Body::from_stream(bytes), kind);
    response.headers_mut().insert(reply::CONTRACT, HeaderValue::from_static(upstream.contract.as_str()));
    Ok(response)
}
