//! Questions of the Berkeley Function Calling Leaderboard, asked through the gateway.
//!
//! Its files are not part of Callboard; their format is described in docs/eval.md.

mod accepted_answer;
mod ask;
mod direct;
mod questions;
mod schema;
mod valid_calls;

pub(super) use ask::{Questions, play};
pub(super) use questions::read;
