//! What each quirk is recognised by: the request holds it, and the words of a complaint name it.

use super::complaint::{Complaint, Refusal, any, is_number};
use super::fields;
use super::sent::Sent;
use crate::wire::chat::adapt::Quirk;

/// Refuses a thing as such, not one of its values.
pub(super) const REFUSED: &str = "not support|n't support|unsupported|not permitted|not allowed|unknown|unrecognized|unrecognised|\
    not recognized|unexpected|unavailable|not available|not implemented|not enabled|not accept|no endpoints found that";
/// Refuses a value.
const WRONG: &str = "invalid|must be|must either be|expected|input should be|only support|cannot be combined";
const WRONG_ROLE: &str = "unexpected message role|unexpected role|one of|input should be|unexpected value|support|invalid|unknown|not allowed|\
    expected tags|'oneof' tag|allowed values";
const NULL: &str = "null|none is not|nil|received undefined|missing field|field required|is required";
const LIST: &str = "sequence|is array|an array instead|array into|got array|got list|from array|received array";
const STRING_EXPECTED: &str = "expected a string|expected 'string'|be a string|be a valid string|must be string|str type expected|\
    only supports string|converted to system.string|of untagged enum|unknown content type";
const EMPTY: &str = "empty|at least 1 character|blank|too short|non-whitespace|must have content";

const NINE: &str = "length of 9|length 9|9 characters|9 alphanumeric|9-character|{9}";
const USER_AFTER_TOOL: &str = "'user' after role 'tool'|user message after tool";
const SETUP: &str =
    "--enable-auto-tool-choice|--tool-call-parser|--jinja|cannot use tools with stream|single tool-call";
const ONLY_USER_AND_ASSISTANT: &str = "alternate user/assistant";
const TURNS: &str = "must alternate|should alternate|system message must be";
const STRICT: &str = "'strict'|\"strict\"|`strict`|.strict";
const ONLY_SCHEMAS: &str = "must be 'json_schema'|must be \"json_schema\"|must be `json_schema`";
const FORMAT: &str = "response_format|response format|json_schema|json_object|json mode|structured output";
const CHOICE: &str = "tool_choice|tool choice|toolchoice";
const PARALLEL: &str = "parallel_tool_calls|parallel tool call|parallel function call";
const USE_NEW_LIMIT: &str = "use max_completion_tokens|use 'max_completion_tokens|use `max_completion_tokens";
const USE_OLD_LIMIT: &str = "use max_tokens|use 'max_tokens|use `max_tokens";
const TOOLS: &str = "tool use|tool calling|tool calls|tool-calling|function call|functions are|support tool|tools is|tools are|\
    : tools";
/// A list of validation errors names every field in sight.
const NOT_TOOLS: &str = "parallel|tool_choice|type of tool|tool type|input should be";

/// A quirk; words that name it; and, unless there are none, others of which one must occur.
struct Sign(Quirk, &'static str, &'static [&'static str]);

/// Signs that mean nothing else, whatever the status; the likeliest first.
const CERTAIN: [Sign; 5] = [
    Sign(Quirk::ShortCallIds, NINE, &["id"]),
    Sign(Quirk::UserAfterTool, USER_AFTER_TOOL, &[]),
    Sign(Quirk::Tools, SETUP, &[]),
    Sign(Quirk::Alternation, TURNS, &[]),
    Sign(Quirk::SystemRole, ONLY_USER_AND_ASSISTANT, &[]),
];

const LIKELY: [Sign; 7] = [
    Sign(Quirk::Strict, STRICT, &[REFUSED]),
    Sign(Quirk::JsonObject, ONLY_SCHEMAS, &[]),
    Sign(Quirk::ResponseFormat, FORMAT, &[REFUSED, WRONG]),
    Sign(Quirk::ToolChoice, CHOICE, &[REFUSED, WRONG]),
    Sign(Quirk::ParallelToolCalls, PARALLEL, &[REFUSED]),
    Sign(Quirk::MaxTokens, USE_NEW_LIMIT, &[]),
    Sign(Quirk::MaxCompletionTokens, USE_OLD_LIMIT, &[]),
];

/// Roles that not every template knows, and what their absence means.
const ROLES: [(&str, Quirk); 3] =
    [("developer", Quirk::DeveloperRole), ("tool", Quirk::Tools), ("system", Quirk::SystemRole)];

/// The quirks that a complaint may mean, the likeliest first.
pub(super) fn suspects(complaint: &Complaint, refusal: &Refusal<'_>, sent: &Sent<'_>) -> Vec<Quirk> {
    let (subject, path) = (fields::subject(complaint), complaint.path.as_slice());
    let is_about_request = complaint.listed || matches!(refusal.status, 400 | 422);
    let mut found = matching(&CERTAIN, &subject, sent);
    // Templates without tools complain of the order of roles.
    if sent.has_tool_history() && any(&subject, ONLY_USER_AND_ASSISTANT) {
        found.insert(0, Quirk::Tools);
    }
    found.extend(fields::in_message(&subject, path, sent).filter(|_| is_about_request));
    found.extend(roles(&complaint.words, path, sent));
    found.extend(contents(&complaint.words, path, sent));
    if is_about_request {
        found.extend(matching(&LIKELY, &subject, sent));
    }
    found.extend(tools(&subject, sent));
    if is_about_request {
        found.extend(fields::in_request(&subject, sent));
    }
    found
}

fn matching(signs: &[Sign], words: &str, sent: &Sent<'_>) -> Vec<Quirk> {
    let is_named = |Sign(quirk, names, others): &&Sign| {
        any(words, names) && (others.is_empty() || others.iter().any(|other| any(words, other))) && sent.holds(quirk)
    };
    signs.iter().filter(is_named).map(|sign| sign.0.clone()).collect()
}

/// A server or model without native tools.
fn tools(subject: &str, sent: &Sent<'_>) -> Option<Quirk> {
    let is_named = any(subject, TOOLS) || subject.starts_with("tools ");
    (is_named && any(subject, REFUSED) && !any(subject, NOT_TOOLS) && sent.holds(&Quirk::Tools)).then_some(Quirk::Tools)
}

/// Roles that are refused: those named outside a list of known roles, else those that such a list lacks.
fn roles(words: &str, path: &[String], sent: &Sent<'_>) -> Vec<Quirk> {
    let is_named =
        any(words, "role|variant `developer`|developer is not") || path.last().is_some_and(|last| last == "role");
    if !is_named || !any(words, WRONG_ROLE) || words.contains("after role") {
        return Vec::new();
    }
    let (known, named) = roles_in(words);
    let present: Vec<_> = ROLES.iter().filter(|(role, _)| sent.has_role(role)).collect();
    let is_blamed = present.iter().any(|(role, _)| named.contains(role));
    let is_refused = |role| if is_blamed { named.contains(role) } else { !known.contains(role) };
    present.into_iter().filter(|(role, _)| is_refused(role)).map(|(_, quirk)| quirk.clone()).collect()
}

/// The roles that words list as known, and those that they name elsewhere.
fn roles_in(words: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut known, mut named, mut run) = (Vec::new(), Vec::new(), Vec::new());
    let all = words.split(|character: char| !character.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    for word in all.chain([""]) {
        match word {
            "system" | "developer" | "user" | "assistant" | "tool" | "function" => run.push(word),
            "and" | "or" => {}
            _ if run.len() > 1 => known.append(&mut run),
            _ => named.append(&mut run),
        }
    }
    (known, named)
}

/// Content that is null, a list or empty where text is wanted.
fn contents(words: &str, path: &[String], sent: &Sent<'_>) -> Vec<Quirk> {
    // Some name only the message, or only the JSON type.
    let is_named = match path {
        [root, .., last] if root == "messages" => is_number(last) || path.iter().any(|part| part == "content"),
        _ => any(words, "content|must be string, but is|types string and sequence"),
    };
    if !is_named {
        return Vec::new();
    }
    let (list, string, empty) = (any(words, LIST), any(words, STRING_EXPECTED), any(words, EMPTY));
    let null = any(words, NULL) || string && !list || empty && !sent.holds(&Quirk::EmptyContent);
    let quirks = [(empty, Quirk::EmptyContent), (null, Quirk::NullContent), (list || string, Quirk::ContentParts)];
    quirks.into_iter().filter(|(is_named, quirk)| *is_named && sent.holds(quirk)).map(|(_, quirk)| quirk).collect()
}
