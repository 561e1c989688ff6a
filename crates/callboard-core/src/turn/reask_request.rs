//! The re-ask after a violation: the messages appended to the conversation, and the tool choice.

use super::checked_calls::CheckedCall;
use super::{ToolChoice, TurnRequest};
use crate::contract::{
    Call, Violation, ViolationKind, accepted_message, choice_message, format_message, resolve_name, violation_message,
};
use crate::model::{Item, SpokenCall};

/// The violation of a reply without the call that was required.
pub(super) fn unmet_choice(is_cut: bool) -> Violation {
    let message = match is_cut {
        true => "the token limit was reached before the tool call that tool_choice asks for; raise max_tokens",
        false => "the model answered without a tool call although tool_choice asks for one",
    };
    Violation::new(ViolationKind::ChoiceUnmet, message)
}

/// The tool choice of a re-ask, as narrow as possible.
pub(super) fn choice(request: &TurnRequest, spoken: &[CheckedCall], violation: &Violation) -> ToolChoice {
    let rules = &request.rules;
    if rules.forbidden || request.tools.is_empty() {
        return ToolChoice::WithoutTools;
    }
    match violation.kind {
        ViolationKind::UnknownTool | ViolationKind::InvalidFormat | ViolationKind::TooManyCalls => {
            ToolChoice::AsRequested
        }
        ViolationKind::ChoiceUnmet => match rules.allowed.as_deref() {
            Some([only]) if rules.required => ToolChoice::Force(only.clone()),
            _ if rules.required => ToolChoice::Required,
            _ => ToolChoice::AsRequested,
        },
        ViolationKind::MalformedArguments | ViolationKind::InvalidArguments => forced(request, spoken),
    }
}

/// A single broken call is forced by name; for several, any call is required.
fn forced(request: &TurnRequest, spoken: &[CheckedCall]) -> ToolChoice {
    let tool_of = |checked: &CheckedCall| match checked {
        CheckedCall::Broken { raw, .. } => {
            Some(resolve_name(&raw.name, request.tools.names()).map(|(checked, _)| checked))
        }
        CheckedCall::Valid(_) => None,
    };
    let broken: Vec<Option<usize>> = spoken.iter().filter_map(tool_of).collect();
    match broken.as_slice() {
        [Some(checked)] => {
            request.tools.at(*checked).map_or(ToolChoice::AsRequested, |tool| ToolChoice::Force(tool.name().to_owned()))
        }
        all if all.iter().all(Option::is_some) => ToolChoice::Required,
        _ => ToolChoice::AsRequested,
    }
}

/// The items appended to the conversation: the model's own text and calls, with a result for each call. Where there is no call
/// to answer, or calls are forbidden, a remark states the violation.
pub(super) fn items(request: &TurnRequest, spoken: &[CheckedCall], violation: &Violation, text: String) -> Vec<Item> {
    if spoken.is_empty() || request.rules.forbidden || request.tools.is_empty() {
        let reply = (!text.trim().is_empty()).then(|| Item::Assistant { text, calls: Vec::new() });
        return reply.into_iter().chain([Item::Remark(remark(request, violation))]).collect();
    }
    let reply = Item::Assistant { text, calls: spoken.iter().map(CheckedCall::in_history).collect() };
    std::iter::once(reply).chain(spoken.iter().map(answer)).collect()
}

fn remark(request: &TurnRequest, violation: &Violation) -> String {
    match violation.kind {
        ViolationKind::InvalidFormat => format_message(violation),
        ViolationKind::ChoiceUnmet => choice_message(&request.tools, &request.rules),
        _ => format!("Error: {violation}. Answer in words."),
    }
}

pub(super) fn spoken_call(call: &Call) -> SpokenCall {
    SpokenCall { id: call.id.clone(), name: call.name.clone(), arguments: call.arguments.as_str().to_owned() }
}

fn answer(checked: &CheckedCall) -> Item {
    match checked {
        CheckedCall::Valid(call) => Item::ToolResult { id: call.id.clone(), text: accepted_message().to_owned() },
        CheckedCall::Broken { raw, id, violation } => {
            Item::ToolResult { id: id.clone(), text: violation_message(raw, violation) }
        }
    }
}
