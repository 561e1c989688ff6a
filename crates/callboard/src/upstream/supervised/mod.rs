//! Model servers that Callboard starts itself: started, watched, restarted after they end, and ended with the program.
//!
//! Between Callboard and each server is a guardian, a small process that ends the server when Callboard is gone, however it ended.
//! Nothing here starts a task: `server` and the commands of authors poll `Upstreams::supervise`.

mod backoff;
mod exit;
mod guardian;
mod handle;
mod launch;
mod output;
mod process;
mod program_path;
mod status;
mod supervisor;
mod upstream;
mod variables;

pub use guardian::{GUARDIAN, guard};
pub use handle::SupervisedServer;
pub use launch::{Launch, LaunchRules};
pub(in crate::upstream) use status::Phase;
pub use status::ServerStatus;
use supervisor::supervise;
