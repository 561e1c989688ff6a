//! Turns as spans: the turn itself, each request to a model server in it, and each tool that was run.
//!
//! A character's turn is an agent that was invoked; a turn of the gateway is a server's span. Tokens are told where they were
//! spent, on the requests, so that adding up a trace counts none of them twice.

use callboard_core::turn::ToolOutcome;
use serde_json::{Value, json};

use super::super::{RunBy, ToolCall, TraceContext, TurnTrace, UpstreamRequest};
use super::attributes::Attributes;
use super::server_address::ServerAddress;
use super::span::{Frame, Kind, Span};
use super::{Collector, messages};

/// The version of the semantic conventions whose names are used.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is sent to a collector.
pub fn request(collector: &Collector, traces: &[TurnTrace]) -> Value {
    let mut about = Attributes::default().text("service.name", &collector.service).text("service.version", VERSION);
    for (name, value) in &collector.resource {
        about = about.text(name, value);
    }
    let spans: Vec<Value> = traces.iter().flat_map(spans).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": about.into_value()},
        "scopeSpans": [{"scope": {"name": "callboard", "version": VERSION}, "spans": spans, "schemaUrl": SCHEMA}],
    }]})
}

/// All spans of one turn, the turn itself first.
fn spans(trace: &TurnTrace) -> Vec<Value> {
    let TraceContext { trace_id, parent_span_id, state, .. } = trace.context.clone();
    let mut frame = Frame { trace_id, parent: parent_span_id, state, started_at_ms: trace.started_at_ms };
    let root = turn(trace, &frame);
    let mut all = vec![root.into_value(&frame)];
    frame.parent = Some(trace.context.span_id.clone());
    let last = trace.upstream_requests.len().saturating_sub(1);
    for (number, request) in trace.upstream_requests.iter().enumerate() {
        all.push(chat(trace, request, (number == 0, number == last)).into_value(&frame));
    }
    let run = trace.tool_calls.iter().filter(|call| call.run_by == RunBy::Character && call.duration_ms.is_some());
    all.extend(run.map(|call| tool(trace, call).into_value(&frame)));
    all
}

fn turn(trace: &TurnTrace, frame: &Frame) -> Span {
    let mut span = match &trace.character {
        Some(name) => invoked(trace, name),
        None => Span::new(format!("turn {}", trace.model), Kind::Server, Default::default(), trace.duration_ms),
    };
    span.id.clone_from(&trace.context.span_id);
    span.attributes = std::mem::take(&mut span.attributes)
        .some_text("gen_ai.conversation.id", trace.conversation.as_deref())
        .some_text("gen_ai.response.id", trace.response.as_deref())
        .text("callboard.endpoint", trace.endpoint)
        .text("callboard.request_id", &trace.request_id)
        .text("callboard.model", &trace.model)
        .text("callboard.outcome", trace.outcome.as_str())
        .truth("callboard.tools_offered", trace.tools_offered)
        .number("callboard.rounds", trace.rounds.into())
        .number("callboard.calls.made", trace.calls.made)
        .number("callboard.calls.in_violation", trace.calls.in_violation());
    if let Some(first_word) = trace.first_word_ms {
        let micros = u64::try_from(first_word.0.as_micros()).unwrap_or(u64::MAX);
        span.attributes = std::mem::take(&mut span.attributes).number("callboard.first_word_us", micros);
    }
    span.error = trace.error.as_ref().map(|error| error.code.clone());
    span.events = events(trace, frame);
    span
}

/// A character's turn.
fn invoked(trace: &TurnTrace, name: &str) -> Span {
    let mut span = Span::new(format!("invoke_agent {name}"), Kind::Internal, Default::default(), trace.duration_ms);
    let provider =
        trace.upstream_requests.first().map_or("callboard", |request| ServerAddress::of(&request.url).provider);
    span.attributes = Attributes::default()
        .text("gen_ai.operation.name", "invoke_agent")
        .text("gen_ai.provider.name", provider)
        .text("gen_ai.agent.id", name)
        .text("gen_ai.agent.name", name)
        .text("gen_ai.request.model", &trace.model)
        .list_of("gen_ai.response.finish_reasons", trace.finish_reason);
    if let Some(said) = &trace.input.messages {
        let attributes = std::mem::take(&mut span.attributes);
        span.attributes = attributes
            .text("gen_ai.input.messages", &messages::input(said))
            .text("gen_ai.output.messages", &messages::output(trace));
    }
    span
}

/// What was done to keep the contract, and calls that left for the client.
fn events(trace: &TurnTrace, frame: &Frame) -> Vec<Value> {
    let contract = trace.contract.iter().map(|note| {
        let about = Attributes::default()
            .text("callboard.violation", note.violation)
            .text("callboard.contract.outcome", note.outcome);
        frame.event("callboard.contract", note.at_ms, about)
    });
    let left = trace.tool_calls.iter().filter(|call| call.run_by == RunBy::Client).map(|call| {
        let about = Attributes::default().text("gen_ai.tool.name", &call.name).text("gen_ai.tool.call.id", &call.id);
        frame.event("callboard.tool_call", call.start_ms, about)
    });
    contract.chain(left).collect()
}

/// One request to a model server.
fn chat(trace: &TurnTrace, request: &UpstreamRequest, (first, last): (bool, bool)) -> Span {
    let ServerAddress { provider, host, port } = ServerAddress::of(&request.url);
    let kind = if host.is_some() { Kind::Client } else { Kind::Internal };
    let mut span = Span::new(format!("chat {}", request.model), kind, request.start_ms, request.duration_ms);
    span.id.clone_from(&request.span_id);
    let mut about = Attributes::default()
        .text("gen_ai.operation.name", "chat")
        .text("gen_ai.provider.name", provider)
        .text("gen_ai.request.model", &request.model)
        .some_text("gen_ai.response.model", request.answered_by.as_deref())
        .some_text("gen_ai.conversation.id", trace.conversation.as_deref())
        .some_text("gen_ai.agent.name", trace.character.as_deref())
        .list_of("gen_ai.response.finish_reasons", request.finish_reason)
        .some_text("server.address", host.as_deref());
    if let Some(port) = port {
        about = about.number("server.port", port.into());
    }
    if let Some(first) = request.first_byte_ms {
        let waited = first.0.saturating_sub(request.start_ms.0);
        about = about.seconds("gen_ai.response.time_to_first_chunk", waited);
    }
    if let Some(usage) = request.usage {
        about = about
            .number("gen_ai.usage.input_tokens", usage.prompt_tokens)
            .number("gen_ai.usage.output_tokens", usage.completion_tokens);
    }
    if let (None, Some(said)) = (&trace.character, &trace.input.messages) {
        let (input, output) = (first.then(|| messages::input(said)), last.then(|| messages::output(trace)));
        about = about
            .some_text("gen_ai.input.messages", input.as_deref())
            .some_text("gen_ai.output.messages", output.as_deref());
    }
    if !request.learned.is_empty() {
        about = about.text("callboard.learned", &request.learned.join(","));
    }
    span.attributes = about;
    span.error = request
        .failed()
        .then(|| request.status.map_or_else(|| request.outcome.to_owned(), |status| status.to_string()));
    span
}

/// A tool that was run here.
fn tool(trace: &TurnTrace, call: &ToolCall) -> Span {
    let duration = call.duration_ms.unwrap_or_default();
    let mut span = Span::new(format!("execute_tool {}", call.name), Kind::Internal, call.start_ms, duration);
    span.attributes = Attributes::default()
        .text("gen_ai.operation.name", "execute_tool")
        .text("gen_ai.tool.name", &call.name)
        .text("gen_ai.tool.type", "function")
        .text("gen_ai.tool.call.id", &call.id)
        .some_text("gen_ai.agent.name", trace.character.as_deref())
        .some_text("gen_ai.conversation.id", trace.conversation.as_deref())
        .some_text("gen_ai.tool.call.arguments", call.arguments.as_deref())
        .some_text("gen_ai.tool.call.result", call.result.as_deref())
        .truth("callboard.changed_state", call.changed_state.unwrap_or_default());
    // A call that the user's leaving kept from its end is no success either.
    let wrong = |outcome: ToolOutcome| match outcome {
        ToolOutcome::Cancelled => Some(outcome.as_str()),
        outcome => outcome.error_type(),
    };
    span.error = call.outcome.and_then(wrong).map(str::to_owned);
    span
}
