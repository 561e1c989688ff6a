//! The stage: characters that are offered as models, their conversations, and their turns.
//!
//! A character is one Python file. What runs its code is `callboard_python`; what runs a turn is `session`; here both are
//! brought together with what is remembered of a conversation.

mod cast;
mod casting;
mod chain;
mod conversations;
mod in_history;
mod printed;
mod role;
mod run;
mod scene;
mod watch;

pub use cast::{Cast, FileProblem};
pub use casting::{Asked, open};
pub use chain::Key;
pub use conversations::Conversations;
pub use in_history::{InHistory, Whose, begin_in_history};
pub use printed::{Printed, terminal};
pub use role::Role;
pub use run::Run;
pub use scene::{Past, Scene, SceneParts};
pub use watch::watch;
