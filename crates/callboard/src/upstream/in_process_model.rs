//! Models in this process. They take the same requests and give the same replies as model servers do.

use std::fmt;
use std::sync::Arc;

use callboard_core::rehearsal;
use callboard_core::wire::chat::adapt::{Feature, Support};
use serde_json::Value;

use super::Upstream;
use crate::random;

/// A model in this process.
pub trait LocalModel: Send + Sync {
    /// Answers the body of a chat request with the body of a whole chat reply.
    fn reply(&self, request: &[u8]) -> Vec<u8>;
}

impl fmt::Debug for dyn LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalModel")
    }
}

/// The built-in rule-based model.
struct Rehearsal;

/// What it does with the parts of a request that concern tools. A test probes it.
const REHEARSAL_CAPABILITIES: [(Feature, Support); 6] = [
    (Feature::Tools, Support::Honored),
    (Feature::RequiredChoice, Support::Honored),
    (Feature::NamedChoice, Support::Honored),
    (Feature::ParallelToolCalls, Support::Honored),
    (Feature::ResponseFormat, Support::Ignored),
    (Feature::Strict, Support::Ignored),
];

impl Upstream {
    /// The rehearsal model, which answers to its own name only.
    pub fn rehearsal() -> Self {
        let mut upstream = Self::local(rehearsal::MODEL, Arc::new(Rehearsal));
        upstream.models.push(rehearsal::MODEL.to_owned());
        for (feature, support) in REHEARSAL_CAPABILITIES {
            upstream.profiles.found(rehearsal::MODEL, feature, support);
        }
        upstream
    }
}

impl LocalModel for Rehearsal {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let request = serde_json::from_slice(request).unwrap_or_default();
        let mut reply = rehearsal::reply(&request);
        add_call_ids(&mut reply);
        reply.to_string().into_bytes()
    }
}

/// The rules are deterministic, so the ids of calls are added here.
fn add_call_ids(reply: &mut Value) {
    let calls = reply.pointer_mut("/choices/0/message/tool_calls").and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        if let Some(fields) = call.as_object_mut() {
            fields.insert("id".to_owned(), format!("call_{}", random::letters::<24>()).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use callboard_core::wire::chat::adapt::{Finding, Probe};

    use super::*;

    /// What a probe can show is so; what it cannot show is in the rules.
    #[test]
    fn a_probe_agrees_with_what_is_known_of_the_rehearsal_model() {
        let (mut probe, mut found) = (Probe::new("abc"), Vec::new());
        while let Some(request) = probe.request() {
            found.extend(probe.answered(&Rehearsal.reply(request.to_string().as_bytes())));
        }
        assert!(probe.is_complete() && found.len() >= 3, "{found:?}");
        for finding in found {
            let known = REHEARSAL_CAPABILITIES.map(|(feature, support)| Finding::Capability(feature, support));
            assert!(known.contains(&finding), "{finding:?}");
        }
    }
}
