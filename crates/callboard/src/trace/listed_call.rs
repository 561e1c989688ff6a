//! The calls of a stored turn, one entry for each call that the model wrote, without any content.

use serde::{Deserialize, Serialize};

/// Errors of calls that were not run.
const REFUSALS: [&str; 4] = ["validation", "json_parse", "unknown_tool", "over_limit"];

/// What is read of a stored trace. Recorded content is skipped.
#[derive(Debug, Deserialize)]
pub struct ListedTurn {
    character: Option<String>,
    model: String,
    id: String,
    started_at_ms: i64,
    duration_ms: f64,
    endpoint: String,
    /// Of a request that was passed through.
    path: Option<String>,
    client: Option<String>,
    request_id: String,
    conversation: Option<String>,
    outcome: String,
    error: Option<TurnError>,
    upstream_requests: Vec<Span>,
    #[serde(default)]
    bad_calls: Vec<BadCall>,
    tool_calls: Vec<ToolCall>,
}

#[derive(Debug, Deserialize)]
struct TurnError {
    code: String,
}

/// A span of time within the turn.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Span {
    start_ms: f64,
    #[serde(default)]
    duration_ms: f64,
}

#[derive(Debug, Deserialize)]
struct BadCall {
    tool: String,
    #[serde(default)]
    call_ids: Vec<String>,
    outcome: String,
    violations: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ToolCall {
    id: String,
    name: String,
    run_by: String,
    outcome: Option<String>,
    error_type: Option<String>,
    start_ms: f64,
    #[serde(default)]
    duration_ms: f64,
}

/// One call in the list; a turn without calls is one entry without a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedCall {
    /// The turn's trace.
    pub turn: String,
    /// The call, where it got an id.
    pub call: Option<String>,
    /// When it was run or sent to the client; when the turn began, where it was neither.
    pub at_ms: f64,
    /// The tool that was meant.
    pub tool: Option<String>,
    /// `valid`, `repaired`, `reasked`, `refused` or `observed`.
    pub verdict: Option<String>,
    /// What was wrong with it.
    pub violations: Vec<String>,
    /// `client` or `character`.
    pub run_by: Option<String>,
    /// How its tool ended, if Callboard ran it.
    pub outcome: Option<String>,
    /// Why its tool failed.
    pub error_type: Option<String>,
    /// How long its tool ran here.
    pub duration_ms: Option<f64>,
    /// How long the turn took.
    pub turn_ms: f64,
    /// How much of it neither a model server nor a tool took.
    pub added_ms: f64,
    /// How the turn ended.
    pub turn_outcome: String,
    /// The code of its error.
    pub error: Option<String>,
    /// The character.
    pub character: Option<String>,
    /// The model.
    pub model: String,
    /// The client, as it names itself.
    pub client: Option<String>,
    /// The endpoint.
    pub endpoint: String,
    /// The path of a request that was passed through.
    pub path: Option<String>,
    /// The conversation.
    pub conversation: Option<String>,
    /// The request.
    pub request_id: String,
}

impl ListedTurn {
    /// When it began.
    pub fn started_at_ms(&self) -> i64 {
        self.started_at_ms
    }

    /// How long it took.
    pub fn duration_ms(&self) -> f64 {
        self.duration_ms
    }

    /// Whether it ended with a whole reply.
    pub fn is_complete(&self) -> bool {
        self.outcome == "complete"
    }

    /// Whether it ended with an error.
    pub fn has_failed(&self) -> bool {
        self.outcome == "failed"
    }

    /// How much of the turn neither a model server nor a tool took.
    pub fn added_ms(&self) -> f64 {
        let tools = self.tool_calls.iter().filter(|call| call.run_by == "character").map(ToolCall::span);
        let mut spans: Vec<Span> = self.upstream_requests.iter().copied().chain(tools).collect();
        spans.sort_by(|one, other| one.start_ms.total_cmp(&other.start_ms));
        let (mut others, mut until) = (0.0, 0.0_f64);
        for span in spans {
            let end = (span.start_ms + span.duration_ms).min(self.duration_ms);
            others += (end - span.start_ms.max(until)).max(0.0);
            until = until.max(end);
        }
        (self.duration_ms - others).max(0.0)
    }

    /// Its calls, the latest first.
    pub fn calls(&self) -> Vec<ListedCall> {
        let verdict_of = |id: &str| self.bad_calls.iter().find(|bad| bad.call_ids.iter().any(|known| known == id));
        let is_listed = |bad: &&BadCall| self.tool_calls.iter().any(|call| bad.call_ids.contains(&call.id));
        let made = self.tool_calls.iter().map(|call| self.call(call, verdict_of(&call.id)));
        let unmade = self.bad_calls.iter().filter(|bad| !is_listed(bad)).map(|bad| self.bad_call(bad));
        let mut calls: Vec<ListedCall> = unmade.chain(made).collect();
        calls.sort_by(|one, other| other.at_ms.total_cmp(&one.at_ms));
        calls
    }

    /// The turn as an entry without a call.
    pub fn without_call(&self) -> ListedCall {
        self.entry(self.started_at_ms as f64)
    }

    fn call(&self, call: &ToolCall, bad: Option<&BadCall>) -> ListedCall {
        let ran = call.run_by == "character";
        ListedCall {
            call: Some(call.id.clone()),
            tool: Some(call.name.clone()),
            verdict: Some(bad.map_or_else(|| call.verdict(), |bad| bad.outcome.as_str()).to_owned()),
            violations: bad.map(|bad| bad.violations.clone()).unwrap_or_default(),
            run_by: Some(call.run_by.clone()),
            outcome: call.outcome.clone(),
            error_type: call.error_type.clone(),
            duration_ms: ran.then_some(call.duration_ms),
            ..self.entry(self.started_at_ms as f64 + call.start_ms)
        }
    }

    fn bad_call(&self, bad: &BadCall) -> ListedCall {
        ListedCall {
            call: bad.call_ids.first().cloned(),
            tool: Some(bad.tool.clone()),
            verdict: Some(bad.outcome.clone()),
            violations: bad.violations.clone(),
            ..self.entry(self.started_at_ms as f64)
        }
    }

    fn entry(&self, at_ms: f64) -> ListedCall {
        ListedCall {
            turn: self.id.clone(),
            call: None,
            at_ms,
            tool: None,
            verdict: None,
            violations: Vec::new(),
            run_by: None,
            outcome: None,
            error_type: None,
            duration_ms: None,
            turn_ms: self.duration_ms,
            added_ms: self.added_ms(),
            turn_outcome: self.outcome.clone(),
            error: self.error.as_ref().map(|error| error.code.clone()),
            character: self.character.clone(),
            model: self.model.clone(),
            client: self.client.clone(),
            endpoint: self.endpoint.clone(),
            path: self.path.clone(),
            conversation: self.conversation.clone(),
            request_id: self.request_id.clone(),
        }
    }
}

impl ToolCall {
    /// What became of a call that no bad call is kept of, such as one that was made by hand.
    fn verdict(&self) -> &'static str {
        let was_refused = self.error_type.as_deref().is_some_and(|error| REFUSALS.contains(&error));
        if was_refused { "refused" } else { "valid" }
    }

    fn span(&self) -> Span {
        Span { start_ms: self.start_ms, duration_ms: self.duration_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: &str = r#"{"character":"grimlog","model":"m","id":"t","started_at_ms":1000,"duration_ms":100.0,"endpoint":"chat",
        "request_id":"r","outcome":"complete","input":{"messages":[{"role":"user"}]},
        "upstream_requests":[{"start_ms":5.0,"duration_ms":40.0},{"start_ms":60.0,"duration_ms":30.0}],
        "bad_calls":[{"tool":"add","call_ids":["a"],"outcome":"repaired","violations":["trailing_comma"]},
        {"tool":"sub","call_ids":["x"],"outcome":"reasked","violations":["unknown_tool_call"]}],
        "tool_calls":[{"id":"a","name":"add","run_by":"character","outcome":"ok","start_ms":46.0,"duration_ms":9.0},
        {"id":"b","name":"sub","run_by":"character","outcome":"error","error_type":"timeout","start_ms":50.0,"duration_ms":4.0}]}"#;

    fn turn() -> ListedTurn {
        serde_json::from_str(TURN).unwrap()
    }

    #[test]
    fn each_call_has_its_verdict() {
        let calls = turn().calls();
        let shown: Vec<_> = calls
            .iter()
            .map(|call| (call.tool.as_deref().unwrap(), call.verdict.as_deref().unwrap(), call.error_type.as_deref()))
            .collect();
        assert_eq!(shown, [("sub", "valid", Some("timeout")), ("add", "repaired", None), ("sub", "reasked", None)]);
        assert_eq!((calls[0].at_ms, calls[0].duration_ms), (1050.0, Some(4.0)));
    }

    #[test]
    fn a_call_by_hand_that_was_not_run_was_refused() {
        for (error, verdict) in [("validation", "refused"), ("unknown_tool", "refused"), ("execution", "valid")] {
            let trace = TURN.replace("\"timeout\"", &format!("\"{error}\"")).replace("call_ids", "other");
            let calls = serde_json::from_str::<ListedTurn>(&trace).unwrap().calls();
            assert_eq!(calls[0].verdict.as_deref(), Some(verdict), "{error}");
        }
    }

    #[test]
    fn time_of_servers_and_tools_is_not_counted_twice() {
        assert!((turn().added_ms() - 21.0).abs() < 1e-9, "100 - 40 - 30 - 9");
    }
}
