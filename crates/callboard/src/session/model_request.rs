//! A request to a model: which server gets it, in which form, and what happens when that server refuses or fails.
//!
//! As long as nothing was sent to the client, a failed request is retried on the next server that has the model, and after a backoff on
//! the same one. What a server refuses is learned, and the request is sent again without it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use callboard_core::model::{Finish, Usage};
use callboard_core::turn::ModelCall;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::chat::adapt::constrain::is_refused;
use callboard_core::wire::chat::adapt::{Constraint, Lessons, Support};
use http::HeaderValue;
use serde_json::Value;
use tokio::time::Sleep;

use super::outgoing_request::{Decision, OutgoingRequest, outgoing_request};
use super::tool_decision::{self, DecisionReply};
use crate::random;
use crate::telemetry::metrics;
use crate::trace::{TraceEvent, TraceRecorder};
use crate::upstream::{Client, Failure, InFlight, Reply, Route};

/// A request on its way to one of several model servers.
pub(super) struct ModelRequest {
    /// The servers for the model; the first is asked.
    routes: Vec<Route>,
    client: Client,
    /// The client's own key, for servers that have none configured.
    authorization: Option<HeaderValue>,
    /// How often a busy or unreachable server is retried.
    retries: usize,
    request_id: String,
    attempt: Attempt,
}

/// A reply whose headers have arrived, and its share of the server's load.
pub(super) struct StartedReply {
    pub(super) reply: Reply,
    pub(super) busy: InFlight,
    /// What it took to decide which tool is called, where that was asked first.
    pub(super) extra_usage: Vec<Usage>,
}

/// Progress between two polls of [`ModelRequest::send`].
#[derive(Default)]
struct Attempt {
    /// How often all servers were asked, and have failed.
    tries: usize,
    /// How many of them have failed this time.
    failed: usize,
    /// What the first one refused this time, and what is tried instead.
    lessons: Lessons,
    /// Which tool the model calls, where that was asked first, and what it took to ask.
    decision: Option<Decision>,
    decision_usage: Vec<Usage>,
    pending: Option<Pending>,
}

type PendingReply<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

/// What is waited for.
enum Pending {
    // Never locked: the mutex only makes the future `Sync`.
    Reply(Mutex<PendingReply<Reply>>, InFlight),
    Decision(Mutex<PendingReply<DecisionReply>>, Constraint),
    Backoff(Pin<Box<Sleep>>),
}

impl ModelRequest {
    pub(super) fn new(
        routes: Vec<Route>,
        client: Client,
        authorization: Option<HeaderValue>,
        retries: usize,
        request_id: String,
    ) -> Self {
        Self { routes, client, authorization, retries, request_id, attempt: Attempt::default() }
    }

    pub(super) fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The server that is asked.
    pub(super) fn upstream(&self) -> Option<&str> {
        self.routes.first().map(|route| route.upstream.url.as_str())
    }

    /// Waits for what a probe finds out about the first server, for a moment and only where one is due.
    pub(super) async fn wait_for_probe(&self) {
        if let Some(route) = self.routes.first() {
            route.upstream.wait_for_probe(&route.model).await;
        }
    }

    /// Sends until a server answers or none is left. Cancel safe: a later call continues with the request in flight.
    pub(super) async fn send(
        &mut self,
        request: &ChatRequest,
        ask: &ModelCall,
        trace: &mut TraceRecorder,
    ) -> Result<StartedReply, Failure> {
        loop {
            match &mut self.attempt.pending {
                None => self.send_to_first(request, ask, trace)?,
                Some(Pending::Backoff(sleep)) => {
                    sleep.as_mut().await;
                    self.attempt.pending = None;
                }
                Some(Pending::Decision(reply, constraint)) => {
                    let constraint = *constraint;
                    let answer = reply.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().await;
                    self.take_decision(answer, constraint, (request, ask), trace)?;
                }
                Some(Pending::Reply(reply, _)) => {
                    let answer = reply.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut().await;
                    if let Some(outcome) = self.take(answer, request, ask, trace) {
                        self.attempt = Attempt::default();
                        return outcome;
                    }
                }
            }
        }
    }

    /// Whether a request is in flight.
    pub(super) fn is_in_flight(&self) -> bool {
        self.attempt.pending.is_some()
    }

    /// Sends the request, or the question before it, to the first server.
    fn send_to_first(
        &mut self,
        request: &ChatRequest,
        ask: &ModelCall,
        trace: &mut TraceRecorder,
    ) -> Result<(), Failure> {
        let route = self.routes.first();
        let route = route.ok_or_else(|| Failure::Unusable("there is no server for this model".to_owned()))?;
        let busy = route.upstream.begin();
        let traced = trace.begin_request(route, !ask.appended.is_empty());
        let (client, upstream, key) = (self.client.clone(), Arc::clone(&route.upstream), self.authorization.clone());
        let body = match self.outgoing(route, request, ask) {
            OutgoingRequest::Chat(body) => body,
            OutgoingRequest::Question(body, question, constraint) => {
                let reply: PendingReply<DecisionReply> = Box::pin(async move {
                    let _busy = busy;
                    tool_decision::ask(client, &upstream, key.as_ref(), traced, body, &question).await
                });
                self.attempt.pending = Some(Pending::Decision(Mutex::new(reply), constraint));
                return Ok(());
            }
        };
        let reply: PendingReply<Reply> =
            Box::pin(async move { client.chat(&upstream, key.as_ref(), traced, body).await });
        self.attempt.pending = Some(Pending::Reply(Mutex::new(reply), busy));
        Ok(())
    }

    fn outgoing(&self, route: &Route, request: &ChatRequest, ask: &ModelCall) -> OutgoingRequest {
        let Attempt { lessons, decision, .. } = &self.attempt;
        outgoing_request(route, request, ask, lessons.quirks(), decision.as_ref())
    }

    /// Keeps the decision for the request that follows. A server that is not known to constrain its answer, and did not, is asked in another
    /// way; where there is none, or one that did so before failed to, the tools go into the prompt.
    fn take_decision(
        &mut self,
        answer: Result<DecisionReply, Failure>,
        constraint: Constraint,
        (request, ask): (&ChatRequest, &ModelCall),
        trace: &mut TraceRecorder,
    ) -> Result<(), Failure> {
        self.attempt.pending = None;
        let Some(route) = self.routes.first() else { return Ok(()) };
        let (profiles, feature) = (&route.upstream.profiles, constraint.feature());
        let is_known = profiles.get(&route.model).capabilities.get(feature).is_some();
        let found = |support| (!is_known).then(|| profiles.found(&route.model, feature, support)).is_some();
        let decision = match answer {
            Ok(reply) => {
                reply.record(trace);
                self.attempt.decision_usage.extend(reply.usage);
                let is_whole = reply.finish != Some(Finish::Length);
                match reply.decision {
                    Some(decision) => {
                        found(Support::Honored);
                        Some(Decision::Made(decision))
                    }
                    None => (!is_whole || !found(Support::Ignored)).then_some(Decision::Missing),
                }
            }
            Err(failure) => {
                trace.record(TraceEvent::RequestFailed(&failure));
                let Some(refusal) = failure.refusal().filter(|_| !failure.is_upstream_fault()) else {
                    return self.move_on(failure).map_or(Ok(()), Err);
                };
                let (OutgoingRequest::Chat(sent) | OutgoingRequest::Question(sent, ..)) =
                    self.outgoing(route, request, ask);
                let sent: Value = serde_json::from_slice(&sent).unwrap_or_default();
                let is_refused = is_refused(constraint, &refusal, &sent);
                (!is_refused || !found(Support::Refused)).then_some(Decision::Missing)
            }
        };
        self.attempt.decision = decision;
        Ok(())
    }

    /// The outcome of a request; none where another one is to be sent.
    fn take(
        &mut self,
        answer: Result<Reply, Failure>,
        request: &ChatRequest,
        ask: &ModelCall,
        trace: &mut TraceRecorder,
    ) -> Option<Result<StartedReply, Failure>> {
        let (Some(Pending::Reply(_, busy)), Some(route)) = (self.attempt.pending.take(), self.routes.first()) else {
            return None;
        };
        match answer {
            Ok(reply) => {
                trace.record(TraceEvent::ReplyBegun);
                self.keep_lessons(route);
                let extra_usage = std::mem::take(&mut self.attempt.decision_usage);
                Some(Ok(StartedReply { reply, busy, extra_usage }))
            }
            Err(failure) => {
                trace.record(TraceEvent::RequestFailed(&failure));
                let (OutgoingRequest::Chat(sent) | OutgoingRequest::Question(sent, ..)) =
                    self.outgoing(route, request, ask);
                if self.attempt.adapts_to(&failure, &sent, trace) {
                    return None;
                }
                self.attempt.lessons = Lessons::default();
                self.move_on(failure).map(Err)
            }
        }
    }

    /// Remembers what the server needed to take the request.
    fn keep_lessons(&self, route: &Route) {
        let (upstream, model, request_id) = (&route.upstream.url, &route.model, &self.request_id);
        for quirk in self.attempt.lessons.quirks() {
            if route.upstream.profiles.learn(model, quirk.clone()) {
                tracing::info!(request_id, upstream, model, %quirk, "learned upstream quirk");
                metrics::learned(upstream, quirk.as_str());
            }
        }
    }

    /// Moves on to the next server, and from the last one to a retry after a backoff; returns the failure where neither helps.
    fn move_on(&mut self, failure: Failure) -> Option<Failure> {
        self.failed(&failure);
        let retry_after = self.routes.first().and_then(|route| route.upstream.retry_after(&failure));
        if failure.is_upstream_fault() {
            self.routes.rotate_left(1);
            self.attempt.decision = None;
            self.attempt.failed += 1;
            if self.attempt.failed < self.routes.len() {
                return None;
            }
        }
        let attempt = &mut self.attempt;
        let Some(wait) = retry_after.filter(|_| attempt.tries < self.retries) else { return Some(failure) };
        attempt.failed = 0;
        attempt.tries += 1;
        let wait = with_jitter(wait * u32::try_from(attempt.tries).unwrap_or(1));
        attempt.pending = Some(Pending::Backoff(Box::pin(tokio::time::sleep(wait))));
        None
    }

    /// How many replies may be lost to such a failure of the first server before there is none left to ask: each other server is asked once,
    /// and one that is started again as often as it is retried.
    pub(super) fn most_lost_replies(&self, failure: &Failure) -> usize {
        let restarts = self.routes.first().is_some_and(|route| route.upstream.restarts_after(failure));
        self.routes.len().saturating_sub(1) + if restarts { self.retries } else { 0 }
    }

    /// Moves the first server, whose reply was lost, to the end of the list.
    pub(super) fn demote_first(&mut self) {
        self.routes.rotate_left(1);
    }

    /// Whether the first server is to be asked once more, in another way.
    pub(super) fn has_another_way(&mut self, failure: &Failure) -> bool {
        self.routes.first_mut().is_some_and(|route| route.has_another_way(failure))
    }

    /// Records that the first server gave no complete reply.
    pub(super) fn failed(&self, failure: &Failure) {
        self.routes.first().into_iter().for_each(|route| route.upstream.failed(&self.request_id, failure));
    }

    /// Records a complete reply of the first server.
    pub(super) fn succeeded(&self) {
        self.routes.first().into_iter().for_each(|route| route.upstream.succeeded());
    }
}

impl Attempt {
    /// Whether the request is to be sent in another form after this failure.
    fn adapts_to(&mut self, failure: &Failure, sent: &[u8], trace: &mut TraceRecorder) -> bool {
        let Some(refusal) = failure.refusal() else { return false };
        let sent: Value = serde_json::from_slice(sent).unwrap_or_default();
        let adapts = self.lessons.refused(&refusal, &sent);
        self.lessons.trying().filter(|_| adapts).for_each(|quirk| trace.record(TraceEvent::Learned(quirk.as_str())));
        adapts
    }
}

/// The time plus up to half of it, so that clients that failed together do not retry together.
fn with_jitter(wait: std::time::Duration) -> std::time::Duration {
    let [byte] = random::bytes::<1>();
    wait + wait.mul_f64(f64::from(byte) / 512.0)
}
