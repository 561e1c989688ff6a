//! The client's calls that wait while the model is asked again for broken calls of the same reply.
//!
//! They are passed on together with the corrected calls, in the order of the first reply. Until then their result says that they
//! are accepted; when they are passed on, that result is removed, because the client gives the real one.

use std::collections::{HashMap, HashSet};

use super::CharacterRules;
use super::checked_calls::{self, CheckedCall, fill};
use super::reask_request::spoken_call;
use crate::contract::{Call, accepted_message};
use crate::model::{CallId, Item};

/// The calls of earlier replies that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct HeldBackClientCalls {
    /// The client's valid calls, and the broken ones that are asked for again, in their order.
    checked_calls: Vec<CheckedCall>,
    /// The calls whose result says that they are accepted.
    accepted: HashSet<CallId>,
}

impl HeldBackClientCalls {
    pub(super) fn is_empty(&self) -> bool {
        self.checked_calls.is_empty()
    }

    /// The calls of a reply that are new: models repeat accepted calls.
    pub(super) fn new_among(&self, reply: &[CheckedCall]) -> Vec<CheckedCall> {
        checked_calls::new_among(reply, &self.checked_calls).collect()
    }

    /// All calls in order, with those of a new reply in place of the broken ones. Keeps those still waiting.
    pub(super) fn join(&mut self, new: &[CheckedCall], rules: &CharacterRules) -> Vec<CheckedCall> {
        let all = fill(&self.checked_calls, new);
        let waits = |checked: &&CheckedCall| match checked {
            CheckedCall::Valid(call) => rules.is_clients(&call.name),
            CheckedCall::Broken { .. } => true,
        };
        self.checked_calls = all.iter().filter(waits).cloned().collect();
        all
    }

    /// Drops the waiting calls.
    pub(super) fn release(&mut self) {
        self.checked_calls.clear();
    }

    /// Adds a result for each waiting call, in the order of the calls of the last reply.
    pub(super) fn accept(&mut self, calls: &[Call], transcript: &mut Vec<Item>) {
        for call in calls {
            if self.accepted.insert(call.id.clone()) {
                transcript.push(Item::ToolResult { id: call.id.clone(), text: accepted_message().to_owned() });
            }
        }
        let Some(last) = transcript.iter().rposition(|item| matches!(item, Item::Assistant { .. })) else { return };
        let (before, results) = transcript.split_at_mut(last.saturating_add(1));
        let Some(Item::Assistant { calls, .. }) = before.last() else { return };
        let places: HashMap<&CallId, usize> = calls.iter().zip(0..).map(|(call, place)| (&call.id, place)).collect();
        results.sort_by_key(|item| match item {
            Item::ToolResult { id, .. } => places.get(id).copied(),
            _ => None,
        });
    }

    /// Whether the result of this call says that it is accepted.
    pub(super) fn is_accepted(&self, id: &CallId) -> bool {
        self.accepted.contains(id)
    }

    /// Replaces the results of calls that never reach the client.
    pub(super) fn call_off(&mut self, answer: &str, transcript: &mut [Item]) {
        for item in transcript {
            if let Item::ToolResult { id, text } = item
                && self.accepted.contains(id)
            {
                answer.clone_into(text);
            }
        }
    }

    /// Passes on the waiting calls: in the transcript they move to the last reply, without results.
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
        let is_kept =
            |item: &Item| !matches!(item, Item::Assistant { text, calls } if text.is_empty() && calls.is_empty());
        transcript.retain(is_kept);
    }
}
