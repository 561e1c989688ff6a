//! Where characters run: one thread of our own, which owns every process, socket and pipe.
//!
//! Handles live on any thread and talk to it through channels. Below it stand the root, one dresser for each version
//! of a file, and workers, as processes; a member is what keeps the workers of one character.

mod dresser;
mod host;
mod job;
mod member;
mod obituaries;
mod process;
mod protocol;
mod queue;
mod relay;
mod root;
mod slip;
mod stage;
mod start_error;
mod thread;
mod transport;
mod worker;

pub(crate) use job::{Answer, Job};
pub(crate) use member::{Casting, Role};
pub(crate) use protocol::{Order, Reply, ReportedFault, Work};
pub(crate) use thread::Backstage;
pub(crate) use transport::frame;

pub use start_error::StartError;
