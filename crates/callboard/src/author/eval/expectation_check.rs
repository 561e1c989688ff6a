//! Compares what a model did with what a case of a character expects.
//!
//! A finding is what a tool reports beside its result, as `validation` in a result that is a JSON object.

use callboard_python::ToolManifest;
use serde_json::{Value, json};

use super::call_matching::{match_in_any_order, match_in_order};
use super::cases::{Expect, ExpectedCall};
use super::value_matching::matches;
use super::verdict::{MadeCall, ModelTurn, Verdict};
use crate::characters::UNDO;

/// What the character offers its model.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    pub(super) tools: &'a [ToolManifest],
    /// Whether it offers the tool `undo`.
    pub(super) undo: bool,
}

/// Judges one case; `before` is the state before the turn.
pub(super) fn judge(expect: &Expect, turn: &ModelTurn, before: &Value, offer: Offer<'_>) -> Verdict {
    let verdict = Verdict::of(turn, !expect.is_no_call());
    if turn.failure.is_some() {
        return verdict;
    }
    let state_matches = matches(&Value::Object(expect.state.clone()), &turn.state);
    let has_expectation = !expect.state.is_empty() || !expect.validation.is_empty();
    let state = has_expectation.then(|| state_matches && finding_matches(expect, &turn.calls));
    if expect.is_no_call() {
        let right = state_matches && turn.state == *before && turn.calls.iter().all(|call| call.refused);
        return Verdict { tools: right, arguments: right, state, ..verdict };
    }
    let comparison = Comparison { expect, turn, offer, state_matches };
    let alternatives = expect.alternatives();
    let with_tools: Vec<_> = alternatives.into_iter().filter(|expected| comparison.tools_match(expected)).collect();
    let arguments = with_tools.iter().any(|expected| comparison.arguments_match(expected));
    Verdict { tools: !with_tools.is_empty(), arguments, state, ..verdict }
}

struct Comparison<'a> {
    expect: &'a Expect,
    turn: &'a ModelTurn,
    offer: Offer<'a>,
    state_matches: bool,
}

impl Comparison<'_> {
    fn tools_match(&self, expected: &[ExpectedCall]) -> bool {
        let undone = self.turn.calls.iter().any(|call| self.is_undo(call));
        let expects_undo = expected.iter().any(|call| call.undo);
        undone == expects_undo && self.all_match(expected, |expected, made| expected.tool.as_ref() == Some(&made.tool))
    }

    /// How something is undone is the model's choice: the state afterwards shows whether it was right.
    fn arguments_match(&self, expected: &[ExpectedCall]) -> bool {
        let undone_rightly = self.state_matches || !expected.iter().any(|call| call.undo);
        undone_rightly && self.all_match(expected, |expected, made| self.call_matches(expected, made))
    }

    fn all_match(&self, expected: &[ExpectedCall], fits: impl Fn(&ExpectedCall, &MadeCall) -> bool) -> bool {
        let expected: Vec<&ExpectedCall> = expected.iter().filter(|call| !call.undo).collect();
        let made: Vec<&MadeCall> = self.turn.calls.iter().filter(|call| !self.is_undo(call)).collect();
        let optional: Vec<bool> = expected.iter().map(|call| call.optional).collect();
        let fits = |one: usize, other: usize| fits(expected[one], made[other]);
        match self.expect.ordered {
            true => match_in_order(&optional, made.len(), &fits),
            false => match_in_any_order(&optional, made.len(), fits),
        }
    }

    fn call_matches(&self, expected: &ExpectedCall, made: &MadeCall) -> bool {
        expected.tool.as_ref() == Some(&made.tool)
            && expected.args.iter().all(|(name, value)| {
                let found = made.arguments.get(name).or_else(|| self.default_of(&made.tool, name));
                matches(value, found.unwrap_or(&Value::Null))
            })
    }

    /// A missing argument counts as its default.
    fn default_of(&self, tool: &str, parameter: &str) -> Option<&Value> {
        let tool = self.offer.tools.iter().find(|offered| offered.name == tool)?;
        tool.parameters.get("properties")?.get(parameter)?.get("default")
    }

    fn is_undo(&self, call: &MadeCall) -> bool {
        self.offer.undo && call.tool == UNDO
    }
}

/// True when the last call reports the expected finding. Where no call is fine too, none need report it.
fn finding_matches(expect: &Expect, calls: &[MadeCall]) -> bool {
    if expect.validation.is_empty() {
        return true;
    }
    let Some(last) = calls.last() else { return expect.alternatives().iter().any(|expected| expected.is_empty()) };
    let found = finding_of(&last.result);
    let value_of = |key: &str| found.get(key).or_else(|| found.get(camel_case(key))).unwrap_or(&Value::Null);
    expect.validation.iter().all(|(key, expected)| matches(expected, value_of(key)))
}

/// No finding counts as the finding `valid`.
fn finding_of(result: &str) -> Value {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    result.get("validation").filter(|found| found.is_object()).cloned().unwrap_or_else(|| json!({"severity": "valid"}))
}

fn camel_case(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        text + &capital + letters.as_str()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolManifest> {
        let tool = |name: &str| {
            let properties = json!({"side": {"type": "string", "default": "both"}, "number": {"type": "integer"}});
            let parameters = json!({"type": "object", "properties": properties});
            json!({"name": name, "description": "", "parameters": parameters, "timeout_ms": 100.0})
        };
        serde_json::from_value(json!([tool("add"), tool("ask")])).unwrap()
    }

    /// Calls as `[tool, arguments]`, with `true` behind them where they were refused; the state is 1 before and `after` then.
    fn judged(expect: &Value, calls: &Value, after: i64) -> Verdict {
        let made = |call: &Value| MadeCall {
            tool: call[0].as_str().unwrap().to_owned(),
            arguments: call[1].as_object().unwrap().clone(),
            refused: call[2] == json!(true),
            ..MadeCall::default()
        };
        let calls: Vec<MadeCall> = calls.as_array().unwrap().iter().map(made).collect();
        let turn = ModelTurn { attempts: calls.len(), calls, state: json!({"n": after}), ..ModelTurn::default() };
        judge(
            &serde_json::from_value(expect.clone()).unwrap(),
            &turn,
            &json!({"n": 1}),
            Offer { tools: &tools(), undo: true },
        )
    }

    #[test]
    fn cases_with_calls() {
        let add = |number: i64| json!({"tool": "add", "args": {"number": number}});
        let one = json!({"calls": [add(1)]});
        let two = json!({"calls": [add(1), add(2)]});
        let ordered = json!({"calls": [add(1), add(2)], "ordered": true});
        let optional = json!({"calls": [add(1), {"tool": "ask", "optional": true}]});
        let any_of = json!({"calls_any_of": [[add(1)], [add(2), add(3)], []]});
        let default = json!({"calls": [{"tool": "ask", "args": {"side": {"any_of": ["player", "both"]}}}]});
        let undo = json!({"calls": [{"tool": null, "undo": true}, add(1)], "state": {"n": 2}});
        let (first, second) = (json!(["add", {"number": 1}]), json!(["add", {"number": 2}]));
        let (ask, undone) = (json!(["ask", {}]), json!(["undo", {}]));
        let table = [
            (&one, json!([first]), 2, (true, true)),
            (&one, json!([second]), 2, (true, false)),
            (&one, json!([ask]), 2, (false, false)),
            (&one, json!([]), 1, (false, false)),
            (&one, json!([first, first]), 2, (false, false)),
            (&one, json!([first, undone]), 2, (false, false)),
            (&two, json!([second, first]), 2, (true, true)),
            (&ordered, json!([second, first]), 2, (true, false)),
            (&ordered, json!([first, second]), 2, (true, true)),
            (&optional, json!([first]), 2, (true, true)),
            (&optional, json!([ask, first]), 2, (true, true)),
            (&optional, json!([ask]), 2, (false, false)),
            (&any_of, json!([]), 2, (true, true)),
            (&any_of, json!([["add", {"number": 3}], second]), 2, (true, true)),
            (&any_of, json!([second]), 2, (true, false)),
            (&default, json!([ask]), 1, (true, true)),
            (&default, json!([["ask", {"side": "opponent"}]]), 1, (true, false)),
            (&undo, json!([undone, first]), 2, (true, true)),
            (&undo, json!([undone, first]), 3, (true, false)),
            (&undo, json!([first]), 2, (false, false)),
        ];
        for (expect, calls, after, expected) in table {
            let verdict = judged(expect, &calls, after);
            assert_eq!((verdict.tools, verdict.arguments), expected, "{expect} {calls} {after}");
            assert!(verdict.expects_call && !verdict.failed);
        }
    }

    #[test]
    fn cases_without_calls() {
        let refused = json!(["add", {}, true]);
        let table = [
            (json!([]), 1, true),
            (json!([refused]), 1, true),
            (json!([refused]), 2, false),
            (json!([["ask", {}]]), 1, false),
        ];
        for (calls, after, expected) in table {
            let verdict = judged(&json!({"calls": [], "no_call": true}), &calls, after);
            assert_eq!((verdict.expects_call, verdict.is_right()), (false, expected), "{calls} {after}");
        }
    }

    #[test]
    fn a_case_that_failed_is_never_right() {
        let turn = ModelTurn { failure: Some("gone".to_owned()), state: json!({"n": 1}), ..ModelTurn::default() };
        let expect: Expect = serde_json::from_value(json!({"no_call": true})).unwrap();
        let verdict = judge(&expect, &turn, &json!({"n": 1}), Offer { tools: &tools(), undo: true });
        assert!(verdict.failed && !verdict.is_right() && !verdict.silent);
    }

    fn is_met(validation: &Value, result: &str) -> bool {
        let expect: Expect = serde_json::from_value(json!({"calls": [{}], "validation": validation})).unwrap();
        finding_matches(&expect, &[MadeCall { result: result.to_owned(), ..MadeCall::default() }])
    }

    #[test]
    fn findings_are_compared_as_far_as_they_are_stated() {
        let found = r#"{"validation": {"severity": "error", "rule": "skip", "requiresOverride": true}}"#;
        assert!(is_met(&json!({"severity": "error", "requires_override": true}), found));
        assert!(!is_met(&json!({"severity": "error", "rule": "other"}), found));
        assert!(!is_met(&json!({"severity": "valid"}), found));
        for nothing in ["done", "{}", r#"{"validation": null}"#] {
            assert!(is_met(&json!({"severity": "valid"}), nothing), "{nothing}");
        }
    }

    #[test]
    fn a_call_that_may_be_missing_need_report_nothing() {
        let optional = json!({"calls_any_of": [[{}], []], "validation": {"severity": "error"}});
        assert!(finding_matches(&serde_json::from_value(optional).unwrap(), &[]));
        let required = json!({"calls": [{}], "validation": {"severity": "error"}});
        assert!(!finding_matches(&serde_json::from_value(required).unwrap(), &[]));
    }
}
