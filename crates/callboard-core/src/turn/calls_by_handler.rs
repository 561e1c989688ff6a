//! The calls of one reply of a character's turn, by handler: a local tool, the client, or an error.
//!
//! Results are in the order of the calls. A client's call has none here: it is passed on when the turn ends, or cancelled when
//! the turn is interrupted before that.

use std::collections::HashMap;

use super::checked_calls::CheckedCall;
use super::{AuthorRemark, CharacterRules, ToolOutcome, ToolResult};
use crate::contract::{Call, ViolationKind, tool_error_message};
use crate::model::CallId;

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct CallsByHandler {
    dispositions: Vec<Disposition>,
}

#[derive(Debug)]
enum Disposition {
    /// Run here.
    Here(Call),
    /// Run by the client.
    Client(Call),
    /// Not run; the result says why.
    Refused(ToolResult, Refusal),
}

/// Why a call is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It violates the contract.
    Broken(ViolationKind),
    /// No more tools may be run in this turn.
    OverLimit,
    /// The turn was interrupted.
    CalledOff,
}

/// The results of a round in the order of the calls, and the calls for the client.
#[derive(Debug, Default)]
pub(super) struct RoundResults {
    pub(super) results: Vec<ToolResult>,
    pub(super) for_client: Vec<Call>,
}

impl CallsByHandler {
    /// Sorts the calls of a reply; `ran` tools were run in this turn already.
    pub(super) fn sorted(checked_calls: Vec<CheckedCall>, rules: &CharacterRules, ran: u64) -> Self {
        let mut left = rules.most_calls.map_or(u64::MAX, |most| most.saturating_sub(ran));
        let mut share = |checked| match checked {
            CheckedCall::Broken { raw, id, violation } => {
                let (text, outcome) = (tool_error_message(&raw, &violation), violation.kind.into());
                let remark = Some(AuthorRemark { summary: violation.message, traceback: None });
                Disposition::Refused(
                    ToolResult { id, text, outcome, ran: None, remark },
                    Refusal::Broken(violation.kind),
                )
            }
            CheckedCall::Valid(call) if rules.is_clients(&call.name) => Disposition::Client(call),
            CheckedCall::Valid(call) if left == 0 => Disposition::Refused(over_limit(call, rules), Refusal::OverLimit),
            CheckedCall::Valid(call) => {
                left -= 1;
                Disposition::Here(call)
            }
        };
        Self { dispositions: checked_calls.into_iter().map(&mut share).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.dispositions.is_empty()
    }

    /// The calls to run here, in their order.
    pub(super) fn here(&self) -> Vec<Call> {
        let here = |share: &Disposition| if let Disposition::Here(call) = share { Some(call.clone()) } else { None };
        self.dispositions.iter().filter_map(here).collect()
    }

    /// True when a call waits for the client.
    pub(super) fn has_client_calls(&self) -> bool {
        self.dispositions.iter().any(|share| matches!(share, Disposition::Client(_)))
    }

    /// Why calls are not run, in their order.
    pub(super) fn refusals(&self) -> impl Iterator<Item = Refusal> {
        self.dispositions
            .iter()
            .filter_map(|share| if let Disposition::Refused(_, why) = share { Some(*why) } else { None })
    }

    /// True when the reply has both a broken call and one for the client.
    pub(super) fn is_mixed_with_broken(&self) -> bool {
        self.has_client_calls() && self.refusals().any(|why| matches!(why, Refusal::Broken(_)))
    }

    /// Cancels the calls for the client; those that the model has a result for already get no second one.
    pub(super) fn call_off(&mut self, answered: impl Fn(&CallId) -> bool) {
        self.dispositions.retain(|share| !matches!(share, Disposition::Client(call) if answered(&call.id)));
        for share in &mut self.dispositions {
            if let Disposition::Client(call) = share {
                *share = Disposition::Refused(ToolResult::cancelled(call.id.clone()), Refusal::CalledOff);
            }
        }
    }

    /// Pairs the calls with the results of the tools that ran. A tool without a result was cancelled.
    pub(super) fn settle(self, ran: &[ToolResult]) -> RoundResults {
        let ran: HashMap<&CallId, &ToolResult> = ran.iter().map(|result| (&result.id, result)).collect();
        let mut settled = RoundResults::default();
        for share in self.dispositions {
            match share {
                Disposition::Client(call) => settled.for_client.push(call),
                Disposition::Refused(result, _) => settled.results.push(result),
                Disposition::Here(call) => {
                    let result = ran.get(&call.id).map(|result| (*result).clone());
                    settled.results.push(result.unwrap_or_else(|| ToolResult::cancelled(call.id)));
                }
            }
        }
        settled
    }
}

fn over_limit(call: Call, rules: &CharacterRules) -> ToolResult {
    let most = rules.most_calls.unwrap_or_default();
    let text =
        format!("Error: the limit of {most} tool calls for this response is used up. This call was not carried out.");
    ToolResult { id: call.id, text, outcome: ToolOutcome::OverLimit, ran: None, remark: None }
}
