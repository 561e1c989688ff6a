//! The stage: characters that are offered as models, their conversations, and their turns.
//!
//! A character is one Python file. What runs its code is `callboard_python`; what runs a turn is `session`; here both are
//! brought together with what is remembered of a conversation.

mod cast;
mod chain;
mod conversations;
mod printed;
mod role;
mod scene;
mod watch;

pub use cast::{Cast, FileProblem};
pub use chain::Key;
pub use conversations::{Conversations, Snapshot};
pub use printed::{Printed, terminal};
pub use role::Role;
pub use scene::{Scene, SceneParts, begin};
pub use watch::watch;
