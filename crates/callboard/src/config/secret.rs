//! Values that must not be seen: keys, and the password inside a store URL.
//!
//! They have separate types, so that a log line or an error that prints the settings cannot show them by accident.

use std::fmt;

/// Printed in place of a secret.
pub(super) const MASK: &str = "********";

/// A key; printing it shows a mask.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key that can be sent in a header: visible ASCII, not empty.
    pub(crate) fn new(text: &str) -> Option<Secret> {
        let sendable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        sendable.then(|| Secret(text.to_owned()))
    }

    /// The key itself, for comparing and for sending.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASK)
    }
}

/// Where the store is, such as `sqlite:callboard.db`; printing it masks a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// Takes a URL of one of the stores there are.
    pub(super) fn new(text: &str) -> Option<StoreUrl> {
        ["sqlite:", "postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()))
            .then(|| StoreUrl(text.to_owned()))
    }

    /// A store for commands that keep nothing.
    pub fn in_memory() -> StoreUrl {
        StoreUrl("sqlite::memory:".to_owned())
    }

    /// The whole URL, password included.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&without_password(&self.0))
    }
}

/// The text of a URL with its password masked, in `user:password@` and in `?password=`.
///
/// It is also used on text that is no valid URL, so it hides too much rather than too little.
pub(super) fn without_password(text: &str) -> String {
    without_user_password(&without_query_password(text))
}

/// The text of a URL that should have no query, with its query masked: it may be a key.
pub(super) fn without_query(text: &str) -> String {
    let shown = without_password(text);
    match shown.find(['?', '#']) {
        Some(at) => format!("{}{MASK}", shown.get(..=at).unwrap_or_default()),
        None => shown,
    }
}

fn without_user_password(text: &str) -> String {
    let Some((user, host)) = text.rsplit_once('@') else {
        return text.to_owned();
    };
    let scheme_ends = user.find("://").map_or(0, |at| at.saturating_add(3));
    let (scheme, user) = user.split_at(scheme_ends);
    match user.split_once(':') {
        Some((name, _)) => format!("{scheme}{name}:{MASK}@{host}"),
        None => text.to_owned(),
    }
}

fn without_query_password(text: &str) -> String {
    let Some((before, password)) = text.split_once("password=") else {
        return text.to_owned();
    };
    let after = password.find(['&', '"', '\'']).and_then(|end| password.get(end..)).unwrap_or_default();
    format!("{before}password={MASK}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printing_never_shows_a_secret() {
        let key = Secret::new("sk-secret").unwrap();
        assert_eq!(format!("{key:?}"), MASK);
        assert_eq!(key.expose(), "sk-secret");
        let store = StoreUrl::new("postgres://me:hunter2@db/calls").unwrap();
        assert_eq!(format!("{store:?}"), "postgres://me:********@db/calls");
        assert_eq!(store.expose(), "postgres://me:hunter2@db/calls");
    }

    #[test]
    fn passwords_are_masked_in_urls() {
        for (text, shown) in [
            ("sqlite:callboard.db", "sqlite:callboard.db"),
            ("sqlite::memory:", "sqlite::memory:"),
            ("postgres://db/calls", "postgres://db/calls"),
            ("postgres://me@db/calls", "postgres://me@db/calls"),
            ("postgres://me:a/b@c@db/calls", "postgres://me:********@db/calls"),
            ("postgres:me:hunter2@db", "postgres:********@db"),
            ("postgres://db/calls?password=hunter2&x=1", "postgres://db/calls?password=********&x=1"),
            ("postgres://db:5432/calls?password=hun@ter2", "postgres://db:5432/calls?password=********"),
            ("\"postgres://db/calls?password=hunter2\"", "\"postgres://db/calls?password=********\""),
        ] {
            assert_eq!(without_password(text), shown);
        }
    }

    #[test]
    fn queries_are_masked_where_none_should_be() {
        for (text, shown) in [
            ("http://host/v1", "http://host/v1"),
            ("http://host/v1?key=SECRET", "http://host/v1?********"),
            ("http://host/v1#SECRET", "http://host/v1#********"),
            ("http://me:SEC?RET@host/v1", "http://me:********@host/v1"),
            ("http://host/v1?key=SEC:R@ET", "http://host/v1?********"),
        ] {
            assert_eq!(without_query(text), shown);
        }
    }

    #[test]
    fn keys_must_be_sendable_and_stores_known() {
        for text in ["", "two words", "new\nline", "schlüssel"] {
            assert!(Secret::new(text).is_none(), "{text:?}");
        }
        for text in ["", "sqlite:", "callboard.db", "mysql://db", "postgres:db"] {
            assert!(StoreUrl::new(text).is_none(), "{text:?}");
        }
    }
}
