//! The log line of each request, written once when its reply is over: what was asked, who answered, how it ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use callboard_core::wire::ReplyWriter;
use http::{Method, Request};

use crate::session::Session;

/// Names that clients choose are cut.
const LONGEST: usize = 200;
/// What monitoring asks for every few seconds is logged at debug level.
const MONITORING: [&str; 3] = ["/health", "/ready", "/metrics"];

/// The line of one request. Clones share it, and the last one writes it; nothing is kept where the level of the log is too low.
#[derive(Clone, Default)]
pub(super) struct RequestLog(Option<Arc<Line>>);

struct Line {
    request_id: String,
    method: &'static str,
    path: String,
    begun: Instant,
    outcome: Mutex<Outcome>,
}

#[derive(Default)]
struct Outcome {
    status: u16,
    model: Option<String>,
    upstream: Option<String>,
    contract: Option<String>,
    error: Option<String>,
    /// Whether a stream has begun and not ended.
    is_open: bool,
}

impl RequestLog {
    /// The line of a request that begins now.
    pub(super) fn begin<B>(request: &Request<B>, request_id: &str) -> Self {
        Self::new(method_name(request.method()), request.uri().path(), request_id)
    }

    /// The line of a request that is a message on a WebSocket.
    pub(super) fn of_message(path: &str, request_id: &str) -> Self {
        Self::new("WEBSOCKET", path, request_id)
    }

    fn new(method: &'static str, path: &str, request_id: &str) -> Self {
        let is_written = match MONITORING.contains(&path) {
            true => tracing::enabled!(tracing::Level::DEBUG),
            false => tracing::enabled!(tracing::Level::INFO),
        };
        Self(is_written.then(|| {
            Arc::new(Line {
                request_id: request_id.to_owned(),
                method,
                path: cut(path).to_owned(),
                begun: Instant::now(),
                outcome: Mutex::default(),
            })
        }))
    }

    /// The reply has this status.
    pub(super) fn status(&self, status: u16) {
        self.change(|outcome| outcome.status = status);
    }

    /// The request names this model.
    pub(super) fn model(&self, model: &str) {
        self.change(|outcome| outcome.model = Some(cut(model).to_owned()));
    }

    /// This server is asked.
    pub(super) fn upstream(&self, url: &str) {
        self.change(|outcome| outcome.upstream = Some(url.to_owned()));
    }

    /// What was done to keep the contract.
    pub(super) fn contract(&self, report: &str) {
        self.change(|outcome| outcome.contract = Some(report.to_owned()));
    }

    /// The request ends with this error.
    pub(super) fn error(&self, code: &str) {
        self.change(|outcome| outcome.error = Some(code.to_owned()));
    }

    /// A stream begins.
    pub(super) fn stream_begins(&self) {
        self.change(|outcome| outcome.is_open = true);
    }

    /// The turn of a session is over.
    pub(super) fn turn_ends<W: ReplyWriter>(&self, session: &Session<W>, error: Option<&str>) {
        self.change(|outcome| {
            outcome.is_open = false;
            outcome.upstream = session.upstream().map(str::to_owned);
            outcome.contract = Some(session.contract());
            outcome.error = error.map(str::to_owned);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Outcome)) {
        if let Some(line) = &self.0 {
            change(&mut line.outcome());
        }
    }
}

impl Line {
    fn outcome(&self) -> MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Self { request_id, method, path, begun, outcome } = self;
        let Outcome { status, model, upstream, contract, error, is_open } =
            outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
        let error = error.as_deref().or(is_open.then_some("client_disconnected"));
        let (model, upstream, contract) = (model.as_deref(), upstream.as_deref(), contract.as_deref());
        let ms = (begun.elapsed().as_secs_f64() * 10_000.0).round() / 10.0;
        if MONITORING.contains(&path.as_str()) {
            tracing::debug!(method, path, status, ms, request_id, "request");
        } else {
            tracing::info!(method, path, model, upstream, status, contract, error, ms, request_id, "request");
        }
    }
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}
