//! A turn on its way out: its events as a stream of chunks, or folded into one body.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use callboard_core::contract::Report;
use callboard_core::model::Usage;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::{ChunkWriter, Completion, Stamp};
use futures_util::stream;
use http::{HeaderMap, HeaderValue};
use tokio::sync::watch;

use super::limit::Ticket;
use super::reply;
use super::router::Arrival;
use crate::session::Progress;
use crate::shutdown::shutdown_requested;
use crate::stage::Run;
use crate::telemetry::metrics;

/// The events folded into one body.
pub(super) async fn whole(mut run: Run, stamp: &Stamp) -> Response {
    let mut completion = Completion::default();
    loop {
        match run.next().await {
            Progress::Events(events) => events.into_iter().for_each(|event| completion.event(event)),
            Progress::KeepAlive => {}
            Progress::Failed(error) => return failed(&error, run.report()),
            Progress::Complete(finish, usage) => {
                let usage = run.counted_usage(usage);
                let mut response = reply::json(completion.finish(stamp, finish, &usage));
                let headers = response.headers_mut();
                headers.insert(reply::CONTRACT, reply::header(&run.report().to_string()));
                mark_estimate(headers, &usage);
                return response;
            }
        }
    }
}

/// A failure, with what was done before it came to that.
pub(super) fn failed(error: &ApiError, report: &Report) -> Response {
    let mut response = reply::error(error);
    if !report.is_clean() {
        response.headers_mut().insert(reply::CONTRACT, reply::header(&report.to_string()));
    }
    response
}

pub(super) fn mark_estimate(headers: &mut HeaderMap, usage: &Usage) {
    if usage.estimated {
        headers.insert(reply::USAGE, HeaderValue::from_static("estimated"));
    }
}

/// A stream of chunks. It begins with the first event, so that a failure before it is an error with its own status.
pub(super) async fn streamed(
    run: Run,
    writer: ChunkWriter,
    endpoint: &'static str,
    arrival: &Arrival,
    ticket: Ticket,
) -> Response {
    let ending = arrival.ending.clone();
    let mut outlet = Box::new(Outlet { run, writer, over: false, ending, _ticket: ticket });
    let first = loop {
        let piece = match outlet.run.next().await {
            Progress::Failed(error) => return failed(&error, outlet.run.report()),
            progress => outlet.write(progress),
        };
        // Calls that run here are not told: of a reply with nothing else the client has seen nothing.
        if !piece.is_empty() || outlet.run.scene().is_none() {
            break piece;
        }
    };
    metrics::first_byte(endpoint, arrival.at.elapsed());
    let body = stream::unfold((Some(first), outlet), |(first, mut outlet)| async move {
        let bytes = match first {
            // Whoever leaves before this has seen nothing.
            Some(first) => {
                outlet.run.mark_seen();
                first
            }
            None if outlet.over => return None,
            None => {
                let progress = outlet.next().await;
                outlet.write(progress)
            }
        };
        Some((Ok::<_, std::convert::Infallible>(bytes), (None, outlet)))
    });
    event_stream(Body::from_stream(body))
}

/// A response of events, which nobody on the way may keep or hold back.
pub(super) fn event_stream(body: Body) -> Response {
    let mut response = reply::with_type(body, reply::EVENT_STREAM);
    response.headers_mut().insert("cache-control", HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Outlet {
    run: Run,
    writer: ChunkWriter,
    over: bool,
    ending: watch::Receiver<bool>,
    _ticket: Ticket,
}

impl Outlet {
    /// Goes on until there is something to say, or the program ends.
    async fn next(&mut self) -> Progress {
        tokio::select! {
            biased;
            progress = self.run.next() => return progress,
            () = shutdown_requested(&mut self.ending) => {}
        }
        let error = ApiError::stopping_midway();
        self.run.fail(&error);
        Progress::Failed(error)
    }

    fn write(&mut self, progress: Progress) -> Bytes {
        let mut out = String::new();
        match progress {
            Progress::Events(events) => events.into_iter().for_each(|event| self.writer.event(event, &mut out)),
            Progress::KeepAlive => out.push_str(": keep-alive\n\n"),
            Progress::Failed(error) => {
                self.over = true;
                if !self.run.report().is_clean() {
                    out.push_str(&format!(": callboard-contract {}\n\n", self.run.report()));
                }
                out.push_str(&error.to_event());
            }
            Progress::Complete(finish, usage) => {
                self.over = true;
                let usage = self.run.counted_usage(usage);
                self.writer.finish(finish, Some(&usage), self.run.report(), &mut out);
            }
        }
        out.into()
    }
}
