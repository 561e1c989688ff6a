//! The second rung of the ladder: what a model is told when it is asked again, and which tools it may then use.

use super::places::Place;
use super::{AskChoice, TurnRequest};
use crate::contract::{
    Call, Violation, ViolationKind, accepted_message, choice_message, format_message, history_call, resolve_name,
    violation_message,
};
use crate::model::{Item, SpokenCall};

/// The tool choice of a re-ask: as narrow as what is still missing.
pub(super) fn choice(request: &TurnRequest, spoken: &[Place], violation: &Violation) -> AskChoice {
    let rules = &request.rules;
    if rules.forbidden || request.tools.is_empty() {
        return AskChoice::WithoutTools;
    }
    match violation.kind {
        ViolationKind::UnknownTool | ViolationKind::InvalidFormat => AskChoice::AsRequested,
        ViolationKind::ChoiceUnmet => match rules.allowed.as_deref() {
            Some([only]) if rules.required => AskChoice::Force(only.clone()),
            _ if rules.required => AskChoice::Required,
            _ => AskChoice::AsRequested,
        },
        ViolationKind::MalformedArguments | ViolationKind::InvalidArguments => forced(request, spoken),
    }
}

/// The one broken call is asked for by name; several are asked for as calls.
fn forced(request: &TurnRequest, spoken: &[Place]) -> AskChoice {
    let tool_of = |place: &Place| match place {
        Place::Broken { raw, .. } => Some(resolve_name(&raw.name, request.tools.names()).map(|(place, _)| place)),
        Place::Valid(_) => None,
    };
    let broken: Vec<Option<usize>> = spoken.iter().filter_map(tool_of).collect();
    match broken.as_slice() {
        [Some(place)] => {
            request.tools.at(*place).map_or(AskChoice::AsRequested, |tool| AskChoice::Force(tool.name().to_owned()))
        }
        all if all.iter().all(Option::is_some) => AskChoice::Required,
        _ => AskChoice::AsRequested,
    }
}

/// What is put behind the conversation: the model's own words and calls, and an answer to each call. Where there is no call
/// to answer to, or calls are not wanted at all, a remark says what is due.
pub(super) fn items(request: &TurnRequest, spoken: &[Place], violation: &Violation, text: String) -> Vec<Item> {
    if spoken.is_empty() || request.rules.forbidden || request.tools.is_empty() {
        let said = (!text.trim().is_empty()).then(|| Item::Assistant { text, calls: Vec::new() });
        return said.into_iter().chain([Item::Remark(remark(request, violation))]).collect();
    }
    let calls = spoken.iter().map(|place| match place {
        Place::Valid(call) => spoken_call(call),
        Place::Broken { raw, id, .. } => history_call(raw, id.clone()),
    });
    let said = Item::Assistant { text, calls: calls.collect() };
    std::iter::once(said).chain(spoken.iter().map(answer)).collect()
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

fn answer(place: &Place) -> Item {
    match place {
        Place::Valid(call) => Item::ToolResult { id: call.id.clone(), text: accepted_message().to_owned() },
        Place::Broken { raw, id, violation } => {
            Item::ToolResult { id: id.clone(), text: violation_message(raw, violation) }
        }
    }
}
