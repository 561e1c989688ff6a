//! Whether a server refused what constrains an answer, and not something else about the request.

use serde_json::Value;

use crate::wire::chat::adapt::learn::{Lessons, Refusal};
use crate::wire::chat::adapt::{Constraint, Quirk};

/// Whether the refusal of a constrained request names what constrains it.
#[must_use]
pub fn is_refused(constraint: Constraint, refusal: &Refusal<'_>, sent: &Value) -> bool {
    let mut lessons = Lessons::default();
    while lessons.refused(refusal, sent) {
        let names = lessons.trying().any(|quirk| match constraint {
            Constraint::NamedChoice => matches!(quirk, Quirk::ToolChoice | Quirk::Tools),
            Constraint::ResponseFormat => matches!(quirk, Quirk::ResponseFormat),
        });
        if names {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_constrains_the_answer_counts() {
        let choice = json!({"type": "function", "function": {"name": "choose_tool"}});
        let tools = json!([{"type": "function", "function": {"name": "choose_tool"}}]);
        let named = json!({"messages": [], "tools": tools, "tool_choice": choice});
        let format = json!({"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "x"}}});
        for (constraint, message, expected) in [
            (Constraint::NamedChoice, "tool_choice is not supported", true),
            (Constraint::NamedChoice, "this model does not support tools", true),
            (Constraint::NamedChoice, "the context is too long", false),
            (Constraint::ResponseFormat, "response_format is not supported", true),
            (Constraint::ResponseFormat, "the model is overloaded", false),
        ] {
            let refusal = Refusal { status: 400, message, param: None, code: None };
            let sent = if constraint == Constraint::NamedChoice { &named } else { &format };
            assert_eq!(is_refused(constraint, &refusal, sent), expected, "{message}");
        }
    }
}
