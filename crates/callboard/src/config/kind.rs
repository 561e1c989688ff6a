//! The kinds of values that keys take, and how each is described in messages.
//!
//! A kind holds the field that it fills in, so a value of another type cannot be stored there. Text from the environment or a
//! flag may be of any type; in the file a number is a number and text is text. A value that is not allowed is `None` here;
//! `load` reports it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::base_url;
use super::list_values::{command, headers, hosts, names, origins, paths, secrets, variables};
use super::number_values::{MOST_SECONDS, bytes, count, seconds};
use super::raw::Raw;
use super::reading::{Reading, some};
use super::secret::{MASK, Secret, StoreUrl, without_password, without_query};
use super::settings::ContractMode;
use super::table::Draft;
use super::text_values::{address, mode, name, path, store_url, truth, url, variable, word};

/// The field that a value goes to.
type Field<T> = fn(&mut Draft) -> &mut T;

/// What values a key takes, and the field they go to.
pub(super) enum Kind {
    Address(Field<SocketAddr>),
    /// A whole number between two bounds.
    Count(usize, usize, Field<usize>),
    Bytes(Field<usize>),
    /// A time not shorter than the bound.
    Seconds(f64, Field<Duration>),
    Truth(Field<bool>),
    Mode(Field<ContractMode>),
    /// One of these words.
    Word(&'static [&'static str], Field<&'static str>),
    Path(Field<PathBuf>),
    Store(Field<StoreUrl>),
    /// Names of hosts, without scheme and port.
    Hosts(Field<Vec<String>>),
    /// Origins of web pages.
    Origins(Field<Vec<String>>),
    Secrets(Field<Vec<Secret>>),
    Headers(Field<Vec<Secret>>),
    Url(Field<String>),
    Collector(Field<Option<String>>),
    Name(Field<String>),
    Names(Field<Vec<String>>),
    /// Paths on model servers.
    Paths(Field<Vec<String>>),
    Variable(Field<Option<String>>),
    /// A program and its arguments.
    Command(Field<Vec<String>>),
    /// Names of variables, some with values.
    Variables(Field<Vec<String>>),
}

impl Kind {
    /// Stores the value and returns it as TOML, masked where it is secret; `None` when it is not allowed.
    pub(super) fn put(&self, raw: &Raw, draft: &mut Draft) -> Option<String> {
        Some(match self {
            Kind::Address(field) => store(field(draft), address(raw)?),
            Kind::Count(least, most, field) => store(field(draft), count(raw, *least, *most)?),
            Kind::Bytes(field) => store(field(draft), bytes(raw)?),
            Kind::Seconds(least, field) => store(field(draft), seconds(raw, *least)?),
            Kind::Truth(field) => store(field(draft), truth(raw)?),
            Kind::Mode(field) => store(field(draft), mode(raw)?),
            Kind::Word(words, field) => store(field(draft), word(raw, words)?),
            Kind::Path(field) => store(field(draft), path(raw)?),
            Kind::Store(field) => store(field(draft), store_url(raw)?),
            Kind::Hosts(field) => store(field(draft), hosts(raw)?),
            Kind::Origins(field) => store(field(draft), origins(raw)?),
            Kind::Secrets(field) => store(field(draft), secrets(raw)?),
            Kind::Headers(field) => store(field(draft), headers(raw)?),
            Kind::Url(field) => store(field(draft), url(raw, base_url::at_port)?),
            Kind::Collector(field) => store(field(draft), some(url(raw, base_url::plain)?)),
            Kind::Name(field) => store(field(draft), name(raw)?),
            Kind::Names(field) => store(field(draft), names(raw)?),
            Kind::Paths(field) => store(field(draft), paths(raw)?),
            Kind::Variable(field) => store(field(draft), some(variable(raw)?)),
            Kind::Command(field) => store(field(draft), command(raw)?),
            Kind::Variables(field) => store(field(draft), variables(raw)?),
        })
    }

    /// The allowed values, as the end of the sentence "give …".
    pub(super) fn allowed(&self) -> String {
        let fixed = match self {
            Kind::Count(least, most, _) => return format!("a whole number from {least} to {most}"),
            Kind::Seconds(least, _) => return format!("a number of seconds from {least} to {MOST_SECONDS}"),
            Kind::Mode(_) => return alternatives(&ContractMode::ALL.map(ContractMode::as_str)),
            Kind::Word(words, _) => return alternatives(words),
            Kind::Address(_) => "an address and a port, such as 127.0.0.1:8787 or [::1]:8787",
            Kind::Bytes(_) => "a number of bytes or a size such as \"8 MiB\", from 1 to 1 TiB",
            Kind::Truth(_) => "true or false",
            Kind::Path(_) => "a path",
            Kind::Store(_) => "sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE",
            Kind::Hosts(_) => {
                "a list of host names such as callboard.example, without scheme and port; a variable has commas between them"
            }
            Kind::Origins(_) => {
                "a list of origins such as https://app.example or http://localhost:3000, without a path, or *; a variable has commas \
                 between them"
            }
            Kind::Secrets(_) => "a list of keys without spaces; a variable has commas between them",
            Kind::Headers(_) => {
                "a list of headers, each name=value with %20 for a space; a variable has commas between them"
            }
            Kind::Url(_) | Kind::Collector(_) => "http://HOST:PORT/PATH or https://…, without user, query or fragment",
            Kind::Name(_) => "a name",
            Kind::Names(_) => "a list of names; a variable has commas between them",
            Kind::Paths(_) => {
                "a list of whole paths such as /v1/score, none that administers a server; a variable has commas between them"
            }
            Kind::Command(_) => {
                "a program and its arguments, such as [\"llama-server\", \"-m\", \"model.gguf\", \"--port\", \"{port}\"]"
            }
            Kind::Variables(_) => "a list of variables, each NAME, NAME* or NAME=value",
            Kind::Variable(_) => "the name of an environment variable, not the key itself",
        };
        fixed.to_owned()
    }

    /// The value as it may appear in a message: nothing that could be a key, and no password.
    pub(super) fn shown(&self, source: &str) -> String {
        match self {
            Kind::Secrets(_) | Kind::Headers(_) | Kind::Variable(_) | Kind::Variables(_) => MASK.to_owned(),
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

fn store<T>(field: &mut T, (value, written): Reading<T>) -> String {
    *field = value;
    written
}

#[cfg(test)]
mod tests {
    use toml::Value;

    use super::super::settings::{Settings, UpstreamSettings};
    use super::*;

    #[test]
    fn a_value_that_is_not_allowed_leaves_the_field_alone() {
        let kind = Kind::Count(1, 5, |draft| &mut draft.settings.threads);
        let mut draft = Draft { settings: Settings::blank(), upstream: UpstreamSettings::default() };
        draft.settings.threads = 3;
        assert_eq!(kind.put(&Raw::Toml(Value::from(6)), &mut draft), None);
        assert_eq!(draft.settings.threads, 3);
        assert_eq!(kind.put(&Raw::Toml(Value::from(5)), &mut draft).as_deref(), Some("5"));
        assert_eq!(draft.settings.threads, 5);
    }

    #[test]
    fn messages_show_little_of_a_value() {
        let keys = Kind::Secrets(|draft| &mut draft.settings.api_keys);
        let name = Kind::Variable(|draft| &mut draft.upstream.key_env);
        let store = Kind::Store(|draft| &mut draft.settings.store);
        assert_eq!(keys.shown("\"sk-secret\""), MASK);
        assert_eq!(name.shown("sk-secret"), MASK);
        assert_eq!(store.shown("postgress://me:hunter2@db"), "postgress://me:********@db");
        assert_eq!(store.shown("a\nb"), "a b");
        assert_eq!(store.shown(&"ü".repeat(80)), "ü".repeat(80));
        assert_eq!(store.shown(&"ü".repeat(81)), format!("{}…", "ü".repeat(80)));
    }
}
