//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::body::Body;
use callboard_core::turn::{ModelCall, TurnRequest};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChatRequest, ChatWriter, Stamp};
use http::HeaderValue;

use super::chat_session::{Answerer, ChatTurn, chat_session, find_answerer};
use super::delivery::{Incoming, Prepared, Wire};
use super::reply;
use super::router::Shared;
use crate::config::ContractMode;
use crate::session::{Observer, passthrough};
use crate::trace::{TraceEvent, TurnStart};
use crate::upstream::{ReplyInTransit, ReplySource, Route};
use crate::{clock, random};

/// Chat Completions.
pub(super) struct Chat;

impl Wire for Chat {
    const ENDPOINT: &'static str = "chat";
    type Writer = ChatWriter;

    async fn open(shared: &Shared, mut incoming: Incoming) -> Result<Prepared<ChatWriter>, ApiError> {
        let (request, turn) = ChatRequest::read(std::mem::take(&mut incoming.body), &shared.app.tools)?;
        incoming.log.model(&request.model);
        let answerer = find_answerer(shared, &incoming, &request.model).await?;
        if let Answerer::Model(routes) = &answerer
            && let Some(route) = routes.first().filter(|route| route.upstream.contract != ContractMode::Enforce)
        {
            // Boxed, because it is rare and would make every request's future larger.
            let passed = Box::pin(pass_through(shared, &incoming, route, &request, turn)).await;
            return passed.map(Prepared::Passthrough);
        }
        let (stream, writer) = (request.stream, writer(&request));
        let turn = ChatTurn { endpoint: Self::ENDPOINT, request: (request, turn), answerer, writer };
        let session = chat_session(shared, &incoming, turn).await?;
        Ok(if stream { Prepared::Stream(session) } else { Prepared::Whole(session) })
    }
}

fn writer(request: &ChatRequest) -> ChatWriter {
    let id = format!("chatcmpl-{}", random::letters::<24>());
    let stamp = Stamp { id, created: clock::seconds(), model: request.model.clone(), form: request.form };
    match request.stream {
        true => ChatWriter::stream(&stamp, request.include_usage),
        false => ChatWriter::whole(stamp),
    }
}

/// The server's own bytes, for servers whose contract mode is `observe` or `off`.
async fn pass_through(
    shared: &Shared,
    incoming: &Incoming,
    route: &Route,
    request: &ChatRequest,
    turn: TurnRequest,
) -> Result<axum::response::Response, ApiError> {
    let (requester, upstream) = (&incoming.requester, &route.upstream);
    incoming.log.upstream(&upstream.url);
    incoming.log.contract(upstream.contract.as_str());
    let about = TurnStart {
        client: requester.traced(Chat::ENDPOINT, incoming.recorded.as_deref()),
        request_id: &incoming.id,
        ..TurnStart::of(request)
    };
    let mut trace = shared.app.traces.begin(&about);
    let (busy, mut retries) = (upstream.begin(), shared.app.settings.limits.retries);
    let sent = loop {
        let (headers, body) = (trace.begin_request(route, false), request.upstream_body(&ModelCall::default()));
        let failure = match shared.client.chat(upstream, requester.authorization.as_ref(), headers, body).await {
            Ok(sent) => break sent,
            Err(failure) => failure,
        };
        upstream.failed(&incoming.id, &failure);
        trace.record(TraceEvent::RequestFailed(&failure));
        if retries == 0 || !upstream.restarts_after(&failure) {
            trace.record(TraceEvent::Failed(&failure.to_api()));
            return Err(failure.to_api());
        }
        retries -= 1;
    };
    trace.record(TraceEvent::ReplyBegun);
    let observer =
        (upstream.contract == ContractMode::Observe).then(|| Observer::new(&shared.app.settings, turn, sent.is_stream));
    let kind = if sent.is_stream { reply::EVENT_STREAM } else { reply::JSON };
    let source = ReplySource { upstream: Arc::clone(upstream), request_id: incoming.id.clone(), busy };
    let idle = shared.app.settings.timeouts.idle;
    let reply = ReplyInTransit { body: sent.body, idle, source: Some(source) };
    let mut response = reply::with_type(Body::from_stream(passthrough(reply, observer, trace)), kind);
    response.headers_mut().insert(reply::CONTRACT, HeaderValue::from_static(upstream.contract.as_str()));
    Ok(response)
}
