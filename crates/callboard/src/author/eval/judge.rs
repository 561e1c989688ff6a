//! What a model did, held against what a case wants.

use callboard_python::ToolManifest;
use serde_json::Value;

use super::cases::{Expect, ExpectedCall};
use super::finding;
use super::pairing::{pair_in_any_order, pair_in_order};
use super::values::meets;
use super::verdict::{Heard, Made, Verdict};
use crate::characters::UNDO;

/// What the character offers its model.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    /// Its tools.
    pub(super) tools: &'a [ToolManifest],
    /// Whether it offers to take back what was done.
    pub(super) undo: bool,
}

/// Judges one case of a character; `before` is the state before the words were said.
pub(super) fn judge(expect: &Expect, heard: &Heard, before: &Value, offer: Offer<'_>) -> Verdict {
    let manner = heard.manner();
    if heard.failure.is_some() {
        return Verdict { wants_call: !expect.is_no_call(), ..manner };
    }
    let state = meets(&Value::Object(expect.state.clone()), &heard.state);
    if expect.is_no_call() {
        let right = state && heard.state == *before && heard.calls.iter().all(|call| call.refused);
        return Verdict { tools: right, arguments: right, holds: stated(expect, heard, state), ..manner };
    }
    let bench = Bench { expect, heard, offer, state };
    let alternatives = expect.alternatives();
    let tools = alternatives.iter().any(|wanted| bench.tools_fit(wanted));
    let arguments = alternatives.iter().any(|wanted| bench.tools_fit(wanted) && bench.arguments_fit(wanted));
    Verdict { wants_call: true, tools, arguments, holds: stated(expect, heard, state), ..manner }
}

/// Whether the stated state and finding hold; nothing where none is stated.
fn stated(expect: &Expect, heard: &Heard, state: bool) -> Option<bool> {
    if expect.state.is_empty() && expect.validation.is_empty() {
        return None;
    }
    Some(state && finding::holds(expect, &heard.calls))
}

struct Bench<'a> {
    expect: &'a Expect,
    heard: &'a Heard,
    offer: Offer<'a>,
    state: bool,
}

impl Bench<'_> {
    fn tools_fit(&self, wanted: &[ExpectedCall]) -> bool {
        let undone = self.heard.calls.iter().any(|call| self.is_undo(call));
        let wants_undo = wanted.iter().any(|call| call.undo);
        undone == wants_undo && self.pair(wanted, |wanted, made| wanted.tool.as_ref() == Some(&made.tool))
    }

    /// How something is taken back is the model's choice: the state after it tells whether it was right.
    fn arguments_fit(&self, wanted: &[ExpectedCall]) -> bool {
        let undone_rightly = self.state || !wanted.iter().any(|call| call.undo);
        undone_rightly && self.pair(wanted, |wanted, made| self.fits(wanted, made))
    }

    fn pair(&self, wanted: &[ExpectedCall], fits: impl Fn(&ExpectedCall, &Made) -> bool) -> bool {
        let wanted: Vec<&ExpectedCall> = wanted.iter().filter(|call| !call.undo).collect();
        let made: Vec<&Made> = self.heard.calls.iter().filter(|call| !self.is_undo(call)).collect();
        let optional: Vec<bool> = wanted.iter().map(|call| call.optional).collect();
        let fits = |one: usize, other: usize| {
            wanted.get(one).zip(made.get(other)).is_some_and(|(wanted, made)| fits(wanted, made))
        };
        match self.expect.ordered {
            true => pair_in_order(&optional, made.len(), fits),
            false => pair_in_any_order(&optional, made.len(), fits),
        }
    }

    fn fits(&self, wanted: &ExpectedCall, made: &Made) -> bool {
        wanted.tool.as_ref() == Some(&made.tool)
            && wanted.args.iter().all(|(name, value)| {
                let found = made.arguments.get(name).or_else(|| self.default_of(&made.tool, name));
                meets(value, found.unwrap_or(&Value::Null))
            })
    }

    /// An argument that is left out counts as its default.
    fn default_of(&self, tool: &str, parameter: &str) -> Option<&Value> {
        let tool = self.offer.tools.iter().find(|offered| offered.name == tool)?;
        tool.parameters.get("properties")?.get(parameter)?.get("default")
    }

    fn is_undo(&self, call: &Made) -> bool {
        self.offer.undo && call.tool == UNDO
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
        let made = |call: &Value| Made {
            tool: call[0].as_str().unwrap().to_owned(),
            arguments: call[1].as_object().unwrap().clone(),
            refused: call[2] == json!(true),
            ..Made::default()
        };
        let calls: Vec<Made> = calls.as_array().unwrap().iter().map(made).collect();
        let heard = Heard { attempts: calls.len(), calls, state: json!({"n": after}), ..Heard::default() };
        judge(
            &serde_json::from_value(expect.clone()).unwrap(),
            &heard,
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
            assert!(verdict.wants_call && !verdict.failed);
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
            assert_eq!((verdict.wants_call, verdict.is_right()), (false, expected), "{calls} {after}");
        }
    }

    #[test]
    fn a_case_that_failed_is_never_right() {
        let heard = Heard { failure: Some("gone".to_owned()), state: json!({"n": 1}), ..Heard::default() };
        let expect: Expect = serde_json::from_value(json!({"no_call": true})).unwrap();
        let verdict = judge(&expect, &heard, &json!({"n": 1}), Offer { tools: &tools(), undo: true });
        assert!(verdict.failed && !verdict.is_right() && !verdict.silent);
    }
}
