//! A model that gives the replies that a scenario or a case writes down.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::scenario::{ScriptedCall, ScriptedReply};
use crate::upstream::LocalModel;

/// The scripted model, and the requests it got.
#[derive(Default)]
pub(super) struct ScriptedModel(Mutex<Script>);

#[derive(Default)]
struct Script {
    replies: VecDeque<ScriptedReply>,
    requests: Vec<Value>,
}

impl ScriptedModel {
    /// Sets the replies of the next turn.
    pub(super) fn load(&self, replies: &[ScriptedReply]) {
        *self.script() = Script { replies: replies.iter().cloned().collect(), requests: Vec::new() };
    }

    /// The requests of this turn.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.script().requests.clone()
    }

    /// How many replies were not used.
    pub(super) fn unused(&self) -> usize {
        self.script().replies.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LocalModel for ScriptedModel {
    fn reply(&self, request: &[u8]) -> Vec<u8> {
        let mut script = self.script();
        script.requests.push(serde_json::from_slice(request).unwrap_or_default());
        let reply = script.replies.pop_front().map_or_else(
            || json!({"error": {"message": "the scenario has no further reply of the model for this turn"}}),
            |reply| body(&reply),
        );
        reply.to_string().into_bytes()
    }
}

fn body(reply: &ScriptedReply) -> Value {
    let calls: Vec<Value> = reply.calls.iter().map(call).collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let message = json!({"role": "assistant", "content": reply.text, "tool_calls": calls});
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
}

fn call(call: &ScriptedCall) -> Value {
    let arguments = call.raw_arguments.clone().unwrap_or_else(|| json!(call.arguments).to_string());
    json!({"type": "function", "function": {"name": call.tool, "arguments": arguments}})
}
