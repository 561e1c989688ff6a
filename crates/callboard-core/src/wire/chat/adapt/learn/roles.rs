//! Complaints about roles, and about who speaks after whom. They come from chat templates, and seldom name a place.

use super::complaint::Complaint;
use super::sent::Sent;
use crate::wire::chat::adapt::Quirk;

/// Roles that not every template knows, and what their absence means.
const ROLES: [(&str, Quirk); 3] =
    [("developer", Quirk::DeveloperRole), ("tool", Quirk::Tools), ("system", Quirk::SystemRole)];

/// `Conversation roles must alternate user/assistant/…`. The template may mean a system message, or results of calls.
pub(super) fn alternation(Complaint { words, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let first = words.contains("system message must be") && !sent.alternates();
    if first && (words.contains("beginning") || words.contains("first")) {
        return Some(Quirk::Alternation);
    }
    if !words.contains("must alternate") && !words.contains("should alternate") {
        return None;
    }
    if sent.has_tool_history() && !words.contains("tool") {
        return Some(Quirk::Tools);
    }
    if !sent.alternates() {
        return Some(Quirk::Alternation);
    }
    (sent.has_role("system") && !words.contains("system")).then_some(Quirk::SystemRole)
}

/// `Unexpected role 'user' after role 'tool'`.
pub(super) fn user_after_tool(Complaint { words, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let named = words.contains("'user' after role 'tool'") || words.contains("user message after tool");
    (named && sent.has_user_after_tool()).then_some(Quirk::UserAfterTool)
}

/// A role that is not known.
pub(super) fn role(Complaint { words, path, .. }: &Complaint, sent: &Sent<'_>) -> Option<Quirk> {
    let signs = [
        "unexpected message role",
        "unknown variant",
        "not one of",
        "input should be",
        "unexpected value",
        "must be one of",
        "expected one of",
        "not support",
        "unsupported",
        "are supported",
        "is supported",
        "invalid",
        "unknown",
        "not allowed",
        "expected tags",
        "'oneof' tag",
        "allowed values",
    ];
    let about_role = words.contains("role") || path.last().is_some_and(|last| last == "role");
    let by_name = ROLES.iter().any(|(role, _)| blames(words, role));
    if !(about_role || by_name) || !signs.iter().any(|sign| words.contains(sign)) {
        return None;
    }
    let sent_roles = || ROLES.iter().filter(|(role, _)| sent.has_role_at(path, role));
    let blamed = sent_roles().find(|(role, _)| blames(words, role));
    let unlisted = || sent_roles().find(|(role, _)| words.contains("user") && !words.contains(role));
    let any = || sent_roles().next().filter(|_| !words.contains("user"));
    blamed.or_else(unlisted).or_else(any).map(|(_, quirk)| quirk.clone())
}

/// Whether words say that it is this role.
fn blames(words: &str, role: &str) -> bool {
    let ways = [
        format!("got {role}"),
        format!("tag '{role}'"),
        format!("received '{role}'"),
        format!("`{role}`, expected"),
        format!("variant `{role}`"),
        format!("role '{role}'"),
        format!("role \"{role}\""),
        format!("role `{role}`"),
        format!("role: {role}"),
        format!("{role} is not one of"),
        format!("'{role}' is not one of"),
        format!("{role} role "),
        format!("'{role}' role "),
        format!("support '{role}'"),
    ];
    ways.iter().any(|way| words.contains(way))
}
