//! One turn with a model: pieces of its reply go in, actions come out; nothing here waits or performs anything.
//!
//! The engine knows neither wires nor sockets. Whoever drives it calls the model when told to, passes on what is to be
//! emitted, and feeds back what the model says.

mod arguments_end;
mod assemble;
mod engine;
mod gateway;
mod held;
mod input;
mod inspect;
mod ladder;
mod live;
mod places;
mod reply;
mod round;
mod stage;
mod tool_result;

pub use assemble::Assembler;
pub use engine::Turn;
pub use input::{Action, Ask, AskChoice, Ending, Event, Input, StageRules, TurnRequest, TurnSettings};
pub use tool_result::{Ran, ToolOutcome, ToolResult};
