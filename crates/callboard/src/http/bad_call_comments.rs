//! Calls that were not valid as the model wrote them, as comments in a stream, for a client that asks for them: before, after, and why.
//!
//! Clients of server-sent events ignore comments, and the conversation's own client may see what its model wrote.

use callboard_core::contract::BadCall as FoundCall;
use http::{HeaderMap, HeaderName};
use serde_json::json;

use crate::trace::BadCall;

const DETAILS: HeaderName = HeaderName::from_static("callboard-details");
const CALLS: &str = "calls";

/// What was not shown yet.
pub(super) struct BadCallComments {
    shown: usize,
}

/// Whether a request wants to be shown such calls: `callboard-details: calls`.
pub(super) fn are_asked_for(headers: &HeaderMap) -> bool {
    headers.get(DETAILS).is_some_and(|value| value == CALLS)
}

impl BadCallComments {
    pub(super) fn new() -> Self {
        Self { shown: 0 }
    }

    /// Comments for calls whose outcome is known now. At the end of a turn the outcome of all is known.
    pub(super) fn next(&mut self, calls: &[FoundCall], is_end: bool) -> String {
        let new = calls.get(self.shown..).unwrap_or_default();
        let known = new.iter().take_while(|call| is_end || call.outcome.is_some());
        let comments: Vec<String> =
            known.map(|call| format!(": callboard-call {}\n\n", json!(BadCall::of(call, true)))).collect();
        self.shown += comments.len();
        comments.concat()
    }
}

#[cfg(test)]
mod tests {
    use callboard_core::contract::Outcome;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_call_is_shown_once_its_outcome_is_known() {
        let call = |outcome| FoundCall { tool: "a\nb".to_owned(), outcome, ..FoundCall::default() };
        let mut comments = BadCallComments::new();
        let open = [call(Some(Outcome::Repaired)), call(None)];
        assert_eq!(comments.next(&open, false).lines().count(), 2);
        assert_eq!(comments.next(&open, false), "");
        let last = comments.next(&open, true);
        let shown: Value = serde_json::from_str(last.trim().strip_prefix(": callboard-call ").unwrap()).unwrap();
        assert_eq!((&shown["tool"], &shown["outcome"]), (&json!("a\nb"), &json!("refused")));
        assert_eq!(comments.next(&open, true), "");
    }
}
