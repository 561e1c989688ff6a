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
use crate::telemetry::metrics;
use crate::upstream::{Failure, RawHead, RawReply, RawRequest, ReplyInTransit, ReplySource, Route};

const ENDPOINT: &str = "passthrough";

/// What a server needs to know of the request beside its body.
const PASSED_ON: [HeaderName; 4] =
    [CONTENT_TYPE, ACCEPT, HeaderName::from_static("traceparent"), HeaderName::from_static("tracestate")];

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
    (requester, mut request): (&Requester, RawRequest),
    held: Held,
) -> Result<Response, ApiError> {
    let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let model = ModelField::find(content_type, &request.body)?;
    model.iter().for_each(|model| arrival.log.model(&model.name));
    let routes = routes(shared, requester, &request, model.as_ref()).await?;
    let whole = request.body.clone();
    let mut last = Err(ApiError::no_upstream());
    for (number, route) in routes.iter().enumerate() {
        request.body = match model.as_ref().filter(|model| model.name != route.model) {
            Some(model) => model.replaced(&whole, &route.model).into(),
            None => whole.clone(),
        };
        arrival.log.upstream(&route.upstream.url);
        let busy = route.upstream.begin();
        let sent = shared.client.pass_on(&route.upstream, requester.authorization.as_ref(), &request).await;
        let failure = failure_of(&sent);
        failure.into_iter().for_each(|failure| route.upstream.failed(&arrival.id, failure));
        let is_last = number + 1 == routes.len() || !failure.is_some_and(Failure::is_upstream_fault);
        last = match sent {
            Ok(RawReply::Success(head, body)) => {
                let source =
                    ReplySource { upstream: Arc::clone(&route.upstream), request_id: arrival.id.clone(), busy };
                let idle = shared.app.settings.timeouts.idle;
                let reply = ReplyInTransit { body, idle, source: Some(source) };
                return Ok(response(head, holding(Body::from_stream(reply.pieces()), held)));
            }
            Ok(RawReply::Refused(head, body, _)) => Ok(response(head, Body::from(body))),
            Err(failure) => Err(failure.to_api()),
        };
        if is_last {
            break;
        }
    }
    last
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
    let path = request.path.split('?').next().unwrap_or_default();
    if shared.app.characters.for_model(name)?.is_some() {
        return Err(ApiError::model_not_supported("a character", name, path));
    }
    let routes = model_routes(shared, requester, name).await?;
    if routes.iter().any(|route| route.upstream.local.is_some()) {
        return Err(ApiError::model_not_supported("the built-in model", name, path));
    }
    Ok(routes)
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
