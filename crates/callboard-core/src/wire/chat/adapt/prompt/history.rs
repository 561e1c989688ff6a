//! A history with calls and results as one of plain text.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Family;
use super::calls::{self, WrittenCall};
use super::results::{self, WrittenResult};
use crate::wire::chat::adapt::content::{paragraphs, words};
use crate::wire::chat::adapt::heal::read_arguments_of;
use crate::wire::chat::adapt::message_accessors::{self, answered_id, call_id, call_name, role, set, take};

/// What was called so far: id, number and name.
#[derive(Default)]
struct Called {
    count: usize,
    by_id: HashMap<String, (usize, String)>,
}

/// Writes calls as the assistant's words, and the results behind them as one message of the user.
pub(super) fn write(messages: &mut Vec<Value>, family: Family) {
    let mut called = Called::default();
    let mut pending: Vec<WrittenResult> = Vec::new();
    let mut written = Vec::with_capacity(messages.len());
    for mut message in messages.drain(..) {
        if role(&message) == "tool" {
            pending.push(called.result(&message));
            continue;
        }
        written.extend(results_message(&mut pending, family));
        write_calls(&mut message, &mut called, family);
        written.push(message);
    }
    written.extend(results_message(&mut pending, family));
    *messages = written;
}

/// Results stand in the order of their calls: that is all that tells which is which.
fn results_message(pending: &mut Vec<WrittenResult>, family: Family) -> Option<Value> {
    let mut results = std::mem::take(pending);
    results.sort_by_key(|result| result.number);
    (!results.is_empty()).then(|| json!({"role": "user", "content": results::write(family, &results)}))
}

fn write_calls(message: &mut Value, called: &mut Called, family: Family) {
    let list: Vec<WrittenCall> = message_accessors::calls(message).iter().map(|call| called.call(call)).collect();
    take(message, "tool_calls");
    if !list.is_empty() {
        let text = words(message.get("content"));
        set(message, "content", paragraphs(text.trim_end(), &calls::write(family, &list)));
    }
}

impl Called {
    fn call(&mut self, call: &Value) -> WrittenCall {
        let (number, name) = (self.count, call_name(call).to_owned());
        self.count += 1;
        if let Some(id) = call_id(call) {
            self.by_id.insert(id.to_owned(), (number, name.clone()));
        }
        let arguments = call.get("function").and_then(|function| function.get("arguments"));
        WrittenCall { number, name, arguments: read_arguments_of(arguments) }
    }

    fn result(&self, message: &Value) -> WrittenResult {
        let known = answered_id(message).and_then(|id| self.by_id.get(id)).cloned();
        let (number, name) = known.unwrap_or_else(|| (self.count, String::new()));
        WrittenResult { number, name, text: words(message.get("content")) }
    }
}
