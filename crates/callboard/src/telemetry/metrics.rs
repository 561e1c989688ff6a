//! Counters and timings for `/metrics`. Labels are words from closed sets, never what a client sent.

use std::time::Duration;

use callboard_core::contract::Report;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

use super::character_metrics;

const SECONDS: [f64; 14] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0];

/// Starts the recorder; the handle renders the metrics.
pub fn start() -> Result<PrometheusHandle, BuildError> {
    let tools = Matcher::Full("character_tool_latency_seconds".to_owned());
    let recorder = PrometheusBuilder::new()
        .set_buckets(&SECONDS)?
        .set_buckets_for_metric(tools, &character_metrics::TOOL_SECONDS)?
        .build_recorder();
    let handle = recorder.handle();
    // A second start in one process (as in tests) keeps the first recorder.
    if metrics::set_global_recorder(recorder).is_ok() {
        describe();
        character_metrics::describe();
    }
    Ok(handle)
}

fn describe() {
    describe_counter!("callboard_requests_total", "Requests by endpoint and status");
    describe_histogram!("callboard_request_seconds", "Time until the reply was whole, by endpoint");
    describe_histogram!("callboard_first_byte_seconds", "Time until the first byte of a reply, by endpoint");
    describe_gauge!("callboard_in_flight", "Requests being answered");
    describe_counter!("callboard_contract_total", "Broken promises of models by violation and outcome");
    describe_counter!("callboard_upstream_requests_total", "Requests to model servers by outcome");
    describe_counter!("callboard_upstream_learned_total", "What model servers were found to refuse");
    describe_counter!(
        "callboard_upstream_restarts_total",
        "Ends of model servers that Callboard starts, each followed by a new start"
    );
    describe_counter!("callboard_upstream_probes_total", "Probes of what model servers ignore, by outcome");
    describe_counter!("callboard_tokens_total", "Tokens by kind, as the model servers count them");
}

/// A request has been answered.
pub fn request(endpoint: &'static str, status: u16, took: Duration) {
    counter!("callboard_requests_total", "endpoint" => endpoint, "status" => status.to_string()).increment(1);
    histogram!("callboard_request_seconds", "endpoint" => endpoint).record(took.as_secs_f64());
}

/// The first byte of a reply was sent.
pub fn first_byte(endpoint: &'static str, took: Duration) {
    histogram!("callboard_first_byte_seconds", "endpoint" => endpoint).record(took.as_secs_f64());
}

/// The number of requests being answered has changed.
pub fn in_flight(change: f64) {
    gauge!("callboard_in_flight").increment(change);
}

/// The contract report of one turn.
pub fn contract(report: &Report) {
    for event in report.events() {
        counter!("callboard_contract_total", "violation" => event.violation, "outcome" => event.outcome.as_str())
            .increment(1);
    }
}

/// A model server has answered or failed.
pub fn upstream_reply(upstream: &str, outcome: &'static str) {
    counter!("callboard_upstream_requests_total", "upstream" => upstream.to_owned(), "outcome" => outcome).increment(1);
}

/// A model server refused something that requests then leave out.
pub fn learned(upstream: &str, quirk: &'static str) {
    counter!("callboard_upstream_learned_total", "upstream" => upstream.to_owned(), "quirk" => quirk).increment(1);
}

/// A model server that Callboard starts has ended, and is started again.
pub fn upstream_restart(upstream: &str) {
    counter!("callboard_upstream_restarts_total", "upstream" => upstream.to_owned()).increment(1);
}

/// A model server was probed.
pub fn probe(upstream: &str, outcome: &'static str) {
    counter!("callboard_upstream_probes_total", "upstream" => upstream.to_owned(), "outcome" => outcome).increment(1);
}

/// Tokens were spent.
pub fn tokens(prompt: u64, completion: u64) {
    counter!("callboard_tokens_total", "kind" => "prompt").increment(prompt);
    counter!("callboard_tokens_total", "kind" => "completion").increment(completion);
}
