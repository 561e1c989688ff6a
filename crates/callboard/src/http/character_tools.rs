//! `POST /v1/characters/{id}/tools/{name}`: runs one tool by hand in a conversation, as a model's call would be run.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, Request, State};
use callboard_core::model::{BadRequest, Item, SpokenCall};
use callboard_core::turn::{ToolOutcome, ToolResult};
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::read_object;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::body::{RequestBody, read_body};
use super::characters::loaded;
use super::reply::{self, HttpResult};
use super::requester::Requester;
use super::router::{Arrival, Shared};
use crate::clock;
use crate::conversation::begin_calls;
use crate::session::{CallContext, RefusedCall, StandaloneCalls, StandaloneRun};
use crate::store::{CharacterMemory, Turn, TurnWrite};
use crate::trace::{Millis, TOOL_ENDPOINT, TraceEvent, TraceRecorder, TurnStart};

const FORM: &str = "send {\"conversation\": \"conv_…\", \"arguments\": {…}}";
const KNOWN: [&str; 2] = ["conversation", "arguments"];

/// The body of a request.
#[derive(Debug, PartialEq, Eq)]
struct CallRequest {
    conversation: String,
    /// As JSON text.
    arguments: String,
}

/// The body of a reply.
#[derive(Serialize)]
struct CallResponse {
    object: &'static str,
    conversation: String,
    character: String,
    #[serde(flatten)]
    end: CallEnd,
    /// The journal entry, where the call changed the state.
    sequence: Option<u64>,
    version: i64,
}

/// How a call ended.
#[derive(Serialize)]
struct CallEnd {
    tool: String,
    call_id: Option<String>,
    /// As the tool got them, or as they were sent.
    arguments: Value,
    repairs: Vec<&'static str>,
    /// What a model would get.
    result: String,
    outcome: &'static str,
    error_type: Option<&'static str>,
    duration_ms: Millis,
}

/// Runs the tool.
pub(super) async fn call(
    State(shared): State<Shared>,
    Path((character_id, tool)): Path<(String, String)>,
    Extension(arrival): Extension<Arrival>,
    request: Request,
) -> HttpResult {
    let requester = Requester::of(&shared, request.headers());
    let RequestBody { bytes, memory: budget } = read_body(request, &shared).await?;
    let call_request = CallRequest::read(bytes)?;
    let character = loaded(&shared, &character_id)?;
    let _slot = shared.in_flight.enter()?;
    let begun = begin_calls(&shared.store, (&call_request.conversation, &requester.owner), &character).await;
    let (turn, memory) = begun.map_err(|error| error.about("conversation"))?;
    let conversation = turn.head().conversation.id.clone();
    let memory = match memory {
        Some(memory) => memory,
        None => character.begin_with(&turn.head().conversation.metadata).await?,
    };
    budget.grow(memory.bytes())?;
    let context =
        CallContext { settings: &shared.app.settings, cache: &shared.app.tools, request_id: arrival.id.clone() };
    let mut calls = StandaloneCalls::resume(&character, memory, context).await?;
    let mut trace = shared.app.traces.begin(&TurnStart {
        client: requester.traced(TOOL_ENDPOINT, None),
        request_id: &arrival.id,
        character: Some(&character_id),
        ..TurnStart::default()
    });
    trace.record(TraceEvent::StoredAs { conversation: Some(&conversation), response: None });
    let ran = calls.call(&tool, &call_request.arguments).await;
    trace_call(&mut trace, &tool, &call_request.arguments, &ran);
    let end = match ran {
        Ok(run) => CallEnd::of_run(run, tool, calls.result_characters(), &call_request.arguments),
        Err(refused) => CallEnd::of_refusal(refused.result, tool, &call_request.arguments),
    };
    let saved = save(turn, calls.into_memory(), end.error_type.is_none()).await;
    let (sequence, version) = saved.inspect_err(|error| trace.record(TraceEvent::Failed(error)))?;
    trace.record(TraceEvent::ToolAnswered);
    let response =
        CallResponse { object: "character.tool_call", conversation, character: character_id, end, sequence, version };
    Ok(reply::json(json!(response).to_string()))
}

/// Records the call as a turn's are: with its result, and under the name that was given where it never ran.
fn trace_call(trace: &mut TraceRecorder, tool: &str, arguments: &str, ran: &Result<StandaloneRun, RefusedCall>) {
    let (results, timings) = match ran {
        Ok(run) => (run.results.as_slice(), run.timings.as_slice()),
        Err(refused) => (std::slice::from_ref(&refused.result), &[][..]),
    };
    trace.record(TraceEvent::LateResults(results));
    trace.record(TraceEvent::ToolsRan(timings));
    let call = |result: &ToolResult| SpokenCall {
        id: result.id.clone(),
        name: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    let spoken = Item::Assistant { text: String::new(), calls: results.iter().map(call).collect() };
    trace.record(TraceEvent::Transcript(&[spoken]));
}

/// Writes what a call changed, and that the conversation is the character's from its first successful call on. Returns the sequence of the
/// journal entry, and the conversation's version.
async fn save(turn: Turn, memory: CharacterMemory, succeeded: bool) -> Result<(Option<u64>, i64), ApiError> {
    let sequence = memory.record.changes().and_then(|changes| Some(changes.entries.last()?.sequence));
    let opens = succeeded && turn.head().memory.is_none();
    if sequence.is_none() && !opens {
        return Ok((None, turn.head().conversation.version));
    }
    let write = TurnWrite { at: clock::milliseconds(), memory: Some(Arc::new(memory)), ..TurnWrite::default() };
    Ok((sequence, turn.finish(write).await?.conversation.version))
}

impl CallRequest {
    fn read(body: Vec<u8>) -> Result<Self, BadRequest> {
        let fields = read_object(body)?;
        if let Some(unknown) = fields.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            return Err(BadRequest::at(unknown, "unknown_parameter", format!("{unknown:?} is not known; {FORM}")));
        }
        let conversation = match given(&fields, "conversation") {
            None => Err(BadRequest::missing("conversation", format!("conversation is missing; {FORM}"))),
            Some(Value::String(id)) => Ok(id.clone()),
            Some(_) => Err(BadRequest::wrong_type("conversation", format!("conversation is no text; {FORM}"))),
        }?;
        let arguments = match given(&fields, "arguments") {
            None => Ok("{}".to_owned()),
            Some(arguments @ Value::Object(_)) => Ok(arguments.to_string()),
            Some(_) => Err(BadRequest::wrong_type("arguments", format!("arguments is no object; {FORM}"))),
        }?;
        Ok(Self { conversation, arguments })
    }
}

impl CallEnd {
    fn of_run(run: StandaloneRun, tool: String, most: usize, sent: &str) -> Self {
        let took = run.took();
        let StandaloneRun { repairs, results, .. } = run;
        // An object is one call; only text can hold several.
        let result = results.into_iter().next();
        let outcome = result.as_ref().map_or(ToolOutcome::Cancelled, |result| result.outcome);
        let ran = result.as_ref().and_then(|result| result.ran.as_ref());
        Self {
            arguments: arguments_json(ran.map_or(sent, |ran| &ran.arguments)),
            tool: ran.map_or(tool, |ran| ran.tool.clone()),
            call_id: result.as_ref().map(|result| result.id.to_string()),
            repairs,
            result: result.map(|result| result.shortened_text(most)).unwrap_or_default(),
            outcome: outcome.as_str(),
            error_type: outcome.error_type(),
            duration_ms: Millis(took),
        }
    }

    fn of_refusal(result: ToolResult, tool: String, sent: &str) -> Self {
        let outcome = result.outcome;
        Self {
            tool,
            call_id: Some(result.id.to_string()),
            arguments: arguments_json(sent),
            repairs: Vec::new(),
            result: result.text,
            outcome: outcome.as_str(),
            error_type: outcome.error_type(),
            duration_ms: Millis::default(),
        }
    }
}

fn arguments_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn given<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_and_faults_name_their_place() {
        let read = |body: &str| CallRequest::read(body.as_bytes().to_vec());
        for (body, arguments) in [
            (r#"{"conversation": "conv_1", "arguments": {"b": 1, "a": 2}}"#, r#"{"b":1,"a":2}"#),
            (r#"{"conversation": "conv_1", "arguments": null}"#, "{}"),
            (r#"{"conversation": "conv_1"}"#, "{}"),
        ] {
            let call_request = CallRequest { conversation: "conv_1".to_owned(), arguments: arguments.to_owned() };
            assert_eq!(read(body), Ok(call_request), "{body}");
        }
        for (body, param, code) in [
            ("{}", Some("conversation"), "missing_required_field"),
            (r#"{"conversation": 1}"#, Some("conversation"), "invalid_type"),
            (r#"{"conversation": "conv_1", "arguments": "{}"}"#, Some("arguments"), "invalid_type"),
            (r#"{"conversation": "conv_1", "argument": {}}"#, Some("argument"), "unknown_parameter"),
            ("[", None, "invalid_json"),
        ] {
            let refused = read(body).unwrap_err();
            assert_eq!((refused.param.as_deref(), refused.code), (param, code), "{body}");
        }
    }
}
