//! Which errors of a list mean what was sent.
//!
//! Where a message may be of several kinds, a server that checks by a schema tries them all, and complains of each kind
//! why it is not that one: that a message of the assistant is none of the user, and so on. The kind that fits is the one
//! whose role fits. Where no role fits, the role itself is what is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::Entry;

/// What may stand directly behind the number of a message, if no kind does.
const FIELDS: [&str; 7] =
    ["role", "content", "name", "tool_calls", "tool_call_id", "function_call", "reasoning_content"];

/// The entries without those about kinds that were not meant.
pub(super) fn meant(entries: Vec<Entry>) -> Vec<Entry> {
    let mut messages: BTreeMap<String, Kinds> = BTreeMap::new();
    for entry in &entries {
        if let Some((number, kind)) = kind_of(entry) {
            messages.entry(number.to_owned()).or_default().add(kind, entry);
        }
    }
    let mut kept: Vec<Entry> = entries.into_iter().filter(|entry| is_meant(entry, &messages)).collect();
    kept.extend(messages.iter().filter(|(_, kinds)| kinds.none_fits()).map(|(number, kinds)| kinds.role(number)));
    kept
}

/// What the kinds are that one message was held against.
#[derive(Default)]
struct Kinds {
    all: BTreeSet<String>,
    of_another_role: BTreeSet<String>,
    roles: Vec<String>,
}

impl Kinds {
    fn add(&mut self, kind: &str, entry: &Entry) {
        self.all.insert(kind.to_owned());
        if entry.place.last().is_some_and(|last| last == "role") {
            self.of_another_role.insert(kind.to_owned());
            self.roles.push(entry.words.clone());
        }
    }

    fn none_fits(&self) -> bool {
        self.all == self.of_another_role
    }

    fn role(&self, number: &str) -> Entry {
        let place = ["messages", number, "role"].map(str::to_owned).to_vec();
        Entry { place, words: self.roles.join("; ") }
    }
}

/// The number of the message and the kind that an error is about.
fn kind_of(entry: &Entry) -> Option<(&str, &str)> {
    match entry.place.as_slice() {
        [root, number, kind, _, ..] if root == "messages" && !FIELDS.contains(&kind.as_str()) => Some((number, kind)),
        _ => None,
    }
}

fn is_meant(entry: &Entry, messages: &BTreeMap<String, Kinds>) -> bool {
    let kinds = kind_of(entry).and_then(|(number, kind)| Some((messages.get(number)?, kind)));
    kinds.is_none_or(|(kinds, kind)| !kinds.of_another_role.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_whose_role_fits_is_meant() {
        let table: [(&[&str], &[&str]); 5] = [
            (
                &[
                    "messages.1.System.role",
                    "messages.1.Assistant.content",
                    "messages.1.Tool.role",
                    "messages.1.Tool.id",
                ],
                &["messages.1.Assistant.content"],
            ),
            (&["messages.0.System.role", "messages.0.User.role", "messages.0.User.name"], &["messages.0.role"]),
            (
                &["messages.0.user.name", "tools.0.function.strict"],
                &["messages.0.user.name", "tools.0.function.strict"],
            ),
            (&["messages.0.role", "messages.1.content"], &["messages.0.role", "messages.1.content"]),
            (
                &["messages.0.A.role", "messages.0.B.content.str", "messages.0.B.content.list.0.type", "stop"],
                &["messages.0.B.content.str", "messages.0.B.content.list.0.type", "stop"],
            ),
        ];
        for (listed, expected) in table {
            let entry =
                |place: &&str| Entry { place: place.split('.').map(str::to_owned).collect(), words: "no".into() };
            let kept: Vec<String> =
                meant(listed.iter().map(entry).collect()).iter().map(|entry| entry.place.join(".")).collect();
            assert_eq!(kept, expected);
        }
    }
}
