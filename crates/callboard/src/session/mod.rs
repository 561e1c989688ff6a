//! A turn in motion: what the engine wants is done here, and what happens is fed back to it.
//!
//! A session knows model servers and the engine. It knows nothing of HTTP towards the client: events go up as they are.

mod asking;
mod drive;
mod performer;
mod progress;
mod relay;
mod stopwatch;
pub mod undo_tool;

pub use asking::{Asking, UnderWay};
pub use callboard_core::journal::StateRecord as Record;
pub use drive::{Session, SessionParts};
pub use performer::Performer;
pub use progress::Progress;
pub use relay::{Observer, relay_body};
