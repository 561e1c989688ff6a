//! A character's tools, run for one turn: in the order of the calls where the character keeps state, else at the same time.
//!
//! State is taken over only from calls that succeeded. What has run is known at any moment, so that an interruption can be
//! recorded.

use callboard_core::contract::Call;
use callboard_core::turn::{ToolOutcome, ToolResult};
use callboard_python::{CallOrder, CallOutcome, Character, ToolFault};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::telemetry::stage as counters;

/// Runs the tools of one character in one turn.
pub struct Performer {
    character: Character,
    state: Option<String>,
    ordered: bool,
    deadline: Instant,
    done: Vec<ToolResult>,
    request_id: String,
}

impl Performer {
    /// A performer that goes on from a state and has until a deadline.
    pub fn new(character: Character, state: Option<String>, deadline: Instant, request_id: String) -> Self {
        let ordered = state.is_some() || character.manifest().keeps_state;
        Self { character, state, ordered, deadline, done: Vec::new(), request_id }
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
        if self.ordered {
            for call in calls {
                let outcome = self.character.call(self.order(&call)).await;
                self.take(&call, outcome);
            }
        } else {
            let orders: Vec<(Call, CallOrder)> =
                calls.into_iter().map(|call| (self.order(&call), call)).map(|(o, c)| (c, o)).collect();
            let character = self.character.clone();
            let mut running: FuturesUnordered<_> = orders
                .into_iter()
                .map(|(call, order)| {
                    let character = &character;
                    async move { (character.call(order).await, call) }
                })
                .collect();
            while let Some((outcome, call)) = running.next().await {
                self.take(&call, outcome);
            }
        }
        self.take_done()
    }

    fn order(&self, call: &Call) -> CallOrder {
        CallOrder { tool: call.name.clone(), arguments: call.arguments.as_str().to_owned(), state: self.state.clone() }
    }

    fn take(&mut self, call: &Call, outcome: CallOutcome) {
        let manifest = self.character.manifest();
        let (text, kind) = match &outcome.result {
            Ok(text) => (text.clone(), ToolOutcome::Success),
            Err(fault) => {
                tracing::error!(
                    request_id = self.request_id,
                    character = manifest.id,
                    tool = call.name,
                    detail = fault.detail(),
                    "a tool failed"
                );
                (fault.to_model_text(), kind_of(fault))
            }
        };
        tracing::debug!(
            request_id = self.request_id,
            character = manifest.id,
            tool = call.name,
            arguments = call.arguments.as_str(),
            result = text,
            "a tool ran"
        );
        counters::tool_call(&manifest.name, &call.name, kind, outcome.queued, outcome.took);
        if let Some(state) = outcome.state {
            self.state = Some(state);
            self.ordered = true;
        }
        self.done.push(ToolResult { id: call.id.clone(), text, outcome: kind });
    }
}

fn kind_of(fault: &ToolFault) -> ToolOutcome {
    match fault {
        ToolFault::TimedOut { .. } => ToolOutcome::Timeout,
        ToolFault::UnknownTool { .. } => ToolOutcome::UnknownTool,
        _ => ToolOutcome::Execution,
    }
}
