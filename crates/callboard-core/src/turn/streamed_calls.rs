//! Arguments streamed as they arrive, for clients that show long arguments while they are written.
//!
//! Calls are streamed in their order, each as soon as its name is certain. What was streamed cannot be repaired: if it turns out
//! to be broken, the turn fails.

use super::Event;
use super::call_assembler::PartialCall;
use crate::contract::ToolSet;
use crate::model::CallId;

/// How much of the calls of one reply was streamed.
#[derive(Debug, Default)]
pub(super) struct StreamedCalls {
    /// Bytes of arguments sent, for each call that has begun.
    sent: Vec<usize>,
}

impl StreamedCalls {
    /// True when nothing was streamed.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// How many calls have begun.
    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// Whether the call of this number may be streamed now: it is the last one begun, or the next.
    pub(super) fn is_next(&self, place: usize) -> bool {
        place == self.sent.len() || place + 1 == self.sent.len()
    }

    /// The events for the new part of a call; `new_id` makes its id when it begins.
    pub(super) fn grow(
        &mut self,
        place: usize,
        call: &PartialCall,
        tools: &ToolSet,
        new_id: impl FnOnce() -> CallId,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        if call.arguments.is_empty() || tools.get(&call.name).is_none() {
            return events;
        }
        if place == self.sent.len() {
            events.push(Event::CallBegins { id: new_id(), name: call.name.clone(), other: call.other.clone() });
            self.sent.push(0);
        }
        let Some(sent) = self.sent.get_mut(place) else { return events };
        if let Some(more) = call.arguments.get(*sent..).filter(|more| !more.is_empty()) {
            events.push(Event::CallGrows(more.to_owned()));
            *sent = call.arguments.len();
        }
        events
    }
}
