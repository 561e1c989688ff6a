//! Arguments passed on as they grow, for clients that show long arguments while they are written.
//!
//! Calls go out in their order; a call is begun when its name is known for sure. What has gone out cannot be mended any
//! more: the engine ends such a turn with an error where the promise fails.

use super::Event;
use super::assemble::Slot;
use crate::contract::ToolSet;
use crate::model::CallId;

/// What has gone out of the calls of one reply.
#[derive(Debug, Default)]
pub(super) struct LiveCalls {
    /// Bytes of arguments sent, for each call that has begun.
    sent: Vec<usize>,
}

impl LiveCalls {
    /// True when nothing has gone out.
    pub(super) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// How many calls have begun.
    pub(super) fn len(&self) -> usize {
        self.sent.len()
    }

    /// Whether the call at this place may go out now: it is the last one begun, or the next.
    pub(super) fn is_next(&self, place: usize) -> bool {
        place == self.sent.len() || place + 1 == self.sent.len()
    }

    /// The events for what is new in a call; `new_id` is drawn when the call begins.
    pub(super) fn grow(
        &mut self,
        place: usize,
        slot: &Slot,
        tools: &ToolSet,
        new_id: impl FnOnce() -> CallId,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        if slot.arguments.is_empty() || tools.get(&slot.name).is_none() {
            return events;
        }
        if place == self.sent.len() {
            events.push(Event::CallBegins { id: new_id(), name: slot.name.clone() });
            self.sent.push(0);
        }
        let Some(sent) = self.sent.get_mut(place) else { return events };
        if let Some(more) = slot.arguments.get(*sent..).filter(|more| !more.is_empty()) {
            events.push(Event::CallGrows(more.to_owned()));
            *sent = slot.arguments.len();
        }
        events
    }
}
