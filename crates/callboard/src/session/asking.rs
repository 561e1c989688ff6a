//! Asking a model server: which one, in which form, and what to do when it refuses or fails.
//!
//! As long as nothing of a reply has been passed on, a failed request goes to the next server that has the model, and to the
//! same one again where waiting helps. A refusal that names a field is learned, and the request is sent again without it.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use callboard_core::turn::ModelCall;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::chat::adapt::{Family, Quirk, adapt, heal, learn_all};
use http::HeaderValue;
use serde_json::Value;
use tokio::time::Sleep;

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
    /// How far it has come.
    pub under_way: UnderWay,
}

/// A reply that has begun, and the load it is for its server.
pub(super) struct Asked {
    pub(super) reply: Reply,
    pub(super) busy: Busy,
}

/// How far asking has come, between two looks at it.
#[derive(Default)]
pub struct UnderWay {
    /// How often all servers were asked, and have failed.
    tries: usize,
    /// How many of them have failed this time.
    failed: usize,
    /// What the first one refused this time, and what was known of it before.
    lessons: Vec<Failure>,
    known_before: BTreeSet<Quirk>,
    awaited: Option<Awaited>,
}

type AwaitedReply = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send>>;

/// What is waited for.
enum Awaited {
    // Nobody locks it: it makes the future one that may be looked at from several threads, as all that belongs to a turn.
    Reply(Mutex<AwaitedReply>, Busy),
    Pause(Pin<Box<Sleep>>),
}

impl Asking {
    /// Asks until a server answers, or none is left. Dropped before that and begun again, it goes on with what is under way.
    pub(super) async fn send(
        &mut self,
        request: &ChatRequest,
        ask: &ModelCall,
        trace: &mut TraceRecorder,
    ) -> Result<Asked, Failure> {
        loop {
            match &mut self.under_way.awaited {
                None => self.ask_first(request, ask, trace)?,
                Some(Awaited::Pause(pause)) => {
                    pause.as_mut().await;
                    self.under_way.awaited = None;
                }
                Some(Awaited::Reply(reply, _)) => {
                    let answer = reply.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().await;
                    if let Some(outcome) = self.take(answer, request, ask, trace) {
                        self.under_way = UnderWay::default();
                        return outcome;
                    }
                }
            }
        }
    }

    /// True when a server has been asked and has not answered.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.awaited.is_some()
    }

    /// Sends the request to the first server in line.
    fn ask_first(&mut self, request: &ChatRequest, ask: &ModelCall, trace: &mut TraceRecorder) -> Result<(), Failure> {
        let route = self.routes.first();
        let route = route.ok_or_else(|| Failure::Unreachable("there is no server for this model".to_owned()))?;
        let (busy, body) = (route.upstream.begin(), body_for(route, request, ask));
        if self.under_way.lessons.is_empty() {
            self.under_way.known_before = route.upstream.learned.of(&route.model);
        }
        let traced = trace.asks(route, !ask.appended.is_empty());
        let (client, upstream, key) = (self.client.clone(), Arc::clone(&route.upstream), self.authorization.clone());
        let reply: AwaitedReply = Box::pin(async move { client.chat(&upstream, key.as_ref(), traced, body).await });
        self.under_way.awaited = Some(Awaited::Reply(Mutex::new(reply), busy));
        Ok(())
    }

    /// What came of a request; nothing where another one is to be sent.
    fn take(
        &mut self,
        answer: Result<Reply, Failure>,
        request: &ChatRequest,
        ask: &ModelCall,
        trace: &mut TraceRecorder,
    ) -> Option<Result<Asked, Failure>> {
        let (Some(Awaited::Reply(_, busy)), Some(route)) = (self.under_way.awaited.take(), self.routes.first()) else {
            return None;
        };
        match answer {
            Ok(reply) => {
                trace.answered();
                metrics::upstream_reply(&route.upstream.url, "ok");
                Some(Ok(Asked { reply, busy }))
            }
            Err(failure) => {
                trace.lost(&failure);
                let may_learn = self.under_way.lessons.len() < MOST_LESSONS;
                if may_learn && self.learns(route, request, ask, &failure, trace) {
                    self.under_way.lessons.push(failure);
                    return None;
                }
                self.end_lessons(&failure);
                self.move_on(failure).map(Err)
            }
        }
    }

    /// Who says the same again was misunderstood.
    fn end_lessons(&mut self, failure: &Failure) {
        let lessons = std::mem::take(&mut self.under_way.lessons);
        if let Some(route) = self.routes.first()
            && lessons.iter().any(|lesson| lesson.refusal() == failure.refusal())
        {
            route.upstream.learned.forget_all_but(&route.model, &self.under_way.known_before);
        }
    }

    /// Goes on to the next server, and from the last one to all of them again where waiting helps; else the failure comes back.
    fn move_on(&mut self, failure: Failure) -> Option<Failure> {
        if failure.is_the_servers() {
            self.give_up_on_first(&failure);
            self.under_way.failed += 1;
            if self.under_way.failed < self.routes.len() {
                return None;
            }
        }
        let under_way = &mut self.under_way;
        let Some(wait) = failure.retry_after().filter(|_| under_way.tries < self.retries) else { return Some(failure) };
        under_way.failed = 0;
        under_way.tries += 1;
        let wait = with_jitter(wait * u32::try_from(under_way.tries).unwrap_or(1));
        under_way.awaited = Some(Awaited::Pause(Box::pin(tokio::time::sleep(wait))));
        None
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

    /// True when a refusal taught something new about the server.
    fn learns(
        &self,
        route: &Route,
        request: &ChatRequest,
        ask: &ModelCall,
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
fn body_for(route: &Route, request: &ChatRequest, ask: &ModelCall) -> Vec<u8> {
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
