//! Owns every process that runs Python, on one thread of its own.
//!
//! Handles on other threads talk to it through channels. The processes form a tree: the root process forks one zygote
//! per version of a character file, and each zygote forks the workers that run tool calls.

mod call_clock;
mod channel_process;
mod exit_reports;
mod fork_server;
mod hostile_frames;
mod job_queue;
mod process_handle;
mod process_output;
mod process_state;
mod progress_page;
mod protocol;
mod rest;
mod root_process;
mod shared_by_pools;
mod thread;
mod transport;
mod worker;
mod worker_pool;
mod worker_slots;
mod zygote;

pub use exit_reports::describe as describe_exit;
pub use hostile_frames::read_worker_frames;
pub(crate) use job_queue::{Job, JobResult};
pub use process_handle::open_child;
pub(crate) use protocol::{Operation, ToolCall, WorkerReply, WorkerRequest};
pub(crate) use rest::CharacterRest;
pub(crate) use thread::{Request, start};
pub(crate) use transport::json_frame;
pub(crate) use worker_pool::{LoadRequest, LoadedFile};
pub(crate) use zygote::CharacterFile;
