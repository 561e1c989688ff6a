//! Runs a character's tools in one turn: in order where the character keeps state, else concurrently.
//!
//! Names in arguments are resolved first. Only calls that succeed change the state, and every change is journaled. Finished calls are
//! available at any moment, so an interruption can record them.

use std::time::Duration;

use callboard_core::contract::{Call, resolve_name};
use callboard_core::journal::CallNote;
use callboard_core::names::{NameLists, ResolvedName, resolve_arguments};
use callboard_core::turn::{AuthorRemark, Ran, ToolOutcome, ToolResult};
use callboard_python::{CallError, CallOutcome, CallRequest, Character, ToolError, ToolManifest};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::undo_tool;
use crate::characters::UNDO;
use crate::clock;
use crate::conversation::RECENT_CALLS;
use crate::store::CharacterMemory;
use crate::telemetry::character_metrics as counters;
use crate::trace::ToolTiming;

/// A tool that takes more of its time than this is warned about, in percent.
const SLOW_PERCENT: u128 = 80;
/// Of an exception's message, this many characters are logged.
const LOGGED_MESSAGE: usize = 300;

/// Runs the tools of one character in one turn.
pub(super) struct ToolRunner {
    character: Character,
    /// The tools of this turn, where they are not those of the file.
    tools: Option<Vec<ToolManifest>>,
    memory: CharacterMemory,
    deadline: Instant,
    done: Vec<ToolResult>,
    timings: Vec<ToolTiming>,
    request_id: String,
}

/// A call as the tool gets it.
struct Prepared {
    call: Call,
    arguments: String,
    /// What was said for each name, as JSON.
    heard: Option<String>,
}

impl ToolRunner {
    /// A runner that continues from a memory and has until a deadline.
    pub(super) fn new(character: Character, memory: CharacterMemory, deadline: Instant, request_id: String) -> Self {
        Self { character, tools: None, memory, deadline, done: Vec::new(), timings: Vec::new(), request_id }
    }

    /// The same, for tools that depend on the state.
    pub(super) fn with_tools(self, tools: Option<Vec<ToolManifest>>) -> Self {
        Self { tools, ..self }
    }

    /// The character's part, with all that succeeded.
    pub(super) fn memory(&self) -> &CharacterMemory {
        &self.memory
    }

    /// Takes the character's part, at the end of the turn.
    pub(super) fn take_memory(&mut self) -> CharacterMemory {
        std::mem::take(&mut self.memory)
    }

    /// The character.
    pub(super) fn character(&self) -> &Character {
        &self.character
    }

    /// Timings of the tools that ran since the last call.
    pub(super) fn take_timings(&mut self) -> Vec<ToolTiming> {
        std::mem::take(&mut self.timings)
    }

    /// Whether the turn's time for tools is over.
    pub(super) fn is_past_deadline(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Results of the current round so far.
    pub(super) fn take_done(&mut self) -> Vec<ToolResult> {
        std::mem::take(&mut self.done)
    }

    /// Runs the calls of one round.
    pub(super) async fn run(&mut self, calls: Vec<Call>) -> Vec<ToolResult> {
        self.done.clear();
        if self.memory.record.state().is_some() || self.character.manifest().keeps_state {
            self.run_in_order(calls).await;
        } else {
            self.run_together(calls).await;
        }
        self.take_done()
    }

    async fn run_in_order(&mut self, calls: Vec<Call>) {
        for call in calls {
            if call.name == UNDO && self.character.manifest().undo {
                self.undo(&call);
                continue;
            }
            let Some(prepared) = self.prepare(call).await else { continue };
            let outcome = self.character.call(prepared.order(self.memory.record.state(), &self.request_id)).await;
            self.take(&prepared, outcome);
        }
    }

    async fn run_together(&mut self, calls: Vec<Call>) {
        let mut prepared = Vec::with_capacity(calls.len());
        for call in calls {
            prepared.extend(self.prepare(call).await);
        }
        let (character, request_id) = (&self.character.clone(), &self.request_id.clone());
        let started = prepared
            .into_iter()
            .map(|prepared| async move { (character.call(prepared.order(None, request_id)).await, prepared) });
        let mut running: FuturesUnordered<_> = started.collect();
        while let Some((outcome, prepared)) = running.next().await {
            self.take(&prepared, outcome);
        }
    }

    /// The call with its names resolved; an unknown name is answered at once.
    async fn prepare(&mut self, call: Call) -> Option<Prepared> {
        let manifest = self.character.manifest();
        let (mut arguments, mut heard) = (call.arguments.as_str().to_owned(), None);
        let tools = self.tools.as_ref().unwrap_or(&manifest.tools);
        let tool = tools.iter().find(|tool| tool.name == call.name);
        let schema = tool.map(|tool| &tool.parameters).filter(|_| manifest.has_get_names);
        if let Some(schema) = schema
            && let Ok(Some(names)) = self.character.names(self.memory.record.state()).await
        {
            let mut map: Map<String, Value> = serde_json::from_str(&arguments).unwrap_or_default();
            let recent = self.recent_arguments();
            match resolve_arguments(schema, &mut map, NameLists { lists: &names, recent: &recent }) {
                Ok(resolved) => {
                    heard = Some(heard_json(&resolved, &map));
                    if resolved.iter().any(|name| name.changed) {
                        arguments = Value::Object(map).to_string();
                    }
                }
                Err(words) => {
                    let text = format!("Error: Invalid parameters - {words}");
                    let outcome = ToolOutcome::Validation;
                    self.done.push(ToolResult { id: call.id, text, outcome, ran: None, remark: None });
                    return None;
                }
            }
        }
        Some(Prepared { call, arguments, heard })
    }

    /// Arguments of the newest calls that changed the state.
    fn recent_arguments(&self) -> Vec<&str> {
        let calls = self.memory.record.journal().iter().rev().take(usize::try_from(RECENT_CALLS).unwrap_or(usize::MAX));
        calls.map(|entry| entry.call.arguments.as_str()).collect()
    }

    /// Counts a call that was not run, under the tool of the character that it means.
    pub(super) fn count_unrun(&self, name: &str, outcome: ToolOutcome) {
        let manifest = self.character.manifest();
        let own = || manifest.tools.iter().map(|tool| tool.name.as_str()).chain(manifest.undo.then_some(UNDO));
        let tool = resolve_name(name, own()).and_then(|(place, _)| own().nth(place)).unwrap_or(counters::UNKNOWN_TOOL);
        counters::tool_not_run(&manifest.name, tool, outcome);
    }

    fn undo(&mut self, call: &Call) {
        let note = note(call, call.arguments.as_str(), "");
        let (text, outcome) = match undo_tool::run(&mut self.memory.record, call.arguments.as_str(), note) {
            Ok(text) => (text, ToolOutcome::Success),
            Err(words) => (format!("Error: {words}"), ToolOutcome::Execution),
        };
        let name = &self.character.manifest().name;
        counters::tool_call(name, UNDO, outcome, Duration::ZERO, Duration::ZERO);
        self.time(call, Duration::ZERO, Duration::ZERO, outcome == ToolOutcome::Success);
        let ran = Some(Ran { tool: call.name.clone(), arguments: call.arguments.as_str().to_owned() });
        self.done.push(ToolResult { id: call.id.clone(), text, outcome, ran, remark: None });
    }

    fn take(&mut self, Prepared { call, arguments, .. }: &Prepared, outcome: CallOutcome) {
        let (text, kind, remark) = match &outcome.result {
            Ok(text) => (text.clone(), ToolOutcome::Success, self.remark_on_time(&call.name, outcome.took)),
            Err(failure) => {
                self.log(&call.name, failure);
                let summary = failure.to_author_text(&call.name, outcome.took);
                let traceback = failure.traceback().map(str::to_owned);
                (failure.to_model_text(), kind_of(failure), Some(AuthorRemark { summary, traceback }))
            }
        };
        let manifest = self.character.manifest();
        let (request_id, character, tool) = (&self.request_id, &manifest.id, &call.name);
        tracing::debug!(request_id, character, tool, arguments, result = text, "Tool call");
        counters::tool_call(&manifest.name, tool, kind, outcome.queued, outcome.took);
        self.time(call, outcome.queued, outcome.took, outcome.state.is_some());
        if let Some(state) = outcome.state {
            self.memory.record.change(note(call, arguments, &text), state);
        }
        let ran = Some(Ran { tool: call.name.clone(), arguments: arguments.clone() });
        self.done.push(ToolResult { id: call.id.clone(), text, outcome: kind, ran, remark });
    }

    /// Warns of a tool that was nearly stopped at its deadline.
    fn remark_on_time(&self, tool: &str, took: Duration) -> Option<AuthorRemark> {
        let (took_ms, limit_ms) = (took.as_millis(), self.character.manifest().timeout_of(tool).as_millis());
        if took_ms * 100 <= limit_ms * SLOW_PERCENT {
            return None;
        }
        let (request_id, character) = (&self.request_id, &self.character.manifest().id);
        tracing::warn!(request_id, character, tool, took_ms, limit_ms, "Tool {tool} nearly exceeded its deadline");
        let summary = format!("it took {took_ms} ms of its {limit_ms} ms; make it faster, or raise TOOL_TIMEOUT_MS");
        Some(AuthorRemark { summary, traceback: None })
    }

    fn time(&mut self, call: &Call, queued: Duration, took: Duration, changed_state: bool) {
        let ended = std::time::Instant::now();
        self.timings.push(ToolTiming { id: call.id.to_string(), ended, queued, took, changed_state });
    }

    /// Logs the failure for operators and authors. Of what users said, only what an exception's message quotes is logged above debug
    /// level.
    fn log(&self, tool: &str, failure: &CallError) {
        let (request_id, character) = (&self.request_id, &self.character.manifest().id);
        match failure {
            CallError::Tool(ToolError::Raised { exception, message, place, traceback }) => {
                let said: String = message.chars().take(LOGGED_MESSAGE).collect();
                let at = place.as_ref().map(ToString::to_string);
                tracing::error!(request_id, character, tool, exception, said, at, "Tool execution error");
                tracing::debug!(request_id, character, tool, traceback, "Tool execution error");
            }
            CallError::Tool(ToolError::TimedOut { limit }) => {
                tracing::warn!(request_id, character, tool, "Tool {tool} exceeded {}ms", limit.as_millis());
            }
            // Keys inside of an attribute may be users' words.
            CallError::Tool(fault @ ToolError::StateNotJson { path, remedy, .. }) => {
                let attribute = path.split('[').next();
                tracing::error!(request_id, character, tool, attribute, remedy, "Tool keeps what JSON cannot hold");
                tracing::debug!(request_id, character, tool, %fault, "Tool keeps what JSON cannot hold");
            }
            failure => tracing::error!(request_id, character, tool, %failure, "Tool execution error"),
        }
    }
}

impl Prepared {
    fn order<'a>(&'a self, state: Option<&'a str>, conversation: &'a str) -> CallRequest<'a> {
        let heard = self.heard.as_deref();
        CallRequest { tool: &self.call.name, arguments: &self.arguments, heard, state, conversation }
    }
}

/// What was said for each name, by parameter: an object, or a list of them where the argument is a list.
fn heard_json(resolved: &[ResolvedName], arguments: &Map<String, Value>) -> String {
    let mut heard = Map::new();
    for name in resolved {
        let words = json!({"said": name.said, "method": name.method.as_str()});
        match arguments.get(&name.parameter) {
            Some(Value::Array(_)) => {
                let list = heard.entry(name.parameter.clone()).or_insert_with(|| json!([]));
                list.as_array_mut().into_iter().for_each(|list| list.push(words.clone()));
            }
            _ => drop(heard.insert(name.parameter.clone(), words)),
        }
    }
    Value::Object(heard).to_string()
}

fn note(call: &Call, arguments: &str, result: &str) -> CallNote {
    CallNote {
        call_id: call.id.to_string(),
        tool: call.name.clone(),
        arguments: arguments.to_owned(),
        result: result.to_owned(),
        at: clock::milliseconds(),
    }
}

fn kind_of(failure: &CallError) -> ToolOutcome {
    match failure {
        CallError::Tool(ToolError::TimedOut { .. }) => ToolOutcome::Timeout,
        CallError::Tool(ToolError::UnknownTool { .. }) => ToolOutcome::UnknownTool,
        _ => ToolOutcome::Execution,
    }
}
