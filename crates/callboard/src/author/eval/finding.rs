//! Findings: what a tool remarks beside its result, as `validation` in a result that is a JSON object.

use serde_json::{Value, json};

use super::cases::Expect;
use super::values::meets;
use super::verdict::Made;

/// True when the last call reports the finding that a case states. Where no call is fine too, none need report it.
pub(super) fn holds(expect: &Expect, calls: &[Made]) -> bool {
    if expect.validation.is_empty() {
        return true;
    }
    let Some(last) = calls.last() else { return expect.alternatives().iter().any(|wanted| wanted.is_empty()) };
    let found = finding_of(&last.result);
    let value_of = |key: &str| found.get(key).or_else(|| found.get(camel_case(key))).unwrap_or(&Value::Null);
    expect.validation.iter().all(|(key, wanted)| meets(wanted, value_of(key)))
}

/// No finding is the same as one that says that all is well.
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

    fn is_met(validation: &Value, result: &str) -> bool {
        let expect: Expect = serde_json::from_value(json!({"calls": [{}], "validation": validation})).unwrap();
        holds(&expect, &[Made { result: result.to_owned(), ..Made::default() }])
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
        assert!(holds(&serde_json::from_value(optional).unwrap(), &[]));
        let required = json!({"calls": [{}], "validation": {"severity": "error"}});
        assert!(!holds(&serde_json::from_value(required).unwrap(), &[]));
    }
}
