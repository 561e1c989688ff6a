//! A character: the handle through which its code is run.
//!
//! Each of these functions runs the character's code once, in some worker. Dropping the future before it is done kills
//! that worker. State goes in and out as JSON text; keeping it is the caller's part.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::backstage::{Answer, Job, Order, Reply, ReportedFault, Work, frame};
use crate::company::Company;
use crate::fault::{Failure, StageFailure, ToolFault};
use crate::manifest::{Manifest, ToolManifest};

/// A character that was loaded. Handles are cheap to clone and work from any thread; its processes end with the last.
#[derive(Debug, Clone)]
pub struct Character(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Keeps the processes alive that this character needs.
    _company: Company,
    manifest: Manifest,
    orders: mpsc::UnboundedSender<Job>,
    numbers: AtomicU64,
    prompt_limit: Duration,
}

/// How a conversation begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// The system prompt.
    pub system_prompt: String,
    /// What the character keeps from the start, as JSON; nothing where it keeps nothing.
    pub state: Option<String>,
    /// The tools for this conversation, where they are not those of the manifest.
    pub tools: Option<Vec<ToolManifest>>,
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct CallOrder<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments: an object, as JSON, valid against the tool's parameters.
    pub arguments: &'a str,
    /// The conversation's state, as JSON.
    pub state: Option<&'a str>,
    /// Which conversation it is, for the log.
    pub conversation: &'a str,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The tool's text, or why there is none.
    pub result: Result<String, Failure>,
    /// The new state, as JSON, where the call succeeded and changed it.
    pub state: Option<String>,
    /// How long the call waited for a worker.
    pub queued: Duration,
    /// How long the tool ran.
    pub took: Duration,
}

impl Character {
    pub(crate) fn new(
        company: Company,
        manifest: Manifest,
        orders: mpsc::UnboundedSender<Job>,
        prompt_limit: Duration,
    ) -> Self {
        let numbers = AtomicU64::new(1);
        Self(Arc::new(Inner { _company: company, manifest, orders, numbers, prompt_limit }))
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// Begins a conversation: makes an instance and its system prompt.
    pub async fn open(&self) -> Result<Opening, Failure> {
        let reply = self.ask(Work::Open, None).await?;
        let state = reply.state.map(|state| String::from(Box::<str>::from(state)));
        Ok(Opening { system_prompt: reply.text.unwrap_or_default(), state, tools: reply.tools })
    }

    /// The text for the model at the beginning of a turn, where the character has any.
    pub async fn turn_context(&self, state: Option<&str>) -> Result<Option<String>, Failure> {
        if !self.0.manifest.has_turn_context {
            return Ok(None);
        }
        Ok(self.ask(Work::Context, state).await?.text)
    }

    /// The tools as `get_tools` gives them in this state, where the character has it.
    pub async fn tools(&self, state: Option<&str>) -> Result<Option<Vec<ToolManifest>>, Failure> {
        if !self.0.manifest.has_get_tools {
            return Ok(None);
        }
        Ok(self.ask(Work::Tools, state).await?.tools)
    }

    /// The names as `get_names` gives them in this state, where the character has it: a JSON object.
    pub async fn names(&self, state: Option<&str>) -> Result<Option<Value>, Failure> {
        if !self.0.manifest.has_get_names {
            return Ok(None);
        }
        let names = self.ask(Work::Names, state).await?.names;
        let read = |names: Box<RawValue>| serde_json::from_str(names.get()).map_err(invalid);
        names.map(read).transpose()
    }

    /// Calls a tool.
    pub async fn call(&self, order: CallOrder<'_>) -> CallOutcome {
        tracing::debug!(character = self.0.manifest.id, tool = order.tool, conversation = order.conversation, "call");
        let answer = match self.send_call(order) {
            Ok(told) => told.await.unwrap_or_else(|_| unanswered(StageFailure::Closed.into())),
            Err(failure) => unanswered(failure),
        };
        let Answer { result, took, queued } = answer;
        match result.and_then(|reply| accept(reply, order.tool)) {
            Ok(reply) => {
                let changed = reply.state.filter(|state| Some(state.get()) != order.state);
                let state = changed.map(|state| String::from(Box::<str>::from(state)));
                CallOutcome { result: Ok(reply.text.unwrap_or_default()), state, queued, took }
            }
            Err(failure) => CallOutcome { result: Err(failure), state: None, queued, took },
        }
    }

    fn send_call(&self, order: CallOrder<'_>) -> Result<oneshot::Receiver<Answer>, Failure> {
        let manifest = &self.0.manifest;
        if !manifest.has_get_tools && manifest.tool(order.tool).is_none() {
            return Err(ToolFault::UnknownTool { name: order.tool.to_owned() }.into());
        }
        let arguments: &RawValue = serde_json::from_str(order.arguments).map_err(invalid)?;
        if !arguments.get().starts_with('{') {
            return Err(StageFailure::InvalidOrder("arguments must be a JSON object".to_owned()).into());
        }
        self.send(Work::Call, Some((order.tool, arguments)), order.state, manifest.timeout_of(order.tool))
    }

    async fn ask(&self, work: Work, state: Option<&str>) -> Result<Reply, Failure> {
        let told = self.send(work, None, state, self.0.prompt_limit)?;
        let answer = told.await.map_err(|_| StageFailure::Closed)?;
        answer.result.and_then(|reply| accept(reply, ""))
    }

    fn send(
        &self,
        work: Work,
        call: Option<(&str, &RawValue)>,
        state: Option<&str>,
        limit: Duration,
    ) -> Result<oneshot::Receiver<Answer>, Failure> {
        let number = self.0.numbers.fetch_add(1, Ordering::Relaxed);
        let state = state.map(serde_json::from_str).transpose().map_err(invalid)?;
        let (tool, arguments) = call.unzip();
        let order = Order { number, work, tool, arguments, state };
        let frame = frame(|bytes| serde_json::to_writer(bytes, &order)).map_err(invalid)?;
        let (answer, told) = oneshot::channel();
        let job = Job { number, frame, limit, asked: Instant::now(), returned: 0, answer };
        self.0.orders.send(job).map_err(|_| StageFailure::Closed)?;
        Ok(told)
    }
}

/// A reply, or the fault that it reports.
fn accept(reply: Reply, tool: &str) -> Result<Reply, Failure> {
    match reply.fault {
        None => Ok(reply),
        Some(fault) => Err(Failure::Fault(read_fault(fault, tool))),
    }
}

fn read_fault(fault: ReportedFault, tool: &str) -> ToolFault {
    match fault {
        ReportedFault::UnknownTool {} => ToolFault::UnknownTool { name: tool.to_owned() },
        ReportedFault::Raised { exception, message, traceback } => ToolFault::Raised { exception, message, traceback },
        ReportedFault::WrongType { got } => ToolFault::WrongType { got },
        ReportedFault::OutputTooLarge { size, limit } => ToolFault::OutputTooLarge { size, limit },
        ReportedFault::StateNotJson { path, found, remedy } => ToolFault::StateNotJson { path, found, remedy },
        ReportedFault::StateTooLarge { size, limit } => ToolFault::StateTooLarge { size, limit },
    }
}

fn unanswered(failure: Failure) -> Answer {
    Answer { result: Err(failure), took: Duration::ZERO, queued: Duration::ZERO }
}

fn invalid(error: impl std::fmt::Display) -> Failure {
    StageFailure::InvalidOrder(format!("what was handed in is not JSON: {error}")).into()
}
