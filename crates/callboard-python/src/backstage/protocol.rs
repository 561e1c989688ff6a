//! What is said between Callboard and the processes of the host: types only.
//!
//! A fork order travels with the descriptors of the new process: its channel, standard output and standard error,
//! and for a worker its slip. Every process says hello first; only the root says which protocol it speaks, since
//! all others are forked from it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::manifest::{Manifest, ToolManifest};
use crate::problem::ProblemKind;

/// The version of everything below. The host's is in `wire.py`.
pub(crate) const VERSION: u32 = 1;

/// What the interpreter reads first: the host's modules, in the order in which they are run.
#[derive(Serialize)]
pub(crate) struct Boot<'a> {
    pub(crate) modules: &'a [(&'a str, &'a str)],
    pub(crate) settings: HostSettings,
}

#[derive(Serialize)]
pub(crate) struct HostSettings {
    /// The process that the root must not outlive.
    pub(crate) parent: u32,
    pub(crate) limits: HostLimits,
}

#[derive(Serialize)]
pub(crate) struct HostLimits {
    pub(crate) memory: u64,
    pub(crate) open_files: u64,
    pub(crate) result: usize,
    pub(crate) state: usize,
}

/// To the root: fork a dresser. To a dresser: fork a worker.
#[derive(Serialize)]
pub(crate) struct Fork {
    pub(crate) number: u64,
}

/// To a dresser, once: the file it is for.
#[derive(Serialize)]
pub(crate) struct Dress<'a> {
    pub(crate) id: &'a str,
    pub(crate) path: &'a str,
    /// The text of the file, where it was read before.
    pub(crate) source: Option<&'a str>,
}

/// To a worker: what to perform.
#[derive(Serialize)]
pub(crate) struct Order<'a> {
    pub(crate) number: u64,
    #[serde(rename = "do")]
    pub(crate) work: Work,
    pub(crate) tool: Option<&'a str>,
    pub(crate) arguments: Option<&'a RawValue>,
    pub(crate) state: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    Call,
    Open,
    Context,
    Tools,
    Names,
}

/// From the root and from dressers. A worker says hello and then only replies.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    Hello { pid: u32, version: Option<u32> },
    Loaded { manifest: Box<Manifest>, source: String },
    Refused { problems: Vec<FoundProblem> },
    Exited { pid: u32, status: i32 },
    NotForked { number: u64, why: String },
}

#[derive(Deserialize)]
pub(crate) struct FoundProblem {
    pub(crate) kind: ProblemKind,
    pub(crate) line: Option<u32>,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

/// From a worker: what came of an order.
#[derive(Debug, Deserialize)]
pub(crate) struct Reply {
    pub(crate) number: u64,
    /// Microseconds.
    pub(crate) took: u64,
    pub(crate) text: Option<String>,
    pub(crate) state: Option<Box<RawValue>>,
    pub(crate) tools: Option<Vec<ToolManifest>>,
    pub(crate) names: Option<Box<RawValue>>,
    pub(crate) fault: Option<ReportedFault>,
    /// Why the worker ends after this reply.
    pub(crate) leaving: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportedFault {
    UnknownTool {},
    Raised { exception: String, message: String, traceback: String },
    WrongType { got: String },
    OutputTooLarge { size: u64, limit: u64 },
    StateNotJson { path: String, found: String, remedy: String },
    StateTooLarge { size: u64, limit: u64 },
}
