//! The routes, and what happens to every request on its way in and out: key, number, name, time.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use callboard_core::wire::ApiError;
use tokio::sync::{mpsc, watch};

use super::allowed_hosts::AllowedHosts;
use super::chat::Chat;
use super::compact::Compact;
use super::cors::{self, CorsOrigins};
use super::delivery::serve;
use super::in_flight_limit::InFlight;
use super::keys::Keys;
use super::request_log::RequestLog;
use super::responses::Responses;
use super::{
    bad_call_comments, calls, character_prompt, character_tools, characters, conversations, events, golden_pages,
    health_and_metrics, models, page, passthrough, reply, request_id, responses, socket, traces, upstream_findings,
    upstreams,
};
use crate::conversation::ChatSnapshots;
use crate::percent;
use crate::services::Services;
use crate::shutdown_requested::shutdown_requested;
use crate::store::Store;
use crate::upstream::Client;

/// What a handler has at hand: the app, and this thread's connections.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) app: Arc<Services>,
    pub(super) keys: Keys,
    pub(super) allowed_hosts: AllowedHosts,
    pub(super) cors_origins: CorsOrigins,
    pub(super) client: Client,
    pub(super) store: Store,
    pub(super) chat_snapshots: ChatSnapshots,
    pub(super) in_flight: InFlight,
    /// True when the program is to end.
    pub(super) stopping: watch::Receiver<bool>,
    /// True when it has waited long enough.
    pub(super) ending: watch::Receiver<bool>,
    /// Held by every open WebSocket, so that their end can be waited for.
    pub(super) sockets: mpsc::Sender<()>,
}

/// What a router needs of the thread that it serves on.
pub struct ThreadServices {
    /// This thread's connections to model servers.
    pub client: Client,
    /// This thread's handle to the store.
    pub store: Store,
    /// True when the program is to end.
    pub stopping: watch::Receiver<bool>,
    /// True when it has waited long enough for those whom it serves.
    pub ending: watch::Receiver<bool>,
    /// Held by every open WebSocket.
    pub sockets: mpsc::Sender<()>,
}

/// The name and the start of the request that is being handled.
#[derive(Clone)]
pub(super) struct Arrival {
    pub(super) id: String,
    pub(super) at: Instant,
    pub(super) log: RequestLog,
    /// Whether a stream shows the calls that were not valid.
    pub(super) shows_bad_calls: bool,
    /// True when the program ends and waits no longer.
    pub(super) ending: watch::Receiver<bool>,
}

impl Arrival {
    /// The reply to a request that is refused.
    pub(super) fn refused(&self, error: &ApiError) -> Response {
        tracing::debug!(request_id = self.id, code = error.code, param = error.param, "refused");
        reply::error(error)
    }
}

/// The router of one thread.
pub fn router(app: Arc<Services>, thread: ThreadServices) -> Router {
    let in_flight = InFlight::new(Arc::clone(&app.in_flight), app.settings.limits.in_flight);
    let keys = Keys::new(Arc::clone(&app.api_keys));
    let allowed_hosts = AllowedHosts::new(&app.settings.hosts, &app.settings.passthrough_paths);
    let cors_origins = CorsOrigins::new(&app.settings.cors_origins);
    let ThreadServices { client, store, stopping, ending, sockets } = thread;
    let chat_snapshots = ChatSnapshots::new(store.clone());
    let shared = Shared {
        app,
        keys,
        allowed_hosts,
        cors_origins,
        client,
        store,
        chat_snapshots,
        in_flight,
        stopping,
        ending,
        sockets,
    };
    Router::new()
        .route("/v1/chat/completions", post(serve::<Chat>))
        .route("/v1/responses", post(serve::<Responses>).get(socket::open))
        .route("/v1/responses/compact", post(serve::<Compact>))
        .route("/v1/responses/{id}", get(responses::one).delete(responses::delete))
        .route("/v1/responses/{id}/input_items", get(responses::input_items))
        .route("/v1/responses/{id}/cancel", post(responses::cancel))
        .merge(conversations::routes())
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .route("/v1/characters", get(characters::list))
        .route("/v1/characters/reload", post(characters::reload))
        .route("/v1/characters/{id}", get(characters::one))
        .route("/v1/characters/{id}/prompt", get(character_prompt::one))
        .route("/v1/characters/{id}/tools/{name}", post(character_tools::call))
        .route("/v1/upstreams", get(upstreams::list))
        .route("/v1/upstreams/probe", post(upstream_findings::probe))
        .route("/v1/upstreams/forget", post(upstream_findings::forget))
        .route("/v1/events", get(events::subscribe))
        .route("/v1/traces", get(traces::list))
        .route("/v1/traces/{id}", get(traces::one))
        .route("/v1/traces/{id}/golden_page", get(golden_pages::one))
        .route("/v1/calls", get(calls::list))
        .route("/v1/calls/summary", get(calls::summary))
        .merge(page::routes())
        .route("/metrics", get(health_and_metrics::metrics))
        .route("/health", get(health_and_metrics::health))
        .route("/ready", get(health_and_metrics::ready))
        .fallback(passthrough::unrouted)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(shared.clone(), around))
        .with_state(shared)
}

async fn around(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    let mut ending = shared.ending.clone();
    let id = request_id::of(request.headers());
    let log = RequestLog::begin(&request, &id);
    let shows_bad_calls = bad_call_comments::are_asked_for(request.headers());
    let arrival = Arrival { id, at: Instant::now(), log, shows_bad_calls, ending: ending.clone() };
    let page = shared.cors_origins.allowed(request.headers(), shared.keys.is_open());
    let mut response = match admit(&shared, &request, page.is_some()) {
        Err(error) => arrival.refused(&error),
        Ok(()) if page.is_some() && cors::is_preflight(&request) => cors::preflight(request.headers()),
        Ok(()) => {
            request.extensions_mut().insert(arrival.clone());
            tokio::select! {
                biased;
                response = next.run(request) => response,
                () = shutdown_requested(&mut ending) => arrival.refused(&ApiError::stopping()),
            }
        }
    };
    if let Some(page) = page {
        cors::expose(&mut response, page);
    }
    response.headers_mut().insert(request_id::REQUEST_ID, request_id::header(&arrival.id));
    arrival.log.status(response.status().as_u16());
    if let Some(reply::ErrorCode(code)) = response.extensions().get() {
        arrival.log.error(code);
    }
    response
}

/// Without keys the host and the page that a request names decide; with keys, the key, which browsers do not send when they ask.
fn admit(shared: &Shared, request: &Request, is_allowed_page: bool) -> Result<(), ApiError> {
    let path = request.uri().path();
    if is_allowed_page && cors::is_preflight(request) {
        return Ok(());
    }
    if shared.keys.is_open() {
        // Links on other pages may lead here.
        shared.allowed_hosts.check(request, is_allowed_page || page::is_page(path))?;
    } else if !matches!(path, "/health" | "/ready") && !page::is_page(path) && !shared.keys.admit(request.headers()) {
        return Err(ApiError::invalid_api_key());
    }
    percent::decoded(path).map_or_else(|| Err(ApiError::unreadable_path()), |_| Ok(()))
}

async fn wrong_method(request: Request<Body>) -> Response {
    reply::error(&ApiError::wrong_method(request.method().as_str(), request.uri().path()))
}
