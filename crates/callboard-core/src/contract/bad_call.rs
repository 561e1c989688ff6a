//! Calls that were not valid as the model wrote them: before and after, for traces.

use serde_json::Value;

use super::json::read_arguments;
use super::{CheckedArguments, Outcome, RawCall, Violation};
use crate::journal::diff_regardless_of_order;
use crate::model::CallId;

/// The most bytes that are kept of a call's arguments.
const MOST_BYTES: usize = 64 << 10;
/// The most places that are listed.
const MOST_PATHS: usize = 20;

/// A call as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallText {
    /// The name of the tool.
    pub name: String,
    /// The arguments, cut if they are long.
    pub arguments: String,
}

/// A call that was repaired, asked for again, or refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadCall {
    /// The tool that was meant; the name as written where there is none.
    pub tool: String,
    /// The ids that it got: several where it was several calls in one.
    pub ids: Vec<CallId>,
    /// What was done; none until it is known.
    pub outcome: Option<Outcome>,
    /// The violation, or the repairs.
    pub violations: Vec<&'static str>,
    /// The places in the arguments, as JSON Pointers; none where they are not JSON at all.
    pub paths: Vec<String>,
    /// Why the call could not be repaired.
    pub reason: Option<String>,
    /// As the model wrote it.
    pub before: CallText,
    /// As it was passed on: several calls where it was several in one; none where it was not repaired.
    pub after: Vec<CallText>,
}

impl BadCall {
    /// A call that was repaired.
    pub(crate) fn repaired(raw: &RawCall, checked: &[CheckedArguments]) -> Self {
        let mut violations: Vec<&'static str> = Vec::new();
        for repair in checked.iter().flat_map(|call| &call.repairs) {
            if !violations.contains(repair) {
                violations.push(repair);
            }
        }
        Self {
            tool: checked.first().map_or_else(|| raw.name.clone(), |call| call.tool.clone()),
            outcome: Some(Outcome::Repaired),
            ids: Vec::new(),
            violations,
            paths: changed_paths(raw, checked),
            reason: None,
            before: text_of(&raw.name, &raw.arguments),
            after: checked.iter().map(|call| text_of(&call.tool, call.arguments.as_str())).collect(),
        }
    }

    /// A call that could not be repaired.
    pub(crate) fn broken(raw: &RawCall, id: &CallId, violation: &Violation) -> Self {
        Self {
            tool: violation.tool.clone().unwrap_or_else(|| raw.name.clone()),
            ids: vec![id.clone()],
            outcome: None,
            violations: vec![violation.kind.code()],
            paths: violation.paths.iter().take(MOST_PATHS).cloned().collect(),
            reason: Some(violation.message.clone()),
            before: text_of(&raw.name, &raw.arguments),
            after: Vec::new(),
        }
    }
}

fn text_of(name: &str, arguments: &str) -> CallText {
    let cut = |text: &str| super::call_check::shortened(text, MOST_BYTES);
    CallText { name: cut(name), arguments: cut(arguments) }
}

/// Where the values differ from what was written.
fn changed_paths(raw: &RawCall, checked: &[CheckedArguments]) -> Vec<String> {
    let Ok(written) = read_arguments(&raw.arguments) else { return Vec::new() };
    let mut paths = Vec::new();
    for (written, checked) in written.values.into_iter().zip(checked) {
        let value = serde_json::from_str(checked.arguments.as_str()).unwrap_or_default();
        for operation in diff_regardless_of_order(&Value::Object(written), &value).0 {
            let path = operation.path.to_string();
            if paths.len() < MOST_PATHS && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}
