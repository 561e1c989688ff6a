//! Histories healed before they go upstream, so that one bad turn does not poison all that follow.
//!
//! Only what has one meaning is mended. What remains wrong, such as a result that answers no call, is not touched: that
//! is for the check of the request to refuse.

mod arguments;
mod contents;
mod history;
mod order;
#[cfg(test)]
mod tests;

pub(super) use arguments::read_arguments_of;
pub use history::heal;
