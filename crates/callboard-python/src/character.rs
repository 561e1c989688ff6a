//! The handle through which a character's code is run.
//!
//! Every call runs in some worker. Dropping its future before it is done kills that worker. State goes in and out as
//! JSON text; storing it is up to the caller.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use crate::error::{CallError, HostError, ToolError};
use crate::manifest::{Manifest, ToolManifest};
use crate::supervisor::{
    CharacterRest, Job, JobResult, LoadedFile, Operation, Request, ToolCall, WorkerReply, WorkerRequest, json_frame,
};

/// A loaded character. Handles are cheap to clone and work from any thread; its processes end with the last.
#[derive(Debug, Clone)]
pub struct Character(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Keeps the supervisor running.
    _supervisor: mpsc::UnboundedSender<Request>,
    prompt_limit: Duration,
    manifest: Manifest,
    jobs: mpsc::UnboundedSender<Job>,
    rest: Arc<CharacterRest>,
    next_number: AtomicU64,
}

/// What a new conversation starts with.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationStart {
    /// The system prompt.
    pub system_prompt: String,
    /// The initial state as JSON, if the character has any.
    pub state: Option<String>,
    /// The tools for this conversation, where they differ from the manifest's.
    pub tools: Option<Vec<ToolManifest>>,
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct CallRequest<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// Its arguments: a JSON object that is valid against the tool's parameters.
    pub arguments: &'a str,
    /// The conversation's state, as JSON.
    pub state: Option<&'a str>,
    /// What was said for each argument that is a known name: a JSON object, `{"unit": {"said": …, "method": …}}`.
    pub heard: Option<&'a str>,
    /// The conversation's id, for the log.
    pub conversation: &'a str,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOutcome {
    /// The tool's text, or why there is none.
    pub result: Result<String, CallError>,
    /// The new state as JSON, where the call succeeded and changed it.
    pub state: Option<String>,
    /// How long the call waited for a worker.
    pub queued: Duration,
    /// How long the tool ran.
    pub took: Duration,
}

/// What an operation works on.
#[derive(Clone, Copy, Default)]
struct Contents<'a> {
    call: Option<ToolCall<'a>>,
    state: Option<&'a str>,
    metadata: Option<&'a RawValue>,
}

impl Character {
    pub(crate) fn new(supervisor: mpsc::UnboundedSender<Request>, prompt_limit: Duration, loaded: LoadedFile) -> Self {
        let LoadedFile { manifest, jobs, rest } = loaded;
        let (manifest, next_number) = (*manifest, AtomicU64::new(1));
        Self(Arc::new(Inner { _supervisor: supervisor, prompt_limit, manifest, jobs, rest, next_number }))
    }

    /// What the file defines.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// Whether its processes have ended because nothing used them for a while. The next call starts them again.
    pub fn is_at_rest(&self) -> bool {
        self.0.rest.is_at_rest()
    }

    /// Has its processes start, where they are at rest, so that a call that is expected soon need not wait for them.
    pub fn wake(&self) {
        self.0.rest.wake();
    }

    /// Starts a conversation: makes an instance and its system prompt.
    pub async fn start_conversation(&self) -> Result<ConversationStart, CallError> {
        self.start_conversation_with(None).await
    }

    /// The same for a conversation that has metadata: a JSON object.
    pub async fn start_conversation_with(&self, metadata: Option<&str>) -> Result<ConversationStart, CallError> {
        let metadata = metadata.map(serde_json::from_str).transpose().map_err(invalid)?;
        let contents = Contents { metadata, ..Contents::default() };
        let pending = self.send(Operation::StartConversation, contents, self.0.prompt_limit)?;
        let reply = pending.await.map_err(|_| HostError::Closed)?.result.and_then(|reply| self.success_of(reply))?;
        let (system_prompt, state) = (reply.text.unwrap_or_default(), reply.state.map(into_text));
        Ok(ConversationStart { system_prompt, state, tools: reply.tools })
    }

    /// The text for the model at the start of a turn, where the character has `make_turn_context`.
    pub async fn turn_context(&self, state: Option<&str>) -> Result<Option<String>, CallError> {
        if !self.0.manifest.has_turn_context {
            return Ok(None);
        }
        Ok(self.run(Operation::TurnContext, state).await?.text)
    }

    /// The tools in this state, where the character has `get_tools`.
    pub async fn tools(&self, state: Option<&str>) -> Result<Option<Vec<ToolManifest>>, CallError> {
        if !self.0.manifest.has_get_tools {
            return Ok(None);
        }
        Ok(self.run(Operation::ListTools, state).await?.tools)
    }

    /// The names in this state, where the character has `get_names`: a JSON object.
    pub async fn names(&self, state: Option<&str>) -> Result<Option<Value>, CallError> {
        if !self.0.manifest.has_get_names {
            return Ok(None);
        }
        let names = self.run(Operation::ListNames, state).await?.names;
        names.map(|names| serde_json::from_str(names.get()).map_err(invalid)).transpose()
    }

    /// Calls a tool.
    pub async fn call(&self, request: CallRequest<'_>) -> CallOutcome {
        let CallRequest { tool, conversation, .. } = request;
        tracing::debug!(character = self.0.manifest.id, tool, conversation, "calling a tool");
        let JobResult { result, took, queued } = match self.send_call(request) {
            Ok(pending) => pending.await.unwrap_or_else(|_| JobResult::not_run(HostError::Closed)),
            Err(error) => JobResult::not_run(error),
        };
        match result.and_then(|reply| self.success_of(reply)) {
            Ok(reply) => {
                let changed = reply.state.filter(|state| Some(state.get()) != request.state);
                let state = changed.map(into_text);
                CallOutcome { result: Ok(reply.text.unwrap_or_default()), state, queued, took }
            }
            Err(error) => CallOutcome { result: Err(error), state: None, queued, took },
        }
    }

    fn send_call(&self, request: CallRequest<'_>) -> Result<oneshot::Receiver<JobResult>, CallError> {
        let manifest = &self.0.manifest;
        if !manifest.has_get_tools && manifest.tool(request.tool).is_none() {
            return Err(ToolError::UnknownTool { name: request.tool.to_owned() }.into());
        }
        let arguments: &RawValue = serde_json::from_str(request.arguments).map_err(invalid)?;
        if !arguments.get().starts_with('{') {
            return Err(HostError::InvalidRequest("arguments must be a JSON object".to_owned()).into());
        }
        let heard = request.heard.map(serde_json::from_str).transpose().map_err(invalid)?;
        let call = ToolCall { tool: request.tool, arguments, heard };
        let state = request.state;
        let contents = Contents { call: Some(call), state, ..Contents::default() };
        self.send(Operation::CallTool, contents, manifest.timeout_of(request.tool))
    }

    async fn run(&self, operation: Operation, state: Option<&str>) -> Result<WorkerReply, CallError> {
        let pending = self.send(operation, Contents { state, ..Contents::default() }, self.0.prompt_limit)?;
        pending.await.map_err(|_| HostError::Closed)?.result.and_then(|reply| self.success_of(reply))
    }

    fn success_of(&self, mut reply: WorkerReply) -> Result<WorkerReply, CallError> {
        let folder = || self.0.manifest.file.parent().unwrap_or_else(|| Path::new(""));
        match reply.error.take() {
            None => Ok(reply),
            Some(error) => Err(CallError::from(error).in_folder(folder())),
        }
    }

    fn send(
        &self,
        operation: Operation,
        contents: Contents<'_>,
        limit: Duration,
    ) -> Result<oneshot::Receiver<JobResult>, CallError> {
        let Contents { call, state, metadata } = contents;
        let number = self.0.next_number.fetch_add(1, Ordering::Relaxed);
        let state = state.map(serde_json::from_str).transpose().map_err(invalid)?;
        let request = WorkerRequest { number, operation, call, state, metadata };
        let frame = json_frame(&request).map_err(invalid)?;
        let (reply, pending) = oneshot::channel();
        let job = Job { number, frame, limit, created: Instant::now(), retries: 0, reply };
        self.0.jobs.send(job).map_err(|_| HostError::Closed)?;
        Ok(pending)
    }
}

fn into_text(json: Box<RawValue>) -> String {
    Box::<str>::from(json).into()
}

fn invalid(error: impl std::fmt::Display) -> CallError {
    HostError::InvalidRequest(format!("invalid JSON: {error}")).into()
}
