//! One pass over a history, and the names of what was mended.

use serde_json::Value;

use super::{arguments, contents, order};

/// What was mended, each kind once, in the order it was first met.
#[derive(Default)]
pub(super) struct Mended(Vec<&'static str>);

impl Mended {
    pub(super) fn note(&mut self, kind: &'static str) {
        if !self.0.contains(&kind) {
            self.0.push(kind);
        }
    }
}

/// Heals a history and says what was mended: nothing for a clean one, which stays as it is.
///
/// The words: `object_arguments`, `empty_arguments`, `repaired_arguments`, `malformed_arguments`, `empty_tool_calls`,
/// `null_content`, `other_content`, `moved_result`, `unanswered_call`.
pub fn heal(messages: &mut Vec<Value>) -> Vec<&'static str> {
    let mut mended = Mended::default();
    for message in messages.iter_mut() {
        arguments::heal(message, &mut mended);
        contents::heal(message, &mut mended);
    }
    order::heal(messages, &mut mended);
    mended.0
}
