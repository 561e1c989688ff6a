//! Characters in worker processes: loads their files, runs their code, and limits the harm that either can do.
//!
//! A character is one Python file. Its code never runs in this process: an interpreter that we start forks a process
//! per file, which forks workers that can be killed at any time. Knows nothing of HTTP, SQL or models; storing results
//! and state is up to the caller.

mod character;
mod environment;
mod error;
mod host;
mod interpreter_check;
mod manifest;
mod output;
mod problem;
mod sandbox;
mod settings;
mod supervisor;

pub use character::{CallOutcome, CallRequest, Character, ConversationStart};
pub use environment::is_named;
pub use error::{CallError, CodePlace, HostError, StartError, ToolError};
pub use host::PythonHost;
pub use interpreter_check::InterpreterError;
pub use manifest::{CharacterLimits, Manifest, ReplyRules, ToolManifest};
pub use output::{OutputLine, OutputSink};
pub use problem::{LoadError, Problem, ProblemKind};
pub use sandbox::KernelSupport;
pub use settings::{HostSettings, Limits};
pub use supervisor::{describe_exit, open_child};

#[doc(hidden)]
pub use supervisor::read_worker_frames;
