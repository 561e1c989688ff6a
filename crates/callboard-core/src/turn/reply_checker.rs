//! Checks the calls of a finished reply: names, arguments and ids, with a report of every repair.

use std::collections::HashSet;

use serde_json::Map;

use super::TurnRequest;
use super::checked_calls::CheckedCall;
use super::model_reply::ModelReply;
use crate::contract::{BadCall, Call, CheckBudget, CheckedArguments, Outcome, RawCall, Report, check_arguments};
use crate::model::{CallId, RandomBytes, Usage};

/// Checks the replies of one turn.
pub(super) struct ReplyChecker {
    random: RandomBytes,
    ids: HashSet<String>,
    budget: CheckBudget,
    pub(super) report: Report,
    pub(super) usage: Option<Usage>,
    pub(super) spoken_bytes: usize,
}

impl ReplyChecker {
    pub(super) fn new(used_ids: &[String], budget: CheckBudget, random: RandomBytes) -> Self {
        let ids = used_ids.iter().cloned().collect();
        Self { random, ids, budget, report: Report::default(), usage: None, spoken_bytes: 0 }
    }

    /// The calls of a closed reply in their order. Ids that were `streamed` already are not reported as replaced.
    pub(super) fn check_reply(
        &mut self,
        reply: &mut ModelReply,
        request: &TurnRequest,
        streamed: bool,
    ) -> Vec<CheckedCall> {
        self.spoken_bytes += std::mem::take(&mut reply.bytes);
        reply.usage.take().into_iter().for_each(|usage| self.add_usage(usage));
        let (calls, ordered) = reply.take_calls();
        if reply.cut_calls > 0 {
            self.report.note("cut_off_call", Outcome::Repaired);
        }
        if !ordered {
            self.report.note("call_index", Outcome::Repaired);
        }
        if calls.iter().any(|call| call.from_text) {
            self.report.note("call_in_text", Outcome::Repaired);
        }
        calls.into_iter().flat_map(|call| self.check(call, request, streamed)).collect()
    }

    /// Adds the tokens of one more request.
    pub(super) fn add_usage(&mut self, usage: Usage) {
        match &mut self.usage {
            Some(sum) => sum.add(usage),
            None => self.usage = Some(usage),
        }
    }

    /// Checks one call; several result if its arguments are concatenated.
    fn check(&mut self, raw: RawCall, request: &TurnRequest, streamed: bool) -> Vec<CheckedCall> {
        match check_arguments(&raw, &request.tools, &request.rules, &mut self.budget) {
            Ok(checked) => {
                let is_repaired = checked.len() != 1 || checked.iter().any(|call| !call.repairs.is_empty());
                self.report.count_valid(is_repaired);
                let is_kept = is_repaired && self.report.add_bad_call(|| BadCall::repaired(&raw, &checked));
                let (mut offered, silently) = (raw.id.as_deref(), raw.from_text || streamed);
                let mut other = raw.other;
                let call = |checked| {
                    let call = self.call(checked, offered.take(), silently);
                    Call { other: std::mem::take(&mut other), ..call }
                };
                let calls: Vec<Call> = checked.into_iter().map(call).collect();
                if is_kept {
                    self.report.identify_last_bad_call(calls.iter().map(|call| call.id.clone()).collect());
                }
                calls.into_iter().map(CheckedCall::Valid).collect()
            }
            Err(violation) => {
                self.report.count_broken();
                let id = self.id_for(raw.id.as_deref(), true);
                self.report.add_bad_call(|| BadCall::broken(&raw, &id, &violation));
                vec![CheckedCall::Broken { raw, id, violation }]
            }
        }
    }

    fn call(&mut self, checked: CheckedArguments, offered: Option<&str>, silently: bool) -> Call {
        for repair in checked.repairs {
            self.report.note(repair, Outcome::Repaired);
        }
        let id = self.id_for(offered, silently);
        Call { id, name: checked.tool, arguments: checked.arguments, other: Map::new() }
    }

    /// The server's id where it is valid and new, else a random one.
    pub(super) fn id_for(&mut self, offered: Option<&str>, silently: bool) -> CallId {
        if let Some(id) = offered.and_then(CallId::accept).filter(|id| !self.ids.contains(id.as_str())) {
            self.ids.insert(id.as_str().to_owned());
            return id;
        }
        if !silently {
            self.report.note("call_id", Outcome::Repaired);
        }
        self.new_id()
    }

    /// A random id that is new to the conversation. Collisions increment the bytes, so a constant source terminates too.
    fn new_id(&mut self) -> CallId {
        let mut bytes = (self.random)();
        loop {
            let id = CallId::from_random(bytes);
            if self.ids.insert(id.as_str().to_owned()) {
                return id;
            }
            for byte in &mut bytes {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_random_source_still_gives_new_ids() {
        let mut checker = ReplyChecker::new(&[], CheckBudget::new(1000), Box::new(|| [7; 24]));
        let ids: HashSet<CallId> = (0..200).map(|_| checker.new_id()).collect();
        assert_eq!(ids.len(), 200);
    }
}
