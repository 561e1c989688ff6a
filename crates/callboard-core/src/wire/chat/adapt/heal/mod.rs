//! Histories healed before they go upstream, so that one bad turn does not poison all that follow.
//!
//! Only what has one meaning is mended. What remains wrong, such as a result that answers no call, is left for the check of
//! the request to refuse.

mod history;
mod message;
#[cfg(test)]
mod tests;

pub use history::heal;
pub(super) use message::read_arguments_of;
