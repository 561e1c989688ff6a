//! Two lists of steps made for the same value, each rewritten so that it can be applied after the other.
//!
//! That is possible where they touch different places. Indices of array elements are adjusted as others are inserted or removed
//! before them, so that calls which append to the same log do not conflict.

use super::apply::{Step, Token};
use super::operation::Change;

/// Rewrites both lists: the first is done after the second, the second after the first. The error is the step of the second list
/// that touches the same place as one of the first.
pub(super) fn commute(mut first: Vec<Step>, second: Vec<Step>) -> Result<(Vec<Step>, Vec<Step>), Step> {
    let mut rewritten = Vec::with_capacity(second.len());
    for step in second {
        let clash = || step.clone();
        let mut passing = step.clone();
        for other in &mut first {
            let other_after = after(other, &passing).ok_or_else(clash)?;
            passing = after(&passing, other).ok_or_else(clash)?;
            *other = other_after;
        }
        rewritten.push(passing);
    }
    Ok((first, rewritten))
}

/// The step as it is done after another one; none where they touch the same place.
fn after(step: &Step, other: &Step) -> Option<Step> {
    let Some((Token::Index(at), array)) = other.path.split_last() else { return untouched(step, &other.path) };
    if let Change::Replace(_) = other.change {
        return untouched(step, &other.path);
    }
    let Some((Token::Index(index), deeper)) = behind(&step.path, array) else { return untouched(step, array) };
    let inserts = deeper.is_empty() && matches!(step.change, Change::Add(_));
    let moved = match other.change {
        Change::Add(_) if inserts && index == at => return None,
        Change::Add(_) if index >= at => index.checked_add(1)?,
        Change::Remove if !inserts && index == at => return None,
        Change::Remove if index > at => index.checked_sub(1)?,
        _ => *index,
    };
    let mut step = step.clone();
    if let Some(token) = step.path.get_mut(array.len()) {
        *token = Token::Index(moved);
    }
    Some(step)
}

/// The step itself, if it neither needs nor changes what is at that place.
fn untouched(step: &Step, place: &[Token]) -> Option<Step> {
    let clashes = match (&step.change, step.path.split_last()) {
        (Change::Add(_), Some((Token::Index(_), array))) => array.starts_with(place),
        _ => step.path.starts_with(place) || place.starts_with(&step.path),
    };
    (!clashes).then(|| step.clone())
}

/// The token of a path that follows a place, and those after it.
fn behind<'a>(path: &'a [Token], place: &[Token]) -> Option<(&'a Token, &'a [Token])> {
    path.strip_prefix(place)?.split_first()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::operation::Patch;
    use super::*;

    fn steps(value: &Value, patch: &Value) -> (Value, Vec<Step>) {
        let patch: Patch = serde_json::from_value(patch.clone()).unwrap();
        let mut value = value.clone();
        let steps = patch.steps(&mut value).unwrap();
        (value, steps)
    }

    fn done(value: &Value, steps: Vec<Step>) -> Value {
        Patch(steps.into_iter().map(Step::into_operation).collect()).apply(value).unwrap()
    }

    #[test]
    fn both_ways_lead_to_the_same_value() {
        let value = json!({"log": ["a", "b", {"n": 1}], "cp": 5, "0": {}});
        let at = |path: &str| json!([{"op": "replace", "path": path, "value": 9}]);
        let add = |path: &str| json!([{"op": "add", "path": path, "value": 7}]);
        let take = |path: &str| json!([{"op": "remove", "path": path}]);
        let cases = [
            (at("/cp"), add("/log/3"), true),
            (at("/cp"), at("/cp"), false),
            (at("/log/2/n"), add("/log/0"), true),
            (at("/log/2/n"), take("/log/0"), true),
            (at("/log/2/n"), take("/log/2"), false),
            (at("/log/2"), at("/log/2/n"), false),
            (at("/log"), add("/log/3"), false),
            (take("/log"), at("/log/1"), false),
            (take("/log/0"), take("/log/2"), true),
            (take("/log/1"), take("/log/1"), false),
            (take("/log/0"), add("/log/3"), true),
            (take("/log/2"), add("/log/2"), true),
            (add("/log/1"), add("/log/1"), false),
            (add("/log/0"), add("/log/3"), true),
            (add("/0/x"), add("/0/y"), true),
            (add("/0/x"), take("/0"), false),
            (at(""), at("/cp"), false),
            (
                json!([{"op": "remove", "path": "/log/0"}, {"op": "remove", "path": "/log/0"}]),
                json!([{"op": "add", "path": "/log/3", "value": 1}, {"op": "replace", "path": "/log/2/n", "value": 2}]),
                true,
            ),
        ];
        for (first, second, passes) in cases {
            for (first, second) in [(&first, &second), (&second, &first)] {
                let ((one, first_steps), (two, second_steps)) = (steps(&value, first), steps(&value, second));
                let passed = commute(first_steps, second_steps);
                assert_eq!(passed.is_ok(), passes, "{first} and {second}");
                if let Ok((first_after, second_after)) = passed {
                    assert_eq!(done(&two, first_after), done(&one, second_after), "{first} and {second}");
                }
            }
        }
    }
}
