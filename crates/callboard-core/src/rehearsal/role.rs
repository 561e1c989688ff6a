//! The semantic role of a parameter, from its name: agent, patient, count, change and so on.
//!
//! A parameter can have several roles.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// A semantic role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The agent.
    Doer,
    /// The patient.
    Undergoer,
    /// A number or an id written as text.
    Code,
    /// A plain name, even beside "id" or "code".
    PlainName,
    /// How many.
    Count,
    /// By how much something changes.
    Change,
    /// An ordinal position.
    Rank,
    /// Whose turn it is.
    Turn,
    /// The current holder.
    Holder,
    /// The owner.
    Owner,
    /// What is still to come.
    Upcoming,
    Reason,
    Search,
    Topic,
    Content,
}

const NAMES: &[(Role, &str)] = &[
    (Role::Doer, "attacking attacker actor agent subject caster sender by"),
    (Role::Undergoer, "defending defender target victim enemy object recipient receiver"),
    (Role::Code, "number id code"),
    (Role::PlainName, "name country"),
    (Role::Count, "quantity count amount number many size copies"),
    (Role::Change, "change delta adjustment"),
    (Role::Rank, "number index position rank page round place level"),
    (Role::Turn, "turn next active"),
    (Role::Holder, "controlled held holder"),
    (Role::Owner, "owner side team whose belonging"),
    (Role::Upcoming, "new next target to"),
    (Role::Reason, "reason cause"),
    (Role::Search, "query term keyword search"),
    (Role::Topic, "topic subject question text message content"),
    (Role::Content, "event content task text"),
];

static ROLES: LazyLock<HashMap<String, Vec<Role>>> = LazyLock::new(|| {
    let mut roles: HashMap<String, Vec<Role>> = HashMap::new();
    for (role, names) in NAMES {
        names.split(' ').for_each(|name| roles.entry(stem(name)).or_default().push(*role));
    }
    roles
});

/// The roles that the stems of a name give.
pub(super) fn roles_of(title: &[String]) -> Vec<Role> {
    title.iter().filter_map(|own| ROLES.get(own)).flatten().copied().collect()
}
