//! A character's tools, run for one turn: in the order of the calls where the character keeps state, else at the same time.
//!
//! State is taken over only from calls that succeeded. What has run is known at any moment, so that an interruption can be
//! recorded.

use callboard_core::contract::Call;
use callboard_core::turn::{ToolOutcome, ToolResult};
use callboard_python::{CallOrder, CallOutcome, Character, Failure, ToolFault};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::telemetry::stage as counters;

/// Runs the tools of one character in one turn.
pub struct Performer {
    character: Character,
    state: Option<String>,
    deadline: Instant,
    done: Vec<ToolResult>,
    request_id: String,
}

impl Performer {
    /// A performer that goes on from a state and has until a deadline.
    pub fn new(character: Character, state: Option<String>, deadline: Instant, request_id: String) -> Self {
        Self { character, state, deadline, done: Vec::new(), request_id }
    }

    /// The state after all that succeeded.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// True when the time for tools is over.
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// What has run of the current round.
    pub fn take_done(&mut self) -> Vec<ToolResult> {
        std::mem::take(&mut self.done)
    }

    /// Runs the calls of one round.
    pub async fn run(&mut self, calls: Vec<Call>) -> Vec<ToolResult> {
        self.done.clear();
        if self.state.is_some() {
            self.run_in_order(calls).await;
        } else {
            self.run_together(calls).await;
        }
        self.take_done()
    }

    async fn run_in_order(&mut self, calls: Vec<Call>) {
        for call in calls {
            let outcome = self.character.call(order(&call, self.state.as_deref(), &self.request_id)).await;
            self.take(&call, outcome);
        }
    }

    async fn run_together(&mut self, calls: Vec<Call>) {
        let (character, state, request_id) = (&self.character.clone(), self.state.clone(), self.request_id.clone());
        let (state, request_id) = (state.as_deref(), request_id.as_str());
        let started =
            calls.into_iter().map(|call| async move { (character.call(order(&call, state, request_id)).await, call) });
        let mut running: FuturesUnordered<_> = started.collect();
        while let Some((outcome, call)) = running.next().await {
            self.take(&call, outcome);
        }
    }

    fn take(&mut self, call: &Call, outcome: CallOutcome) {
        let (text, kind) = match &outcome.result {
            Ok(text) => (text.clone(), ToolOutcome::Success),
            Err(failure) => {
                self.log(&call.name, failure);
                (failure.to_model_text(), kind_of(failure))
            }
        };
        let manifest = self.character.manifest();
        let (request_id, character, tool) = (&self.request_id, &manifest.id, &call.name);
        tracing::debug!(request_id, character, tool, arguments = call.arguments.as_str(), result = text, "Tool call");
        counters::tool_call(&manifest.name, tool, kind, outcome.queued, outcome.took);
        if outcome.state.is_some() {
            self.state = outcome.state;
        }
        self.done.push(ToolResult { id: call.id.clone(), text, outcome: kind });
    }

    /// What happened is an operator's business; what was said stays out of it.
    fn log(&self, tool: &str, failure: &Failure) {
        let (request_id, character) = (&self.request_id, &self.character.manifest().id);
        match failure {
            Failure::Fault(ToolFault::Raised { exception, traceback, .. }) => {
                tracing::error!(request_id, character, tool, exception, "Tool execution error");
                tracing::debug!(request_id, character, tool, traceback, "Tool execution error");
            }
            Failure::Fault(ToolFault::TimedOut { limit }) => {
                tracing::warn!(request_id, character, tool, "Tool {tool} exceeded {}ms", limit.as_millis());
            }
            failure => tracing::error!(request_id, character, tool, %failure, "Tool execution error"),
        }
    }
}

fn order<'a>(call: &'a Call, state: Option<&'a str>, conversation: &'a str) -> CallOrder<'a> {
    CallOrder { tool: &call.name, arguments: call.arguments.as_str(), state, conversation }
}

fn kind_of(failure: &Failure) -> ToolOutcome {
    match failure {
        Failure::Fault(ToolFault::TimedOut { .. }) => ToolOutcome::Timeout,
        Failure::Fault(ToolFault::UnknownTool { .. }) => ToolOutcome::UnknownTool,
        _ => ToolOutcome::Execution,
    }
}
