//! Requests that are passed through to the server that has the model: embeddings, audio, images and the like. Neither they nor their
//! replies are checked or changed, except for a model's alias.

use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Method};

use super::body::{RequestBody, read_raw_body};
use super::chat_session::model_routes;
use super::client_connection::ClientConnection;
use super::delivery::{Held, for_client, holding};
use super::model_field::ModelField;
use super::passthrough_paths::is_passed_through;
use super::reply;
use super::requester::Requester;
use super::router::{Arrival, Shared};
use crate::session::passthrough;
use crate::telemetry::metrics;
use crate::trace::{PassedThrough, TraceEvent, TraceRecorder, TurnStart};
use crate::upstream::{Failure, InFlight, RawHead, RawReply, RawRequest, ReplyInTransit, ReplySource, Route};

const ENDPOINT: &str = "passthrough";

/// What a server needs to know of the request beside its body and its trace.
const PASSED_ON: [HeaderName; 2] = [CONTENT_TYPE, ACCEPT];

/// Handles all paths that have no route of their own.
pub(super) async fn unrouted(State(shared): State<Shared>, request: Request) -> Response {
    let Some(arrival) = request.extensions().get::<Arrival>().cloned() else {
        return reply::error(&ApiError::new(500, "no_request_id", "the request has no id"));
    };
    let (method, path) = (request.method(), request.uri().path());
    if !is_passed_through(path, &shared.app.settings.passthrough_paths) {
        return arrival.refused(&ApiError::unknown_path(method.as_str(), path));
    }
    if method != Method::POST {
        return arrival.refused(&ApiError::wrong_method(method.as_str(), path));
    }
    let response = answer(&shared, &arrival, request).await.unwrap_or_else(|error| arrival.refused(&error));
    metrics::request(ENDPOINT, response.status().as_u16(), arrival.at.elapsed());
    response
}

async fn answer(shared: &Shared, arrival: &Arrival, request: Request) -> Result<Response, ApiError> {
    let requester = Requester::of(shared, request.headers());
    let client = request.extensions().get::<Arc<ClientConnection>>().cloned();
    let (version, path) = (request.version(), path_and_query(&request));
    let headers = passed_on(request.headers());
    let RequestBody { bytes, memory } = read_raw_body(request, shared).await?;
    // Taken after the body, so slow uploads hold no slot.
    let held = Held::new(shared.in_flight.enter()?, memory, arrival.log.clone());
    let request = RawRequest { path, headers, body: bytes.into() };
    let reply = pin!(reply(shared, arrival, (&requester, request), held));
    match client {
        Some(client) => for_client(&client, version, reply).await,
        None => reply.await,
    }
}

fn path_and_query(request: &Request) -> String {
    request.uri().path_and_query().map_or_else(String::new, ToString::to_string)
}

fn passed_on(headers: &HeaderMap) -> HeaderMap {
    let mut passed = HeaderMap::new();
    for name in PASSED_ON {
        for value in headers.get_all(&name) {
            passed.append(name.clone(), value.clone());
        }
    }
    passed
}

async fn reply(
    shared: &Shared,
    arrival: &Arrival,
    (requester, request): (&Requester, RawRequest),
    held: Held,
) -> Result<Response, ApiError> {
    let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let model = ModelField::find(content_type, &request.body)?;
    model.iter().for_each(|model| arrival.log.model(&model.name));
    let routes = routes(shared, requester, &request, model.as_ref()).await?;
    let trace = shared.app.traces.begin(&about(arrival, requester, &request, model.as_ref()));
    let mut exchange = Exchange { shared, arrival, requester, model: model.as_ref(), request, trace };
    let mut routes = routes.iter().peekable();
    while let Some(route) = routes.next() {
        let busy = route.upstream.begin();
        let sent = exchange.send(route).await;
        let is_fault = failure_of(&sent).is_some_and(Failure::is_upstream_fault);
        if !is_fault || routes.peek().is_none() {
            return exchange.answer(sent, (route, busy), held);
        }
    }
    Err(ApiError::no_upstream())
}

/// A request on its way to one server, and to the next where that fails.
struct Exchange<'a> {
    shared: &'a Shared,
    arrival: &'a Arrival,
    requester: &'a Requester,
    model: Option<&'a ModelField>,
    /// As the client sent it.
    request: RawRequest,
    trace: TraceRecorder,
}

impl Exchange<'_> {
    /// Sends it, and again to a server that Callboard has started again meanwhile.
    async fn send(&mut self, route: &Route) -> Result<RawReply, Failure> {
        let mut sent = self.send_once(route).await;
        for _ in 0..self.shared.app.settings.limits.retries {
            if !failure_of(&sent).is_some_and(|failure| route.upstream.restarts_after(failure)) {
                break;
            }
            sent = self.send_once(route).await;
        }
        sent
    }

    async fn send_once(&mut self, route: &Route) -> Result<RawReply, Failure> {
        let Self { shared, arrival, requester, trace, .. } = self;
        let mut request = self.request.clone();
        if let Some(model) = self.model.filter(|model| model.name != route.model) {
            request.body = model.replaced(&request.body, &route.model).into();
        }
        request.headers.extend(trace.begin_request(route, false));
        arrival.log.upstream(&route.upstream.url);
        let sent = shared.client.pass_on(&route.upstream, requester.authorization.as_ref(), &request).await;
        if let Some(failure) = failure_of(&sent) {
            route.upstream.failed(&arrival.id, failure);
            trace.record(TraceEvent::RequestFailed(failure));
        }
        sent
    }

    /// The reply as it came, traced until it ends.
    fn answer(
        mut self,
        sent: Result<RawReply, Failure>,
        (route, busy): (&Route, InFlight),
        held: Held,
    ) -> Result<Response, ApiError> {
        if let Some(failure) = failure_of(&sent) {
            self.trace.record(TraceEvent::Failed(&with_status(failure.to_api(), &sent)));
        }
        let (head, body) = match sent {
            Ok(RawReply::Success(head, body)) => (head, body),
            Ok(RawReply::Refused(head, body, _)) => return Ok(response(head, Body::from(body))),
            Err(failure) => return Err(failure.to_api()),
        };
        self.trace.record(TraceEvent::ReplyBegun);
        self.trace.record(TraceEvent::ReplyStatus(head.status.as_u16()));
        let source = ReplySource { upstream: Arc::clone(&route.upstream), request_id: self.arrival.id.clone(), busy };
        let reply = ReplyInTransit { body, idle: self.shared.app.settings.timeouts.idle, source: Some(source) };
        Ok(response(head, holding(Body::from_stream(passthrough(reply, None, self.trace)), held)))
    }
}

/// What its trace says from the beginning. Bodies are never recorded: they may be of any kind and size.
fn about<'a>(
    arrival: &'a Arrival,
    requester: &'a Requester,
    request: &RawRequest,
    model: Option<&'a ModelField>,
) -> TurnStart<'a> {
    TurnStart {
        client: requester.traced(ENDPOINT, None),
        request_id: &arrival.id,
        model: model.map_or("", |model| &model.name),
        input_bytes: request.body.len(),
        passed_through: Some(PassedThrough { method: "POST", path: without_query(&request.path).to_owned() }),
        ..TurnStart::default()
    }
}

fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// The servers for the request. Without a model it can only be for the one server there is.
async fn routes(
    shared: &Shared,
    requester: &Requester,
    request: &RawRequest,
    model: Option<&ModelField>,
) -> Result<Vec<Route>, ApiError> {
    let Some(ModelField { name, .. }) = model else {
        let missing = || BadRequest::missing("model", "model is missing; there are several model servers, or none");
        return Ok(vec![shared.app.upstreams.only_route().ok_or_else(missing)?]);
    };
    let path = without_query(&request.path);
    if shared.app.characters.for_model(name)?.is_some() {
        return Err(ApiError::model_not_supported("a character", name, path));
    }
    let routes = model_routes(shared, requester, name).await?;
    if routes.iter().any(|route| route.upstream.local.is_some()) {
        return Err(ApiError::model_not_supported("the built-in model", name, path));
    }
    Ok(routes)
}

/// The error with the status that the client gets.
fn with_status(error: ApiError, sent: &Result<RawReply, Failure>) -> ApiError {
    match sent {
        Ok(RawReply::Refused(head, ..)) => ApiError { status: head.status.as_u16(), ..error },
        _ => error,
    }
}

fn failure_of(sent: &Result<RawReply, Failure>) -> Option<&Failure> {
    match sent {
        Ok(RawReply::Success(..)) => None,
        Ok(RawReply::Refused(_, _, failure)) | Err(failure) => Some(failure),
    }
}

fn response(head: RawHead, body: Body) -> Response {
    let mut response = (head.status, body).into_response();
    *response.headers_mut() = head.headers;
    response
}
