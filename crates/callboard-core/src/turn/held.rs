//! The client's calls that wait while the model is asked again for the broken calls beside them.
//!
//! They go out together with what the model mends, in the order of the first reply. Until then the model is told that they are
//! accepted; when they go out, that answer is taken back, for the client gives the real one.

use std::collections::HashSet;

use super::StageRules;
use super::ladder::spoken_call;
use super::places::{Place, fill, is_repeated};
use crate::contract::{Call, accepted_message};
use crate::model::{CallId, Item};

/// The calls of earlier replies that are not settled yet.
#[derive(Debug, Default)]
pub(super) struct HeldCalls {
    /// The client's valid calls, and the broken ones that are asked for again, in their order.
    places: Vec<Place>,
    /// The calls that the model was told are accepted.
    accepted: HashSet<CallId>,
}

impl HeldCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The calls of a reply that are new: models repeat calls that they were told not to repeat.
    pub(super) fn new_among(&self, places: Vec<Place>) -> Vec<Place> {
        places.into_iter().filter(|place| !is_repeated(place, &self.places)).collect()
    }

    /// All calls in their order, those of a new reply in the places of the broken ones. What of them would have to wait in turn
    /// is remembered.
    pub(super) fn join(&mut self, new: &[Place], rules: &StageRules) -> Vec<Place> {
        let all = fill(&self.places, new);
        let waits = |place: &&Place| match place {
            Place::Valid(call) => rules.is_clients(&call.name),
            Place::Broken { .. } => true,
        };
        self.places = all.iter().filter(waits).cloned().collect();
        all
    }

    /// Nothing waits any more, or nothing has to.
    pub(super) fn release(&mut self) {
        self.places.clear();
    }

    /// Tells the model about calls that wait, in the order of the calls of its last reply.
    pub(super) fn accept(&mut self, calls: &[Call], transcript: &mut Vec<Item>) {
        for call in calls {
            if self.accepted.insert(call.id.clone()) {
                transcript.push(Item::ToolResult { id: call.id.clone(), text: accepted_message().to_owned() });
            }
        }
        let Some(last) = transcript.iter().rposition(|item| matches!(item, Item::Assistant { .. })) else { return };
        let (said, results) = transcript.split_at_mut(last.saturating_add(1));
        let Some(Item::Assistant { calls, .. }) = said.last() else { return };
        results.sort_by_key(|item| match item {
            Item::ToolResult { id, .. } => calls.iter().position(|call| call.id == *id),
            _ => None,
        });
    }

    /// Whether the model was told that this call is accepted.
    pub(super) fn is_accepted(&self, id: &CallId) -> bool {
        self.accepted.contains(id)
    }

    /// Calls that waited never reach the client: their answer becomes this one.
    pub(super) fn call_off(&mut self, answer: &str, transcript: &mut [Item]) {
        for item in transcript {
            if let Item::ToolResult { id, text } = item
                && self.accepted.contains(id)
            {
                answer.clone_into(text);
            }
        }
    }

    /// Calls that waited go out: in the conversation they now stand in the last reply, and have no answer yet.
    pub(super) fn hand_over(&mut self, calls: &[Call], transcript: &mut Vec<Item>) {
        self.release();
        if self.accepted.is_empty() {
            return;
        }
        let ids: HashSet<&CallId> = calls.iter().map(|call| &call.id).collect();
        let mut spoken: Vec<_> = calls.iter().map(spoken_call).collect();
        transcript.retain(|item| !matches!(item, Item::ToolResult { id, .. } if ids.contains(id)));
        for item in transcript.iter_mut().rev() {
            if let Item::Assistant { calls, .. } = item {
                calls.retain(|call| !ids.contains(&call.id));
                calls.append(&mut spoken);
            }
        }
        let said =
            |item: &Item| !matches!(item, Item::Assistant { text, calls } if text.is_empty() && calls.is_empty());
        transcript.retain(said);
    }
}
