//! The messages of a re-ask, and the model's own calls in a form that servers accept in a history.

use super::call_check::{name_list, shortened};
use super::json::read_strict;
use super::{CallRules, RawCall, ToolSet, Violation, ViolationKind};
use crate::model::{CallId, SpokenCall};

const LONGEST_QUOTE: usize = 2000;

/// The answer to a call that violates the contract.
#[must_use]
pub fn violation_message(call: &RawCall, violation: &Violation) -> String {
    let remedy = match violation.kind {
        ViolationKind::UnknownTool => "Call one of these with its exact name, or answer without a call.",
        ViolationKind::MalformedArguments => "Make this call again with arguments that are one valid JSON object.",
        ViolationKind::InvalidArguments => "Make this call again with all of its arguments, corrected.",
        ViolationKind::ChoiceUnmet => "Follow that.",
        ViolationKind::TooManyCalls => "Make fewer calls.",
        ViolationKind::InvalidFormat => "Answer again with the corrected JSON only.",
    };
    let quote = match violation.kind {
        ViolationKind::MalformedArguments => format!(" You wrote: {}", shortened(&call.arguments, LONGEST_QUOTE)),
        _ => String::new(),
    };
    format!("Error: {violation}. The call was not carried out. {remedy}{quote}")
}

/// The answer to a call of a character's tool that cannot be run.
#[must_use]
pub fn tool_error_message(call: &RawCall, violation: &Violation) -> String {
    match violation.kind {
        ViolationKind::UnknownTool | ViolationKind::ChoiceUnmet => format!("Error: Unknown tool: {}", call.name),
        ViolationKind::MalformedArguments => format!("Error: Invalid JSON arguments - {violation}"),
        ViolationKind::InvalidArguments | ViolationKind::InvalidFormat | ViolationKind::TooManyCalls => {
            format!("Error: Invalid parameters - {violation}")
        }
    }
}

/// The answer to a valid call in the same reply as one that is asked for again.
#[must_use]
pub fn accepted_message() -> &'static str {
    "This call is accepted. Do not repeat it."
}

/// The message after a reply that violates `tool_choice`.
#[must_use]
pub fn choice_message(tools: &ToolSet, rules: &CallRules) -> String {
    if rules.forbidden {
        return text_only_message().to_owned();
    }
    let allowed = name_list(tools.names().filter(|name| rules.allows(name)));
    format!("Your answer must be a tool call, not text. Call one of these tools now: {allowed}.")
}

/// The message after an answer in words of a character that acts.
#[must_use]
pub fn act_message() -> &'static str {
    "Your text was not delivered: you act by calling tools. If something was reported or asked, call the tools for it now; \
     if nothing is to be done, answer with nothing."
}

/// The message after calls where no tool may be called.
#[must_use]
pub fn text_only_message() -> &'static str {
    "Answer in words now. Tools are not available for this answer."
}

/// The message after an answer that does not fit `response_format`.
#[must_use]
pub fn format_message(violation: &Violation) -> String {
    format!("Error: {violation}. Answer again with one JSON object that fits, and nothing else.")
}

/// The model's own call, sanitised so that any server accepts it in a history.
#[must_use]
pub fn history_call(call: &RawCall, id: CallId) -> SpokenCall {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = call.name.chars().take(64).map(plain).collect();
    let is_object = read_strict(&call.arguments).is_ok_and(|value| value.is_object());
    SpokenCall {
        id,
        name: if name.is_empty() { "unnamed".to_owned() } else { name },
        arguments: if is_object { call.arguments.clone() } else { "{}".to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_goes_back_in_a_form_that_servers_take() {
        let id = CallId::from_random([7; 24]);
        let call = RawCall { name: "a b.c".into(), arguments: "{\"x\":".into(), ..RawCall::default() };
        let cleaned = history_call(&call, id.clone());
        assert_eq!((cleaned.name.as_str(), cleaned.arguments.as_str()), ("a_b_c", "{}"));
        let nameless = history_call(&RawCall { arguments: "{\"x\":1}".into(), ..RawCall::default() }, id);
        assert_eq!((nameless.name.as_str(), nameless.arguments.as_str()), ("unnamed", "{\"x\":1}"));
    }
}
