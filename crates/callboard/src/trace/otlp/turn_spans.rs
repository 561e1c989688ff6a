//! Turns as spans: the turn itself, each request to a model server in it, and each tool that was run or refused here.
//!
//! A character's turn is an invoked agent; a turn of the gateway is a server's span. Tokens are attributes of the requests only,
//! so that the sum over a trace counts none of them twice.

use callboard_core::turn::ToolOutcome;
use serde_json::{Value, json};

use super::super::{BadCall, Millis, PassedThrough, RecordedCall, RunBy, ToolCall, TurnTrace, UpstreamRequest};
use super::server_address::ServerAddress;
use super::span::{Attributes, Span, SpanKind, event};
use super::{Collector, chat_messages};
use crate::{hex, random};

/// The version of the semantic conventions whose names are used.
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.37.0";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The body of an export request.
pub fn request(collector: &Collector, traces: &[TurnTrace]) -> Value {
    let mut resource = Attributes::default();
    resource.text("service.name", collector.service.as_str()).text("service.version", VERSION);
    for (name, value) in &collector.resource {
        resource.text(name, value.as_str());
    }
    let spans: Vec<Value> = traces.iter().flat_map(spans).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource.0},
        "scopeSpans": [{"scope": {"name": "callboard", "version": VERSION}, "spans": spans, "schemaUrl": SCHEMA}],
    }]})
}

/// All spans of one turn, the turn itself first.
fn spans(trace: &TurnTrace) -> Vec<Value> {
    let root = turn(trace).into_value(trace.context.parent_span_id.as_deref(), trace);
    let last = trace.upstream_requests.len().saturating_sub(1);
    let requests = trace.upstream_requests.iter().enumerate();
    let requests = requests.map(|(number, request)| chat(trace, request, (number == 0, number == last)));
    let is_here = |call: &&ToolCall| {
        let is_refused = call.outcome.is_some_and(ToolOutcome::is_refused);
        call.run_by == RunBy::Character && (call.duration_ms.is_some() || is_refused)
    };
    let children = requests.chain(trace.tool_calls.iter().filter(is_here).map(|call| tool(trace, call)));
    [root].into_iter().chain(children.map(|span| span.into_value(Some(&trace.context.span_id), trace))).collect()
}

fn turn(trace: &TurnTrace) -> Span {
    let (name, kind, mut attributes) = match &trace.character {
        Some(character) => (format!("invoke_agent {character}"), SpanKind::Internal, agent(trace, character)),
        None => (gateway_name(trace), SpanKind::Server, gateway(trace)),
    };
    let first_word = trace.first_word_ms.map(|first| u64::try_from(first.0.as_micros()).unwrap_or(u64::MAX));
    attributes
        .text("gen_ai.conversation.id", trace.conversation.as_deref())
        .text("gen_ai.response.id", trace.response.as_deref())
        .text("callboard.endpoint", trace.endpoint)
        .text("callboard.request_id", trace.request_id.as_str())
        .text("callboard.model", trace.model.as_str())
        .text("callboard.outcome", trace.outcome.as_str())
        .truth("callboard.tools_offered", trace.tools_offered)
        .number("callboard.rounds", u64::from(trace.rounds))
        .number("callboard.calls.made", trace.calls.made)
        .number("callboard.calls.in_violation", trace.calls.in_violation())
        .number("callboard.first_word_us", first_word);
    Span {
        id: trace.context.span_id.clone(),
        name,
        kind,
        start: Millis::default(),
        duration: trace.duration_ms,
        attributes,
        events: events(trace),
        error: trace.error.as_ref().map(|error| error.code.clone()),
    }
}

/// The name of a span of the gateway.
fn gateway_name(trace: &TurnTrace) -> String {
    match &trace.passed_through {
        Some(PassedThrough { method, path }) => format!("{method} {path}"),
        None => format!("turn {}", trace.model),
    }
}

/// The attributes that only a request has that was passed through.
fn gateway(trace: &TurnTrace) -> Attributes {
    let mut attributes = Attributes::default();
    if let Some(PassedThrough { method, path }) = &trace.passed_through {
        attributes.text("http.request.method", *method).text("url.path", path.as_str());
    }
    attributes
}

/// What a model server is asked for, in the words of the conventions; none where they have no word.
fn operation(trace: &TurnTrace) -> Option<&'static str> {
    match trace.passed_through.as_ref().map(|passed| passed.path.as_str()) {
        None => Some("chat"),
        Some("/v1/embeddings") => Some("embeddings"),
        Some("/v1/completions") => Some("text_completion"),
        Some(_) => None,
    }
}

/// The attributes that only a character's turn has.
fn agent(trace: &TurnTrace, character: &str) -> Attributes {
    let first = trace.upstream_requests.first();
    let provider = first.map_or("callboard", |request| ServerAddress::of(&request.url).provider);
    let mut attributes = Attributes::default();
    attributes
        .text("gen_ai.operation.name", "invoke_agent")
        .text("gen_ai.provider.name", provider)
        .text("gen_ai.agent.id", character)
        .text("gen_ai.agent.name", character)
        .text("gen_ai.request.model", trace.model.as_str())
        .list_of("gen_ai.response.finish_reasons", trace.finish_reason);
    if let Some(input) = &trace.input.messages {
        attributes
            .text("gen_ai.input.messages", chat_messages::input(input).as_str())
            .text("gen_ai.output.messages", chat_messages::output(trace).as_str());
    }
    attributes
}

/// Violations of the contract, and calls for the client.
fn events(trace: &TurnTrace) -> Vec<Value> {
    let contract = trace.contract.iter().map(|note| {
        let texts = [("callboard.violation", note.violation), ("callboard.contract.outcome", note.outcome)];
        event(trace, "callboard.contract", note.at_ms, texts)
    });
    let for_client = trace.tool_calls.iter().filter(|call| call.run_by == RunBy::Client).map(|call| {
        let texts = [("gen_ai.tool.name", call.name.as_str()), ("gen_ai.tool.call.id", call.id.as_str())];
        event(trace, "callboard.tool_call", call.start_ms, texts)
    });
    contract.chain(for_client).chain(trace.bad_calls.iter().map(|call| bad_call(trace, call))).collect()
}

/// A call that was not valid as the model wrote it.
fn bad_call(trace: &TurnTrace, call: &BadCall) -> Value {
    let (violations, paths) = (call.violations.join(","), call.paths.join(","));
    let arguments = |call: Option<&RecordedCall>| call.map_or_else(String::new, |call| call.arguments.clone());
    let (before, after) = (arguments(call.before.as_ref()), arguments(call.after.first()));
    let texts = [
        ("gen_ai.tool.name", call.tool.as_str()),
        ("callboard.contract.outcome", call.outcome),
        ("callboard.violation", violations.as_str()),
        ("callboard.paths", paths.as_str()),
        ("callboard.reason", call.reason.as_deref().unwrap_or_default()),
        ("callboard.arguments.before", before.as_str()),
        ("callboard.arguments.after", after.as_str()),
    ];
    event(trace, "callboard.bad_call", trace.duration_ms, texts.into_iter().filter(|(_, text)| !text.is_empty()))
}

/// One request to a model server.
fn chat(trace: &TurnTrace, request: &UpstreamRequest, (first, last): (bool, bool)) -> Span {
    let ServerAddress { provider, host, port } = ServerAddress::of(&request.url);
    let input = trace.input.messages.as_ref().filter(|_| trace.character.is_none());
    let output = input.filter(|_| last).map(|_| chat_messages::output(trace));
    let input = input.filter(|_| first).map(|input| chat_messages::input(input));
    let learned = Some(request.learned.join(",")).filter(|learned| !learned.is_empty());
    let mut attributes = Attributes::default();
    attributes
        .text("gen_ai.operation.name", operation(trace))
        .text("gen_ai.provider.name", provider)
        .text("gen_ai.request.model", request.model.as_str())
        .text("gen_ai.response.model", request.answered_by.as_deref())
        .text("gen_ai.conversation.id", trace.conversation.as_deref())
        .text("gen_ai.agent.name", trace.character.as_deref())
        .list_of("gen_ai.response.finish_reasons", request.finish_reason)
        .text("server.address", host.as_deref())
        .number("server.port", port.map(u64::from))
        .seconds(
            "gen_ai.response.time_to_first_chunk",
            request.first_byte_ms.map(|first| first.0.saturating_sub(request.start_ms.0)),
        )
        .number("gen_ai.usage.input_tokens", request.usage.map(|usage| usage.prompt_tokens))
        .number("gen_ai.usage.output_tokens", request.usage.map(|usage| usage.completion_tokens))
        .text("gen_ai.input.messages", input.as_deref())
        .text("gen_ai.output.messages", output.as_deref())
        .text("callboard.learned", learned.as_deref());
    let error = || request.status.map_or_else(|| request.outcome.to_owned(), |status| status.to_string());
    Span {
        id: request.span_id.clone(),
        name: operation(trace).map_or_else(|| gateway_name(trace), |what| format!("{what} {}", request.model)),
        kind: if host.is_some() { SpanKind::Client } else { SpanKind::Internal },
        start: request.start_ms,
        duration: request.duration_ms,
        attributes,
        events: Vec::new(),
        error: request.failed().then(error),
    }
}

/// A tool that was run here.
fn tool(trace: &TurnTrace, call: &ToolCall) -> Span {
    let mut attributes = Attributes::default();
    attributes
        .text("gen_ai.operation.name", "execute_tool")
        .text("gen_ai.tool.name", call.name.as_str())
        .text("gen_ai.tool.type", "function")
        .text("gen_ai.tool.call.id", call.id.as_str())
        .text("gen_ai.agent.name", trace.character.as_deref())
        .text("gen_ai.conversation.id", trace.conversation.as_deref())
        .text("gen_ai.tool.call.arguments", call.arguments.as_deref())
        .text("gen_ai.tool.call.result", call.result.as_deref())
        .truth("callboard.changed_state", call.changed_state.unwrap_or_default());
    // A cancelled call is not a success either.
    let error = |outcome: ToolOutcome| match outcome {
        ToolOutcome::Cancelled => Some(outcome.as_str()),
        outcome => outcome.error_type(),
    };
    Span {
        id: hex::encode(&random::bytes::<8>()),
        name: format!("execute_tool {}", call.name),
        kind: SpanKind::Internal,
        start: call.start_ms,
        duration: call.duration_ms.unwrap_or_default(),
        attributes,
        events: Vec::new(),
        error: call.outcome.and_then(error).map(str::to_owned),
    }
}
