//! A response on its way out over HTTP: as server-sent events, or as one object.

use axum::body::Body;
use axum::response::Response;
use callboard_core::wire::ApiError;
use futures_util::stream;
use tokio::sync::watch;

use super::limit::Ticket;
use super::outlet::{event_stream, failed, mark_estimate};
use super::reply;
use super::responses::ENDPOINT;
use super::router::Arrival;
use crate::responses::{ResponseTurn, Step};
use crate::shutdown::shutdown_requested;
use crate::telemetry::metrics;

const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// The events folded into one object.
pub(super) async fn whole(mut turn: ResponseTurn) -> Response {
    loop {
        match turn.next(None).await {
            Step::Piece(_) | Step::KeepAlive => {}
            Step::Failed(error, _) => return failed(&error, &turn.report()),
            Step::Over(_, usage) => {
                let mut response = reply::json(turn.to_text());
                let headers = response.headers_mut();
                headers.insert(reply::CONTRACT, reply::header(&turn.report().to_string()));
                mark_estimate(headers, &usage);
                return response;
            }
        }
    }
}

/// A stream of events. It begins with the first that are told, so that a failure before them has its own status.
pub(super) async fn streamed(mut turn: ResponseTurn, arrival: &Arrival, ticket: Ticket) -> Response {
    let mut over = false;
    let first = match turn.next(None).await {
        Step::Failed(error, text) if text.is_empty() => return failed(&error, &turn.report()),
        step => text_of(step, &mut turn, &mut over),
    };
    metrics::first_byte(ENDPOINT, arrival.at.elapsed());
    let turn = (Box::new(turn), arrival.ending.clone());
    let body = stream::unfold((Some(first), turn, over, ticket), |(first, turn, mut over, ticket)| async move {
        let (mut turn, mut ending) = turn;
        let text = match first {
            // Whoever leaves before this has seen nothing.
            Some(first) => {
                turn.mark_seen();
                first
            }
            None if over => return None,
            None => {
                let step = next(&mut turn, &mut ending).await;
                text_of(step, &mut turn, &mut over)
            }
        };
        Some((Ok::<_, std::convert::Infallible>(text), (None, (turn, ending), over, ticket)))
    });
    event_stream(Body::from_stream(body))
}

/// Goes on until there is something to tell, or the program ends.
async fn next(turn: &mut ResponseTurn, ending: &mut watch::Receiver<bool>) -> Step {
    tokio::select! {
        biased;
        step = turn.next(None) => return step,
        () = shutdown_requested(ending) => {}
    }
    turn.fail(ApiError::stopping_midway()).await
}

fn text_of(step: Step, turn: &mut ResponseTurn, over: &mut bool) -> String {
    match step {
        Step::Piece(text) => text,
        // A stream that has begun can only fail as a response that has begun.
        Step::KeepAlive => turn.begin() + KEEP_ALIVE,
        Step::Over(text, _) => {
            *over = true;
            text
        }
        Step::Failed(_, text) => {
            *over = true;
            let report = turn.report();
            if report.is_clean() { text } else { format!(": callboard-contract {report}\n\n{text}") }
        }
    }
}
