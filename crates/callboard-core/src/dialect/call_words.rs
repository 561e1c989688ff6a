//! The words that calls are made of, in any spelling: in keys of objects, in tags, tokens and keywords.
//!
//! `tool_calls`, `toolCall`, `TOOL_CALL` and `function-call` are the same words. What a key means follows from its last word.

/// What the key of a member says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyRole {
    /// The tool's name, or an object that holds the call.
    Name,
    Arguments,
    /// A list of calls.
    List,
    /// What models write beside a call.
    Beside,
}

const NAMES: [&str; 9] = ["name", "tool", "function", "action", "api", "method", "plugin", "command", "call"];
const ARGUMENTS: [&str; 13] = [
    "arguments",
    "argument",
    "args",
    "arg",
    "parameters",
    "parameter",
    "params",
    "param",
    "input",
    "inputs",
    "kwargs",
    "payload",
    "parameter_values",
];
const LISTS: [&str; 6] = ["calls", "uses", "tools", "functions", "actions", "commands"];
const BESIDE: [&str; 14] = [
    "type",
    "id",
    "index",
    "thought",
    "thoughts",
    "thinking",
    "reasoning",
    "reason",
    "explanation",
    "description",
    "plan",
    "criticism",
    "status",
    "rationale",
];

/// Words one of which says that a tool is called.
const CALLING: [&str; 14] = [
    "functions",
    "function",
    "func",
    "tools",
    "tool",
    "calling",
    "calls",
    "call",
    "invocation",
    "invoke",
    "plugin",
    "action",
    "command",
    "api",
];
/// Words that such a word may be glued to: `functioncall`, `usetool`, `functools`.
const GLUED: [&str; 11] = ["use", "request", "code", "block", "begin", "start", "end", "run", "exec", "mcp", "s"];

/// Words that say that something else than a call follows.
const OTHERS: [&str; 10] =
    ["result", "results", "response", "responses", "output", "outputs", "error", "description", "definition", "docs"];

/// What a key means; none for one that no call has.
pub(super) fn key_role(key: &str) -> Option<KeyRole> {
    let words = words(key);
    let last = words.rsplit(' ').next().unwrap_or_default();
    let tables = [
        (&NAMES[..], KeyRole::Name),
        (&ARGUMENTS, KeyRole::Arguments),
        (&LISTS, KeyRole::List),
        (&BESIDE, KeyRole::Beside),
    ];
    tables.into_iter().find(|(table, _)| table.contains(&last)).map(|(_, role)| role)
}

/// Whether a tag, token or keyword of this name may announce a call.
pub(super) fn announces_call(name: &str) -> bool {
    let words = words(name);
    let says = |word: &str| CALLING.iter().any(|stem| word.contains(stem)) && is_made_of_stems(word);
    words.split(' ').any(says) && !words.split(' ').any(|word| OTHERS.contains(&word))
}

/// Whether a word can be taken apart into words of calls, so that `toolchain` and `callback` are other words.
fn is_made_of_stems(word: &str) -> bool {
    word.is_empty() || CALLING.iter().chain(&GLUED).any(|stem| word.strip_prefix(stem).is_some_and(is_made_of_stems))
}

/// Whether a tag of this name may hold a list of the tools there are.
pub(super) fn lists_tools(name: &str) -> bool {
    let words = words(name);
    matches!(words.rsplit(' ').next(), Some("tools" | "functions" | "actions" | "commands" | "plugins"))
}

/// Whether a word may stand between a name and its arguments.
pub(super) fn announces_arguments(word: &str) -> bool {
    let words = words(word);
    let last = words.rsplit(' ').next().unwrap_or_default();
    ARGUMENTS.contains(&last) || matches!(last, "json" | "code" | "with" | "commentary" | "analysis" | "body" | "data")
}

/// The words of a name in lower case, separated by spaces. Longer names have no meaning.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut previous = ' ';
    for letter in name.chars().take(LONGEST) {
        if letter.is_uppercase() && previous.is_lowercase() {
            words.push(' ');
        }
        let letters = if letter.is_alphanumeric() { letter } else { ' ' };
        words.extend(letters.to_lowercase());
        previous = letter;
    }
    words.trim_end().to_owned()
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_in_any_spelling() {
        for (key, role) in [
            ("name", Some(KeyRole::Name)),
            ("toolName", Some(KeyRole::Name)),
            ("function_call", Some(KeyRole::Name)),
            ("action", Some(KeyRole::Name)),
            ("action_input", Some(KeyRole::Arguments)),
            ("toolArgs", Some(KeyRole::Arguments)),
            ("tool_calls", Some(KeyRole::List)),
            ("tool_call_id", Some(KeyRole::Beside)),
            ("title", None),
            ("result", None),
            ("", None),
        ] {
            assert_eq!(key_role(key), role, "{key}");
        }
    }

    #[test]
    fn names_of_tags_announce_calls() {
        for name in [
            "tool_call",
            "TOOLCALL",
            "seed:tool_call",
            "FunctionCall",
            "api_request",
            "use_mcp_tool",
            "action",
            "functools",
            "functioncall",
        ] {
            assert!(announces_call(name), "{name}");
        }
        for name in [
            "div",
            "transaction",
            "b",
            "final",
            "answer",
            "search",
            "",
            "rapid",
            "tool_response",
            "toolchains",
            "callback",
            "caller",
        ] {
            assert!(!announces_call(name), "{name}");
        }
    }
}
