//! `/v1/responses` over HTTP: made, streamed or whole; looked at, listed and deleted later.

use axum::extract::{Path, RawQuery, Request, State};
use axum::response::Response;
use callboard_core::model::BadRequest;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{Framing, PageQuery, ResponsesRequest, response_deleted};
use http::HeaderMap;

use super::body::read_body;
use super::query;
use super::reply;
use super::respond::{Manner, respond};
use super::response_outlet::{streamed, whole};
use super::router::{Arrival, Shared};
use super::running::Asker;
use crate::responses::input_of;
use crate::telemetry::metrics;
use crate::{clock, store};

/// The name of this endpoint in the metrics.
pub(super) const ENDPOINT: &str = "responses";

/// Makes a response.
pub(super) async fn create(State(shared): State<Shared>, request: Request) -> Response {
    let Some(arrival) = request.extensions().get::<Arrival>().cloned() else {
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
    let asker = Asker::of(shared, request.headers());
    let body = read_body(request, &shared.app.settings).await?;
    // Behind the body: whoever sends it slowly keeps nobody else out.
    let ticket = shared.in_flight.enter()?;
    let request = ResponsesRequest::read(body)?;
    let manner = if request.stream { Manner::Streamed(Framing::ServerSent) } else { Manner::Whole };
    let turn = respond(shared, &arrival.id, request, asker, manner, None).await?;
    Ok(match manner {
        Manner::Streamed(_) => streamed(turn, arrival, ticket).await,
        Manner::Whole => whole(turn).await,
    })
}

/// A stored response.
pub(super) async fn one(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    reply::result(async {
        let pairs = query::pairs(query.as_deref().unwrap_or_default())?;
        if pairs.iter().any(|(key, value)| key == "stream" && value == "true") {
            let message = "a response that is stored cannot be streamed again; leave stream out to get it whole";
            return Err(BadRequest::at("stream", "unsupported_parameter", message).into());
        }
        Ok(reply::json(stored(&shared, &id, &headers).await?.to_text()?))
    })
    .await
}

/// Deletes a stored response.
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    reply::result(async {
        stored(&shared, &id, &headers).await?;
        // What was said in it may be on its way to the store.
        shared.app.traces.flush().await;
        shared.store.delete_response(&id, clock::milliseconds()).await?;
        Ok(reply::json(response_deleted(&id).to_string()))
    })
    .await
}

/// What went into a stored response, page by page.
pub(super) async fn input_items(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    reply::result(async {
        let pairs = query::pairs(query.as_deref().unwrap_or_default())?;
        let page = PageQuery::read(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())))?;
        let response = stored(&shared, &id, &headers).await?;
        let items = input_of(&shared.store, &response.said).await?;
        Ok(reply::json(page.page(&items)?.to_string()))
    })
    .await
}

/// No response is in the background, so none can be cancelled.
pub(super) async fn cancel(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    reply::result(async {
        stored(&shared, &id, &headers).await?;
        Err(ApiError::response_not_cancellable(&id))
    })
    .await
}

async fn stored(shared: &Shared, id: &str, headers: &HeaderMap) -> Result<store::Response, ApiError> {
    let owner = Asker::of(shared, headers).owner;
    let found = shared.store.response(id, clock::milliseconds()).await?;
    found.filter(|response| response.said.owner == owner).ok_or_else(|| ApiError::response_not_found(id))
}
