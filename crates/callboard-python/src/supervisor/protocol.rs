//! The messages between Callboard and the Python processes: types only.
//!
//! A fork request carries the descriptors of the new process: channel, standard output, standard error, and for a
//! worker its progress page. The first message of every process is a hello. Only the root process sends its protocol
//! version, since all others are forked from it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::ToolError;
use crate::manifest::{Manifest, ToolManifest};
use crate::problem::Problem;
use crate::sandbox::KernelSupport;
use crate::settings::Limits;

/// The version of this protocol. Python's is in `channel.py`.
pub(crate) const VERSION: u32 = 5;

/// To the interpreter, first: the modules of the host, in the order in which they are run.
#[derive(Serialize)]
pub(crate) struct Boot<'a> {
    pub(crate) modules: &'a [(&'a str, &'a str)],
    /// The root process ends with this process.
    pub(crate) parent: u32,
    pub(crate) limits: &'a Limits,
    /// Whether characters are sandboxed.
    pub(crate) sandbox: bool,
}

/// To a fork server.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ForkServerRequest {
    /// Fork a zygote, or a worker.
    Fork,
    /// End processes that escaped from their workers, then answer.
    Sweep,
}

/// To a zygote, once: the file to load.
#[derive(Serialize)]
pub(crate) struct LoadFile<'a> {
    pub(crate) id: &'a str,
    pub(crate) path: &'a str,
    /// What the first zygote of the file sent as its source.
    pub(crate) source: Option<&'a RawValue>,
}

/// To a worker.
#[derive(Serialize)]
pub(crate) struct WorkerRequest<'a> {
    pub(crate) number: u64,
    pub(crate) operation: Operation,
    #[serde(flatten)]
    pub(crate) call: Option<ToolCall<'a>>,
    pub(crate) state: Option<&'a RawValue>,
    /// What a conversation is begun with, for [`Operation::StartConversation`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<&'a RawValue>,
}

/// The call of [`Operation::CallTool`].
#[derive(Clone, Copy, Serialize)]
pub(crate) struct ToolCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a RawValue,
    pub(crate) heard: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operation {
    CallTool,
    StartConversation,
    TurnContext,
    ListTools,
    ListNames,
}

/// From the root process and zygotes. A worker says hello and then only replies.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HostEvent {
    /// Only the root process sends its version, and what the kernel offers.
    Hello {
        pid: u32,
        version: Option<u32>,
        kernel: Option<KernelSupport>,
    },
    Loaded {
        manifest: Box<Manifest>,
        source: Box<RawValue>,
    },
    Invalid {
        problems: Vec<Problem>,
    },
    Exited {
        pid: u32,
        status: i32,
    },
    ForkFailed {
        error: String,
    },
    Swept {},
}

/// From a worker: the outcome of a request.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkerReply {
    pub(crate) number: u64,
    /// Microseconds.
    pub(crate) took: u64,
    pub(crate) text: Option<String>,
    pub(crate) state: Option<Box<RawValue>>,
    pub(crate) tools: Option<Vec<ToolManifest>>,
    pub(crate) names: Option<Box<RawValue>>,
    pub(crate) error: Option<ToolError>,
    /// Why the worker ends after this reply.
    pub(crate) exit_reason: Option<String>,
}
