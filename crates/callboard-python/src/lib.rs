//! Characters in worker processes: loads their files, runs their code, and keeps both from doing harm.
//!
//! A character is one Python file. Its code never runs in this process: an interpreter that we start forks a process
//! for each file, and that one forks workers, which can be killed at any moment. Knows nothing of HTTP, SQL or models;
//! what is done with results and state is the caller's part.

mod backstage;
mod character;
mod company;
mod fault;
mod interpreter;
mod manifest;
mod output;
mod problem;
mod settings;

pub use backstage::StartError;
pub use character::{CallOrder, CallOutcome, Character, Opening};
pub use company::Company;
pub use fault::{Failure, StageFailure, ToolFault};
pub use interpreter::{Interpreter, InterpreterError, Version};
pub use manifest::{CharacterLimits, Manifest, ReplyMode, ToolManifest};
pub use output::{OutputLine, OutputSink, OutputStream};
pub use problem::{LoadFailure, Problem, ProblemKind};
pub use settings::{CompanySettings, Limits};
