//! The request that a model server gets: the client's own, in the form that this server takes, or one that asks which tool is called.

use std::collections::BTreeSet;

use callboard_core::turn::ModelCall;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::chat::adapt::constrain::{
    Plan, ToolDecision, ToolQuestion, arguments_request, choice_request, plan, text_request,
};
use callboard_core::wire::chat::adapt::{Constraint, Family, Quirk, ToolsMode, adapt, heal};
use serde_json::Value;

use crate::upstream::{ModelProfile, Route};

/// What is sent next.
pub(super) enum OutgoingRequest {
    /// The request for the reply.
    Chat(Vec<u8>),
    /// The question which tool is called, with what constrains its answer.
    Question(Vec<u8>, ToolQuestion, Constraint),
}

/// The answer to that question.
#[derive(Debug, Clone)]
pub(super) enum Decision {
    /// What the model decided.
    Made(ToolDecision),
    /// The server did not constrain the answer: the tools go into the prompt.
    Missing,
}

/// What is sent to this server, once `decision` is known.
pub(super) fn outgoing_request<'a>(
    route: &Route,
    request: &ChatRequest,
    ask: &ModelCall,
    tried: impl Iterator<Item = &'a Quirk>,
    decision: Option<&Decision>,
) -> OutgoingRequest {
    let body = request.upstream_body(ask);
    let profile = route.upstream.profiles.get(&route.model);
    let mode = route.upstream.tools_mode(&profile);
    let by_family = (profile.family == Family::Kimi).then_some(Quirk::IndexedCallIds);
    let by_mode = (mode != ToolsMode::Native).then_some(Quirk::Tools);
    let implied = by_family.into_iter().chain(by_mode);
    let mut quirks: BTreeSet<Quirk> = profile.quirks.iter().cloned().chain(tried.cloned()).chain(implied).collect();
    let is_direct = !request.offers_tools || mode == ToolsMode::Native && profile.capabilities.force_choices();
    if is_direct && quirks.is_empty() && route.model == request.model && !request.needs_healing && !route.whole {
        return OutgoingRequest::Chat(body);
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return OutgoingRequest::Chat(body) };
    prepare(&mut value, route);
    if !is_direct {
        match constrained(&mut value, (mode, &profile), &quirks, decision) {
            Constrained::Question(question, constraint) => {
                let mut asked = choice_request(&value, &question, constraint, profile.family);
                quirks.remove(&Quirk::Tools);
                adapt(&mut asked, &quirks, profile.family);
                return OutgoingRequest::Question(asked.to_string().into_bytes(), question, constraint);
            }
            Constrained::Done => drop(quirks.remove(&Quirk::Tools)),
            Constrained::No => {}
        }
    }
    adapt(&mut value, &quirks, profile.family);
    OutgoingRequest::Chat(value.to_string().into_bytes())
}

/// Heals the history and names the model as the server does.
fn prepare(value: &mut Value, route: &Route) {
    if let Some(model) = value.get_mut("model") {
        *model = route.model.as_str().into();
    }
    if let Some(Value::Array(messages)) = value.get_mut("messages") {
        heal(messages);
    }
    if let Some(fields) = value.as_object_mut().filter(|_| route.whole) {
        ["stream", "stream_options"].iter().for_each(|field| drop(fields.shift_remove(*field)));
    }
}

/// What constrained decoding made of a request.
enum Constrained {
    /// It is asked first which tool is called.
    Question(ToolQuestion, Constraint),
    /// The request is one for arguments, or for an answer in words.
    Done,
    /// Nothing: the request is sent as any other.
    No,
}

fn constrained(
    value: &mut Value,
    (mode, profile): (ToolsMode, &ModelProfile),
    quirks: &BTreeSet<Quirk>,
    decision: Option<&Decision>,
) -> Constrained {
    // A model whose tools are refused gets them in the prompt, whatever the mode.
    let mode = if quirks.contains(&Quirk::Tools) && mode == ToolsMode::Native { ToolsMode::Prompt } else { mode };
    let (plan, constraint) = plan(value, mode, &profile.capabilities, quirks);
    let Some(constraint) = constraint else { return Constrained::No };
    let tool = match (plan, decision) {
        (Plan::Direct, _) | (Plan::Ask(_), Some(Decision::Missing)) => return Constrained::No,
        (Plan::Ask(question), None) => return Constrained::Question(question, constraint),
        (Plan::Ask(_), Some(Decision::Made(ToolDecision::Decline))) => {
            text_request(value, profile.family);
            return Constrained::Done;
        }
        (Plan::Ask(_), Some(Decision::Made(ToolDecision::Call(tool)))) => tool.clone(),
        (Plan::Arguments(tool), _) => tool,
    };
    arguments_request(value, &tool, constraint, mode, profile.family);
    Constrained::Done
}
