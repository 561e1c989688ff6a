//! Fills a tool's arguments from the utterance: one file per type of value, and the attempt that combines them.

mod attempt;
mod choices;
mod draft;
mod forced;
mod implied;
mod lists;
mod messages;
mod numbers;
mod own_or_other_side;
mod phrases;
mod shaped_values;
mod truths;

pub(super) use attempt::{Attempt, Evidence, Terms, attempt};
pub(super) use draft::Reading;
