//! A trace as `callboard traces` shows it.

use std::fmt;

use serde::Deserialize;

use crate::clock;

/// What is shown of a trace.
#[derive(Debug, Deserialize)]
pub(super) struct ShownTrace {
    pub(super) id: String,
    character: Option<String>,
    model: String,
    started_at_ms: i64,
    duration_ms: f64,
    endpoint: String,
    /// Of a request that was passed through.
    #[serde(default)]
    method: String,
    #[serde(default)]
    path: String,
    request_id: String,
    outcome: String,
    error: Option<ShownError>,
    calls: Calls,
    upstream_requests: Vec<UpstreamRequest>,
    #[serde(default)]
    bad_calls: Vec<BadCall>,
    tool_calls: Vec<ToolCall>,
}

#[derive(Debug, Deserialize)]
struct ShownError {
    code: String,
    status: u16,
}

#[derive(Debug, Deserialize)]
struct Calls {
    made: u64,
}

#[derive(Debug, Deserialize)]
struct UpstreamRequest {
    url: String,
    outcome: String,
    status: Option<u16>,
}

#[derive(Debug, Deserialize)]
struct BadCall {
    tool: String,
    outcome: String,
    violations: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    reason: Option<String>,
    before: Option<CallText>,
    #[serde(default)]
    after: Vec<CallText>,
}

#[derive(Debug, Deserialize)]
struct CallText {
    name: String,
    arguments: String,
}

#[derive(Debug, Deserialize)]
struct ToolCall {
    name: String,
    outcome: Option<String>,
    error_type: Option<String>,
    arguments: Option<String>,
    result: Option<String>,
}

impl ShownTrace {
    /// Whether it has a call whose content was not recorded.
    pub(super) fn hides_content(&self) -> bool {
        self.bad_calls.iter().any(|call| call.before.is_none()) || self.failed_tools().any(|call| call.result.is_none())
    }

    fn endpoint(&self) -> String {
        match self.path.as_str() {
            "" => self.endpoint.clone(),
            path => one_line(&format!("{} {path}", self.method)),
        }
    }

    /// The character, the model, or both.
    fn who(&self) -> String {
        match (&self.character, self.model.as_str()) {
            (Some(character), "") => character.clone(),
            (Some(character), model) => format!("{character} by {model}"),
            (None, "") => "no model".to_owned(),
            (None, model) => model.to_owned(),
        }
    }

    /// What was called, where something could be.
    fn called(&self) -> String {
        match (self.endpoint.as_str(), self.calls.made) {
            ("tool", _) => self.tool_calls.iter().map(|call| format!(", called {}", one_line(&call.name))).collect(),
            _ if !self.path.is_empty() => String::new(),
            (_, 1) => ", 1 call".to_owned(),
            (_, made) => format!(", {made} calls"),
        }
    }

    fn failed_tools(&self) -> impl Iterator<Item = &ToolCall> {
        self.tool_calls.iter().filter(|call| call.outcome.as_deref() == Some("error"))
    }
}

impl fmt::Display for ShownTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = clock::utc(self.started_at_ms);
        write!(f, "{when}  {}  {}  {}: {}", self.request_id, self.endpoint(), self.who(), self.outcome)?;
        if let Some(ShownError { code, status }) = &self.error {
            write!(f, " with {status} {code}")?;
        }
        writeln!(f, " after {:.0} ms{}", self.duration_ms, self.called())?;
        for request in self.upstream_requests.iter().filter(|request| request.outcome != "ok") {
            let status = request.status.map_or_else(String::new, |status| format!(" with status {status}"));
            writeln!(f, "  {}: {}{status}", request.url, request.outcome)?;
        }
        self.bad_calls.iter().try_for_each(|call| write!(f, "{call}"))?;
        self.failed_tools().try_for_each(|call| write!(f, "{call}"))
    }
}

impl fmt::Display for BadCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {} {}: {}", self.outcome, self.tool, self.violations.join(", "))?;
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).filter(|path| !path.is_empty()).collect();
        if !paths.is_empty() {
            write!(f, " at {}", paths.join(", "))?;
        }
        writeln!(f)?;
        let lines =
            self.before.iter().map(|call| ("before", call)).chain(self.after.iter().map(|call| ("after", call)));
        for (when, CallText { name, arguments }) in lines {
            writeln!(f, "    {when:<6}  {name} {}", one_line(arguments))?;
        }
        self.reason.iter().try_for_each(|reason| writeln!(f, "    reason  {}", one_line(reason)))
    }
}

impl fmt::Display for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  failed {}: {}", self.name, self.error_type.as_deref().unwrap_or("error"))?;
        self.arguments.iter().try_for_each(|arguments| writeln!(f, "    called  {}", one_line(arguments)))?;
        self.result.iter().try_for_each(|result| writeln!(f, "    result  {}", one_line(result)))
    }
}

/// The text without line breaks and control characters, which could change the terminal.
fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|letter| {
            let (escaped, plain) = match letter.is_control() {
                true => (Some(letter.escape_default()), None),
                false => (None, Some(letter)),
            };
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_shows_what_was_wrong() {
        let trace = r#"{"character":null,"model":"m","id":"x","started_at_ms":1763568612345,"duration_ms":1234.5,"endpoint":"chat",
            "request_id":"req_1","outcome":"failed","error":{"code":"unknown_tool_call","status":502},"calls":{"made":2},
            "upstream_requests":[{"url":"http://a/v1","outcome":"refused","status":503},{"url":"http://a/v1","outcome":"ok"}],
            "bad_calls":[{"tool":"add","outcome":"repaired","violations":["trailing_comma","number_from_text"],"paths":["","/amount"],
            "before":{"name":"add","arguments":"{\"amount\":\"3\",\n}"},"after":[{"name":"add","arguments":"{\"amount\":3}"}]},
            {"tool":"ad\u001b","outcome":"refused","violations":["unknown_tool_call"]}],
            "tool_calls":[{"name":"nap","outcome":"error","error_type":"timeout","result":"Error: late"},{"name":"ok","outcome":"ok"}]}"#;
        let trace: ShownTrace = serde_json::from_str(trace).unwrap();
        assert!(trace.hides_content());
        let expected = "\
2025-11-19T16:10:12Z  req_1  chat  m: failed with 502 unknown_tool_call after 1234 ms, 2 calls
  http://a/v1: refused with status 503
  repaired add: trailing_comma, number_from_text at /amount
    before  add {\"amount\":\"3\",\\n}
    after   add {\"amount\":3}
  refused ad\u{1b}: unknown_tool_call
  failed nap: timeout
    result  Error: late
";
        assert_eq!(trace.to_string(), expected);
    }

    #[test]
    fn what_is_no_turn_of_a_model_says_what_it_is() {
        for (own, expected) in [
            (
                r#""character":null,"model":"e","endpoint":"passthrough","method":"POST","path":"/v1/embeddings""#,
                "POST /v1/embeddings  e: complete after 2 ms",
            ),
            (
                r#""character":null,"model":"","endpoint":"passthrough","method":"POST","path":"/tokenize""#,
                "POST /tokenize  no model: complete after 2 ms",
            ),
            (r#""character":"bard","model":"","endpoint":"tool""#, "tool  bard: complete after 2 ms, called sing"),
        ] {
            let called = if own.contains("bard") { r#"[{"name":"sing","outcome":"ok"}]"# } else { "[]" };
            let trace = format!(
                r#"{{{own},"id":"x","started_at_ms":0,"duration_ms":2.0,"request_id":"req_1","outcome":"complete",
                "calls":{{"made":0}},"upstream_requests":[],"tool_calls":{called}}}"#
            );
            let trace: ShownTrace = serde_json::from_str(&trace).unwrap();
            assert_eq!(trace.to_string(), format!("1970-01-01T00:00:00Z  req_1  {expected}\n"));
        }
    }
}
