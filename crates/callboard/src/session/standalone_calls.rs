//! Calls of a character's tools outside of a turn: checked, run and answered as a model's calls would be.

use std::sync::Arc;
use std::time::Duration;

use callboard_core::contract::{
    Call, CallRules, CheckBudget, CheckedArguments, RawCall, ToolCache, ToolSet, Violation, check_arguments,
    tool_error_message,
};
use callboard_core::model::CallId;
use callboard_core::turn::ToolResult;
use callboard_core::wire::ApiError;
use tokio::time::Instant;

use super::character_setup::{arguments_limit, result_characters, tools};
use super::tool_runner::ToolRunner;
use crate::characters::{LoadedCharacter, compile_tools};
use crate::config::Settings;
use crate::random;
use crate::store::CharacterMemory;
use crate::trace::ToolTiming;

/// A conversation in which tools are called by hand.
pub struct StandaloneCalls {
    runner: ToolRunner,
    tools: Arc<ToolSet>,
    budget: CheckBudget,
    result_characters: usize,
}

/// What calls need besides their character.
pub struct CallContext<'a> {
    /// The limits.
    pub settings: &'a Settings,
    /// Compiled tools.
    pub cache: &'a ToolCache,
    /// What the calls are logged under.
    pub request_id: String,
}

/// A call that was run.
#[derive(Debug)]
pub struct StandaloneRun {
    /// The repairs of its arguments.
    pub repairs: Vec<&'static str>,
    /// Its results, whole: several where the arguments of several calls were written as one.
    pub results: Vec<ToolResult>,
    /// The state after it, where it was changed.
    pub state: Option<String>,
    /// When they ran, and for how long.
    pub timings: Vec<ToolTiming>,
}

/// A call that never reached its tool.
#[derive(Debug)]
pub struct RefusedCall {
    /// The result that a model would get.
    pub result: ToolResult,
    /// Why.
    pub violation: Violation,
}

impl StandaloneRun {
    /// How long the tools ran.
    pub fn took(&self) -> Duration {
        self.timings.iter().map(|timing| timing.took).sum()
    }
}

impl StandaloneCalls {
    /// Continues a conversation from the character's part of it.
    pub async fn resume(
        character: &LoadedCharacter,
        memory: CharacterMemory,
        context: CallContext<'_>,
    ) -> Result<Self, ApiError> {
        let CallContext { settings, cache, request_id } = context;
        let (own, list) = tools(character, memory.record.state(), cache).await?;
        let tools = compile_tools(&list, cache)?;
        let manifest = character.character.manifest();
        let (bytes, limit) = arguments_limit(settings, manifest);
        let deadline = Instant::now() + settings.stage.turn;
        let runner = ToolRunner::new(character.character.clone(), memory, deadline, request_id);
        Ok(Self {
            runner: runner.with_tools(own),
            tools,
            budget: CheckBudget::new(bytes).limited_by(limit),
            result_characters: result_characters(settings, manifest),
        })
    }

    /// The names of the tools on offer.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.tools.names()
    }

    /// How many characters of a result a model would get.
    pub fn result_characters(&self) -> usize {
        self.result_characters
    }

    /// Runs a tool with arguments as a model would write them.
    pub async fn call(&mut self, tool: &str, arguments: &str) -> Result<StandaloneRun, RefusedCall> {
        let raw = RawCall { name: tool.to_owned(), arguments: arguments.to_owned(), ..RawCall::default() };
        let checked = check_arguments(&raw, &self.tools, &CallRules::default(), &mut self.budget)
            .map_err(|violation| self.refused(&raw, violation))?;
        let repairs = checked.iter().flat_map(|call| call.repairs.iter().copied()).collect();
        let before = self.state();
        let results = self.runner.run(checked.into_iter().map(call_of).collect()).await;
        let timings = self.runner.take_timings();
        let state = self.state().filter(|after| before.as_ref() != Some(after));
        Ok(StandaloneRun { repairs, results, state, timings })
    }

    /// The character's part after the calls.
    pub fn into_memory(mut self) -> CharacterMemory {
        self.runner.take_memory()
    }

    fn refused(&self, call: &RawCall, violation: Violation) -> RefusedCall {
        let outcome = violation.kind.into();
        self.runner.count_unrun(&call.name, outcome);
        let (id, text) = (CallId::from_random(random::bytes()), tool_error_message(call, &violation));
        RefusedCall { result: ToolResult { id, text, outcome, ran: None, remark: None }, violation }
    }

    fn state(&self) -> Option<String> {
        self.runner.memory().record.state().map(str::to_owned)
    }
}

fn call_of(checked: CheckedArguments) -> Call {
    Call {
        id: CallId::from_random(random::bytes()),
        name: checked.tool,
        arguments: checked.arguments,
        other: serde_json::Map::new(),
    }
}
