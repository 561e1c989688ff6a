//! The kinds of values that keys take, and what is allowed for each.
//!
//! A kind knows the field it fills in, so that reading a value and storing it cannot come apart.
//! How the text of a value is understood is the matter of `reading`.

use super::reading::{self, MOST_SECONDS};
use super::said::Raw;
use super::secret::{MASK, Secret, StoreUrl, without_password, without_query};
use super::settings::{ContractMode, LogLevel};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The place of a value in `T`.
type Field<T, Value> = fn(&mut T) -> &mut Value;

/// What values a key takes, and the field of `T` they go to.
pub(super) enum Kind<T> {
    Address(Field<T, SocketAddr>),
    Count { least: usize, most: usize, field: Field<T, usize> },
    Bytes(Field<T, usize>),
    Seconds { least: f64, field: Field<T, Duration> },
    Truth(Field<T, bool>),
    Mode(Field<T, ContractMode>),
    Level(Field<T, LogLevel>),
    Path(Field<T, PathBuf>),
    Store(Field<T, StoreUrl>),
    Secrets(Field<T, Vec<Secret>>),
    Headers(Field<T, Vec<Secret>>),
    Url(Field<T, String>),
    Collector(Field<T, Option<String>>),
    Name(Field<T, String>),
    Names(Field<T, Vec<String>>),
    Variable(Field<T, Option<String>>),
}

impl<T> Kind<T> {
    /// Stores the value and returns how TOML writes it; `None` when the value is not allowed.
    pub(super) fn put(&self, raw: &Raw, target: &mut T) -> Option<String> {
        let written = match self {
            Kind::Address(field) => reading::address(raw)?.store(field(target)),
            Kind::Count { least, most, field } => reading::count(raw, *least..=*most)?.store(field(target)),
            Kind::Bytes(field) => reading::bytes(raw)?.store(field(target)),
            Kind::Seconds { least, field } => reading::seconds(raw, *least)?.store(field(target)),
            Kind::Truth(field) => reading::truth(raw)?.store(field(target)),
            Kind::Mode(field) => reading::mode(raw)?.store(field(target)),
            Kind::Level(field) => reading::level(raw)?.store(field(target)),
            Kind::Path(field) => reading::path(raw)?.store(field(target)),
            Kind::Store(field) => reading::store_url(raw)?.store(field(target)),
            Kind::Secrets(field) => reading::secrets(raw)?.store(field(target)),
            Kind::Headers(field) => reading::headers(raw)?.store(field(target)),
            Kind::Url(field) => reading::url(raw)?.store(field(target)),
            Kind::Collector(field) => reading::collector(raw)?.store(field(target)),
            Kind::Name(field) => reading::name(raw)?.store(field(target)),
            Kind::Names(field) => reading::names(raw)?.store(field(target)),
            Kind::Variable(field) => reading::variable(raw)?.store(field(target)),
        };
        Some(written)
    }

    /// What values are allowed, as the end of the sentence "give …".
    pub(super) fn allowed(&self) -> String {
        let fixed = match self {
            Kind::Count { least, most, .. } => {
                return format!("a whole number from {least} to {most}");
            }
            Kind::Seconds { least, .. } => {
                return format!("a number of seconds from {least} to {MOST_SECONDS}");
            }
            Kind::Mode(_) => return alternatives(&ContractMode::ALL.map(ContractMode::as_str)),
            Kind::Level(_) => return alternatives(&LogLevel::ALL.map(LogLevel::as_str)),
            Kind::Address(_) => "an address and a port, such as 127.0.0.1:8787 or [::1]:8787",
            Kind::Bytes(_) => "a number of bytes or a size such as \"8 MiB\", from 1 to 1 GiB",
            Kind::Truth(_) => "true or false",
            Kind::Path(_) => "a path",
            Kind::Store(_) => "sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE",
            Kind::Secrets(_) => "a list of keys without spaces; a variable has commas between them",
            Kind::Headers(_) => {
                "a list of headers, each name=value with %20 for a space; a variable has commas between them"
            }
            Kind::Url(_) | Kind::Collector(_) => "http://HOST:PORT/PATH or https://…, without user, query or fragment",
            Kind::Name(_) => "a name",
            Kind::Names(_) => "a list of names; a variable has commas between them",
            Kind::Variable(_) => "the name of an environment variable, not the key itself",
        };
        fixed.to_owned()
    }

    /// The value as it may appear in a message: nothing that could be a key, and no password.
    pub(super) fn shown(&self, source: &str) -> String {
        match self {
            Kind::Secrets(_) | Kind::Headers(_) | Kind::Variable(_) => MASK.to_owned(),
            Kind::Url(_) | Kind::Collector(_) => brief(&without_query(source)),
            _ => brief(&without_password(source)),
        }
    }
}

fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// The text on one line, cut where it gets long.
fn brief(text: &str) -> String {
    const MOST: usize = 80;
    let one_line = text.replace(char::is_control, " ");
    match one_line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", one_line.get(..end).unwrap_or_default()),
        None => one_line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_is_not_allowed_leaves_the_field_alone() {
        let kind: Kind<usize> = Kind::Count { least: 1, most: 5, field: |value| value };
        let mut target = 3;
        assert_eq!(kind.put(&Raw::Integer(6), &mut target), None);
        assert_eq!(target, 3);
        assert_eq!(kind.put(&Raw::Integer(5), &mut target).as_deref(), Some("5"));
        assert_eq!(target, 5);
    }

    #[test]
    fn messages_show_little_of_a_value() {
        let keys: Kind<Vec<Secret>> = Kind::Secrets(|value| value);
        let name: Kind<Option<String>> = Kind::Variable(|value| value);
        let store: Kind<StoreUrl> = Kind::Store(|value| value);
        assert_eq!(keys.shown("\"sk-secret\""), MASK);
        assert_eq!(name.shown("sk-secret"), MASK);
        assert_eq!(store.shown("postgress://me:hunter2@db"), "postgress://me:********@db");
        assert_eq!(store.shown("a\nb"), "a b");
        assert_eq!(store.shown(&"ü".repeat(80)), "ü".repeat(80));
        assert_eq!(store.shown(&"ü".repeat(81)), format!("{}…", "ü".repeat(80)));
    }
}
