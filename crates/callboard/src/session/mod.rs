//! One turn, from the model request to the last byte of the reply.
//!
//! [`TurnDriver`] performs what the engine asks for and feeds back what happens. [`Session`] owns the turn: it writes the reply in the
//! client's format, saves it, and decides what happens when it ends. Neither knows a transport.

mod busy_time;
mod character_setup;
mod driver;
mod idle_and_keep_alive;
mod model_request;
mod observed_passthrough;
mod outgoing_request;
mod reply_reading;
#[expect(clippy::module_inception, reason = "the session is what the module is about")]
mod session;
mod standalone_calls;
mod tool_decision;
mod tool_runner;
mod undo_tool;

pub use character_setup::{CharacterPrompt, CharacterRequest, character_model, drive_character, offered_tools};
pub use driver::{Progress, TurnContext, TurnDriver};
pub use observed_passthrough::{Observer, passthrough};
pub use session::{Session, Step};
pub use standalone_calls::{CallContext, RefusedCall, StandaloneCalls, StandaloneRun};
