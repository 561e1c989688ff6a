//! Asking a model server: which one, in which form, and what to do when it refuses or fails.
//!
//! As long as nothing of a reply has been passed on, a failed request goes to the next server that has the model, and to the
//! same one again where waiting helps. A refusal that names a field is learned, and the request is sent again without it.

use callboard_core::turn::Ask;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::chat::adapt::{Family, Quirk, adapt, heal, learn_all};
use http::HeaderValue;
use serde_json::Value;

use crate::random;
use crate::telemetry::metrics;
use crate::trace::TraceRecorder;
use crate::upstream::{Busy, Client, Failure, Reply, Route};

/// How many refusals of one server are learned from within one request.
const MOST_LESSONS: usize = 6;

/// Where a session asks.
pub struct Asking {
    /// The servers for the model, the one to ask first in front.
    pub routes: Vec<Route>,
    /// The way to them.
    pub client: Client,
    /// The client's own key, for servers that have none configured.
    pub authorization: Option<HeaderValue>,
    /// How often a busy or missing server is asked again.
    pub retries: usize,
    /// Names the request in the log.
    pub request_id: String,
}

/// A reply that has begun, and the load it is for its server.
pub(super) struct Asked {
    pub(super) reply: Reply,
    pub(super) busy: Busy,
}

impl Asking {
    /// Asks until a server answers, or none is left.
    pub(super) async fn send(
        &mut self,
        request: &ChatRequest,
        ask: &Ask,
        trace: &mut TraceRecorder,
    ) -> Result<Asked, Failure> {
        let mut tries = 0;
        loop {
            let failure = match self.ask_each(request, ask, trace).await {
                Ok(asked) => return Ok(asked),
                Err(failure) => failure,
            };
            let Some(wait) = failure.retry_after().filter(|_| tries < self.retries) else { return Err(failure) };
            tries += 1;
            tokio::time::sleep(with_jitter(wait * u32::try_from(tries).unwrap_or(1))).await;
        }
    }

    async fn ask_each(
        &mut self,
        request: &ChatRequest,
        ask: &Ask,
        trace: &mut TraceRecorder,
    ) -> Result<Asked, Failure> {
        let mut last = None;
        for _ in 0..self.routes.len() {
            match self.ask_first(request, ask, trace).await {
                Ok(asked) => return Ok(asked),
                Err(failure) if failure.is_the_servers() => {
                    self.give_up_on_first(&failure);
                    last = Some(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(last.unwrap_or_else(|| Failure::Unreachable("there is no server for this model".to_owned())))
    }

    /// The first server goes to the end of the line.
    pub(super) fn give_up_on_first(&mut self, failure: &Failure) {
        let Some(route) = self.routes.first() else { return };
        tracing::warn!(request_id = self.request_id, upstream = route.upstream.url, %failure, "the model server failed");
        metrics::upstream_reply(&route.upstream.url, failure.word());
        route.upstream.note(Some(failure));
        self.routes.rotate_left(1);
    }

    /// True when the first server is to be asked once more, in another way.
    pub(super) fn has_another_way(&mut self, failure: &Failure) -> bool {
        self.routes.first_mut().is_some_and(|route| route.has_another_way(failure))
    }

    /// A whole reply came from the first server.
    pub(super) fn succeeded(&self) {
        if let Some(route) = self.routes.first() {
            route.upstream.note(None);
        }
    }

    async fn ask_first(&self, request: &ChatRequest, ask: &Ask, trace: &mut TraceRecorder) -> Result<Asked, Failure> {
        let route = self.routes.first().ok_or_else(|| Failure::Unreachable("no server".to_owned()))?;
        let (mut lessons, before) = (Vec::new(), route.upstream.learned.of(&route.model));
        loop {
            let busy = route.upstream.begin();
            let body = body_for(route, request, ask);
            let traced = trace.asks(route, !ask.appended.is_empty());
            let failure = match self.client.chat(&route.upstream, self.authorization.as_ref(), traced, body).await {
                Ok(reply) => {
                    trace.answered();
                    metrics::upstream_reply(&route.upstream.url, "ok");
                    return Ok(Asked { reply, busy });
                }
                Err(failure) => failure,
            };
            trace.lost(&failure);
            if lessons.len() >= MOST_LESSONS || !self.learns(route, request, ask, &failure, trace) {
                // Who says the same again was misunderstood.
                if lessons.iter().any(|lesson: &Failure| lesson.refusal() == failure.refusal()) {
                    route.upstream.learned.forget_all_but(&route.model, &before);
                }
                return Err(failure);
            }
            lessons.push(failure);
        }
    }

    /// True when a refusal taught something new about the server.
    fn learns(
        &self,
        route: &Route,
        request: &ChatRequest,
        ask: &Ask,
        failure: &Failure,
        trace: &mut TraceRecorder,
    ) -> bool {
        let Some(refusal) = failure.refusal() else { return false };
        let sent: Value = serde_json::from_slice(&body_for(route, request, ask)).unwrap_or_default();
        let (upstream, model, request_id) = (&route.upstream.url, &route.model, &self.request_id);
        let mut new = false;
        for quirk in learn_all(&refusal, &sent) {
            tracing::info!(request_id, upstream, model, %quirk, "the model server refuses this; it is left out from now on");
            metrics::learned(upstream, quirk.as_str());
            trace.learned(quirk.as_str());
            new |= route.upstream.learned.add(&route.model, quirk);
        }
        new
    }
}

/// The request in the form that this server takes.
fn body_for(route: &Route, request: &ChatRequest, ask: &Ask) -> Vec<u8> {
    let body = request.upstream_body(ask);
    let (mut quirks, family) = (route.upstream.learned.of(&route.model), Family::of(&route.model));
    if family == Family::Kimi {
        quirks.insert(Quirk::IndexedCallIds);
    }
    if quirks.is_empty() && route.model == request.model && !request.needs_healing && !route.whole {
        return body;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return body };
    if let Some(model) = value.get_mut("model") {
        *model = route.model.as_str().into();
    }
    if let Some(Value::Array(messages)) = value.get_mut("messages") {
        heal(messages);
    }
    if let Some(fields) = value.as_object_mut().filter(|_| route.whole) {
        ["stream", "stream_options"].iter().for_each(|field| drop(fields.shift_remove(*field)));
    }
    adapt(&mut value, &quirks, family);
    value.to_string().into_bytes()
}

/// A time and up to half of it more, so that those who failed together do not come back together, and none too early.
fn with_jitter(wait: std::time::Duration) -> std::time::Duration {
    let [byte] = random::bytes::<1>();
    wait + wait.mul_f64(f64::from(byte) / 512.0)
}
