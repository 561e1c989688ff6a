//! Whether calls keep the contract as they are written, without a repair.

use callboard_core::contract::{CallRules, RawCall, ToolSet, check_arguments};
use callboard_core::turn::TurnSettings;

/// A call with its arguments as text.
pub(super) struct WrittenCall {
    pub(super) name: String,
    pub(super) arguments: String,
}

impl WrittenCall {
    /// Whether it names a tool on offer, and its arguments are JSON that is valid for it.
    pub(super) fn is_valid(&self, tools: &ToolSet) -> bool {
        let raw = RawCall { name: self.name.clone(), arguments: self.arguments.clone(), ..RawCall::default() };
        let mut budget = TurnSettings::default().check_budget();
        let checked = check_arguments(&raw, tools, &CallRules::default(), &mut budget);
        checked.is_ok_and(|calls| matches!(calls.as_slice(), [call] if call.repairs.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use callboard_core::contract::ToolCache;
    use callboard_core::wire::chat::ChatRequest;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_needs_no_repair_is_valid() {
        let parameters = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]});
        let tool = json!({"type": "function", "function": {"name": "add", "parameters": parameters}});
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [tool]});
        let (_, turn) = ChatRequest::read(body.to_string().into_bytes(), &ToolCache::default()).unwrap();
        for (name, arguments, expected) in [
            ("add", r#"{"a": 1}"#, true),
            ("Add", r#"{"a": 1}"#, false),
            ("sub", r#"{"a": 1}"#, false),
            ("add", r#"{"a": "1"}"#, false),
            ("add", r#"{"a": 1,}"#, false),
            ("add", "{}", false),
        ] {
            let call = WrittenCall { name: name.to_owned(), arguments: arguments.to_owned() };
            assert_eq!(call.is_valid(&turn.tools), expected, "{name} {arguments}");
        }
    }
}
