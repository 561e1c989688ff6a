//! The calls of one reply on stage, sorted by who answers each: a tool that is run here, the client, or an error.
//!
//! Results are put in the order of the calls. A call of the client has none here: it is left to the client when the turn
//! ends, or called off when the turn is interrupted before that.

use super::places::Place;
use super::{StageRules, ToolOutcome, ToolResult};
use crate::contract::{Call, ViolationKind, tool_error_message};
use crate::model::CallId;

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct Round {
    shares: Vec<Share>,
}

#[derive(Debug)]
enum Share {
    /// Run here.
    Here(Call),
    /// Left to the client.
    Client(Call),
    /// Not carried out; the model is told why.
    Refused(ToolResult, Refusal),
}

/// Why a call is not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It broke a promise.
    Broken(ViolationKind),
    /// No more tools may be run in this turn.
    OverLimit,
    /// The turn was interrupted.
    CalledOff,
}

/// What came of a round: results for the model in the order of the calls, and what is left to the client.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) results: Vec<ToolResult>,
    pub(super) for_client: Vec<Call>,
}

impl Round {
    /// Sorts the calls of a reply; `ran` tools were run in this turn already.
    pub(super) fn sorted(places: Vec<Place>, rules: &StageRules, ran: u64) -> Self {
        let mut left = rules.most_calls.map_or(u64::MAX, |most| most.saturating_sub(ran));
        let mut share = |place| match place {
            Place::Broken { raw, id, violation } => {
                let (text, outcome) = (tool_error_message(&raw, &violation), violation.kind.into());
                Share::Refused(ToolResult { id, text, outcome, ran: None }, Refusal::Broken(violation.kind))
            }
            Place::Valid(call) if rules.is_clients(&call.name) => Share::Client(call),
            Place::Valid(call) if left == 0 => Share::Refused(over_limit(call, rules), Refusal::OverLimit),
            Place::Valid(call) => {
                left -= 1;
                Share::Here(call)
            }
        };
        Self { shares: places.into_iter().map(&mut share).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// The calls to run here, in their order.
    pub(super) fn here(&self) -> Vec<Call> {
        let here = |share: &Share| if let Share::Here(call) = share { Some(call.clone()) } else { None };
        self.shares.iter().filter_map(here).collect()
    }

    /// True when a call waits for the client.
    pub(super) fn has_client_calls(&self) -> bool {
        self.shares.iter().any(|share| matches!(share, Share::Client(_)))
    }

    /// Why calls are not carried out, in their order.
    pub(super) fn refusals(&self) -> impl Iterator<Item = Refusal> {
        self.shares.iter().filter_map(|share| if let Share::Refused(_, why) = share { Some(*why) } else { None })
    }

    /// True when a broken call stands beside one that waits for the client.
    pub(super) fn is_mixed_with_broken(&self) -> bool {
        self.has_client_calls() && self.refusals().any(|why| matches!(why, Refusal::Broken(_)))
    }

    /// What was to go to the client never will; calls that the model has an answer to already get no second one.
    pub(super) fn call_off(&mut self, answered: impl Fn(&CallId) -> bool) {
        self.shares.retain(|share| !matches!(share, Share::Client(call) if answered(&call.id)));
        for share in &mut self.shares {
            if let Share::Client(call) = share {
                *share = Share::Refused(ToolResult::cancelled(call.id.clone()), Refusal::CalledOff);
            }
        }
    }

    /// Puts the results of the tools that were run behind their calls. A tool without a result was kept from running.
    pub(super) fn settle(self, ran: &[ToolResult]) -> Settled {
        let mut settled = Settled::default();
        for share in self.shares {
            match share {
                Share::Client(call) => settled.for_client.push(call),
                Share::Refused(result, _) => settled.results.push(result),
                Share::Here(call) => {
                    let result = ran.iter().find(|result| result.id == call.id).cloned();
                    settled.results.push(result.unwrap_or_else(|| ToolResult::cancelled(call.id)));
                }
            }
        }
        settled
    }
}

fn over_limit(call: Call, rules: &StageRules) -> ToolResult {
    let most = rules.most_calls.unwrap_or_default();
    let text =
        format!("Error: the limit of {most} tool calls for this response is used up. This call was not carried out.");
    ToolResult { id: call.id, text, outcome: ToolOutcome::OverLimit, ran: None }
}
