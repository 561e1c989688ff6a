//! Questions of the Berkeley Function Calling Leaderboard, asked through the gateway.
//!
//! Its files are not part of Callboard; their format is described in docs/eval.md.

mod accepted_answer;
mod ask;
mod questions;
mod schema;

pub(super) use ask::play;
pub(super) use questions::read;
