//! One turn with a model as a state machine: deltas of the model's reply go in, actions come out. Nothing here waits or does
//! I/O.
//!
//! The engine knows neither wire formats nor sockets. Its driver calls the model, runs tools and passes on events as the
//! actions say, and feeds back what happens.

mod arguments_end;
mod call_assembler;
mod call_places;
mod calls_by_handler;
mod character_turn;
mod checked_calls;
mod engine;
mod gateway;
mod held_back_client_calls;
mod model_reply;
mod protocol;
mod reask_request;
mod reply_checker;
mod result_summary;
mod seen_calls;
mod streamed_calls;
mod tool_result;

pub use call_assembler::Assembler;
pub use engine::Turn;
pub use protocol::{Action, CharacterRules, Ending, Event, Input, ModelCall, ToolChoice, TurnRequest, TurnSettings};
pub use result_summary::summarize_results;
pub use tool_result::{AuthorRemark, Ran, ToolOutcome, ToolResult};
