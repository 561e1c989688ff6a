//! The kinds of values that keys take: how each is read, written as TOML, and described in messages.
//!
//! A kind holds the field that it fills in, so a value of another type cannot be stored there. Text from the environment or a
//! flag may be of any type; in the file a number is a number and text is text. A value that is not allowed is `None` here;
//! `load` reports it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use toml::Value;

use super::base_url;
use super::passthrough_path;
use super::raw::Raw;
use super::secret::{MASK, Secret, StoreUrl, without_password, without_query};
use super::settings::ContractMode;
use super::table::Draft;

/// The longest time that can be set: a day.
const MOST_SECONDS: f64 = 86_400.0;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const GIB: usize = 1024 * MIB;
const TIB: usize = 1024 * GIB;
const UNITS: [(usize, &str); 4] = [(TIB, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];

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
            Kind::Url(field) => store(field(draft), url(raw, base_url::with_path)?),
            Kind::Collector(field) => store(field(draft), some(url(raw, base_url::plain)?)),
            Kind::Name(field) => store(field(draft), name(raw)?),
            Kind::Names(field) => store(field(draft), names(raw)?),
            Kind::Paths(field) => store(field(draft), paths(raw)?),
            Kind::Variable(field) => store(field(draft), some(variable(raw)?)),
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

/// A value that was read, and the value as TOML.
type Reading<T> = (T, String);

fn store<T>(field: &mut T, (value, written): Reading<T>) -> String {
    *field = value;
    written
}

fn some<T>((value, written): Reading<T>) -> Reading<Option<T>> {
    (Some(value), written)
}

/// `localhost` is taken for 127.0.0.1, because names are not looked up here.
fn address(raw: &Raw) -> Option<Reading<SocketAddr>> {
    let text = raw.text()?;
    let value: SocketAddr = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse().ok()?,
        None => text.parse().ok()?,
    };
    Some((value, quoted(&value.to_string())))
}

fn count(raw: &Raw, least: usize, most: usize) -> Option<Reading<usize>> {
    let value = number(raw).filter(|value| (least..=most).contains(value))?;
    Some((value, value.to_string()))
}

/// A number of bytes, or a size with its unit.
fn bytes(raw: &Raw) -> Option<Reading<usize>> {
    let value = match raw.text() {
        Some(text) => size(text)?,
        None => number(raw)?,
    };
    let written = match UNITS.iter().find(|(factor, _)| value.is_multiple_of(*factor)) {
        Some((factor, unit)) => quoted(&format!("{} {unit}", value / factor)),
        None => value.to_string(),
    };
    (1..=TIB).contains(&value).then_some((value, written))
}

fn number(raw: &Raw) -> Option<usize> {
    match raw {
        Raw::Plain(text) => text.parse().ok(),
        Raw::Toml(value) => usize::try_from(value.as_integer()?).ok(),
    }
}

fn size(text: &str) -> Option<usize> {
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(unit_at)?;
    let unit = unit.trim_start();
    let factor = match UNITS.iter().find(|(_, name)| name.eq_ignore_ascii_case(unit)) {
        Some((factor, _)) => *factor,
        None if unit.is_empty() || unit.eq_ignore_ascii_case("b") => 1,
        None => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(factor)
}

fn seconds(raw: &Raw, least: f64) -> Option<Reading<Duration>> {
    let number: f64 = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Toml(Value::Integer(number)) => i32::try_from(*number).ok()?.into(),
        Raw::Toml(value) => value.as_float()?,
    };
    let allowed = (least..=MOST_SECONDS).contains(&number);
    let value = Duration::try_from_secs_f64(number).ok().filter(|_| allowed)?;
    Some((value, number.to_string()))
}

fn truth(raw: &Raw) -> Option<Reading<bool>> {
    let value = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Toml(value) => value.as_bool()?,
    };
    Some((value, value.to_string()))
}

fn mode(raw: &Raw) -> Option<Reading<ContractMode>> {
    let text = raw.text()?;
    let value = ContractMode::ALL.into_iter().find(|mode| mode.as_str() == text)?;
    Some((value, quoted(text)))
}

fn word(raw: &Raw, words: &[&'static str]) -> Option<Reading<&'static str>> {
    let text = raw.text()?;
    let value = words.iter().find(|word| **word == text)?;
    Some((*value, quoted(text)))
}

fn path(raw: &Raw) -> Option<Reading<PathBuf>> {
    let text = line(raw)?;
    Some((PathBuf::from(text), quoted(text)))
}

/// A name, which may be left empty.
fn name(raw: &Raw) -> Option<Reading<String>> {
    let text = if raw.text() == Some("") { "" } else { line(raw)? };
    Some((text.to_owned(), quoted(text)))
}

fn store_url(raw: &Raw) -> Option<Reading<StoreUrl>> {
    let text = line(raw)?;
    Some((StoreUrl::new(text)?, quoted(&without_password(text))))
}

/// A base URL, brought into one form.
fn url(raw: &Raw, form: fn(&str) -> Option<String>) -> Option<Reading<String>> {
    let value = form(line(raw)?)?;
    let written = quoted(&value);
    Some((value, written))
}

fn secrets(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
    let value: Vec<Secret> = items(raw)?.into_iter().map(Secret::new).collect::<Option<_>>()?;
    let written = list(value.iter().map(|_| MASK));
    Some((value, written))
}

/// A list of headers, whose values may be keys.
fn headers(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
    let (value, _) = secrets(raw)?;
    let names = value.iter().map(header_name).collect::<Option<Vec<&str>>>()?;
    let written = list(names.iter().map(|name| format!("{name}={MASK}")));
    Some((value, written))
}

fn header_name(pair: &Secret) -> Option<&str> {
    let (name, _) = pair.expose().split_once('=')?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (!name.is_empty() && name.bytes().all(fits)).then_some(name)
}

fn names(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let value: Vec<String> = items(raw)?.into_iter().map(str::to_owned).collect();
    let written = list(&value);
    Some((value, written))
}

fn paths(raw: &Raw) -> Option<Reading<Vec<String>>> {
    names(raw).filter(|(value, _)| value.iter().all(|path| passthrough_path::is_allowed(path)))
}

/// Names of hosts. A URL or a port would never match, so they are refused.
fn hosts(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(fits);
    names(raw).filter(|(value, _)| value.iter().all(|name| is_name(name)))
}

/// Origins of web pages, as browsers write them: a slash at the end would never match.
fn origins(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let is_host = |host: &str| !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    let is_origin = |origin: &str| origin == "*" || origin.split_once("://").is_some_and(|(_, host)| is_host(host));
    names(raw).filter(|(value, _)| value.iter().all(|origin| is_origin(origin)))
}

/// The items of a list: an array of strings in the file, otherwise text with commas.
fn items(raw: &Raw) -> Option<Vec<&str>> {
    match raw {
        Raw::Plain(text) => Some(listed(text).collect()),
        Raw::Toml(value) => value.as_array()?.iter().map(Value::as_str).collect(),
    }
}

/// The items of a list in an environment variable.
pub(crate) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// The name of an environment variable. Most keys are not such a name, so a key put here by mistake is noticed.
fn variable(raw: &Raw) -> Option<Reading<String>> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = line(raw)?;
    let is_name = !text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(allowed);
    is_name.then(|| (text.to_owned(), quoted(text)))
}

/// Text of one line that is not blank.
fn line(raw: &Raw) -> Option<&str> {
    raw.text().filter(|text| !text.trim().is_empty() && !text.contains(char::is_control))
}

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The texts as a TOML array.
fn list<Text: AsRef<str>>(texts: impl IntoIterator<Item = Text>) -> String {
    let quoted: Vec<String> = texts.into_iter().map(|text| quoted(text.as_ref())).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::settings::{LOG_LEVELS, Settings, UpstreamSettings};
    use super::*;

    fn plain(text: &str) -> Raw {
        Raw::Plain(text.to_owned())
    }

    fn text(text: &str) -> Raw {
        toml(text)
    }

    fn toml(value: impl Into<Value>) -> Raw {
        Raw::Toml(value.into())
    }

    fn array(items: &[&str]) -> Raw {
        toml(items.to_vec())
    }

    fn written<T>(reading: Option<Reading<T>>) -> Option<String> {
        reading.map(|(_, written)| written)
    }

    #[test]
    fn numbers() {
        for (raw, expected) in [
            (plain("5"), Some(5)),
            (toml(1), Some(1)),
            (toml(0), None),
            (toml(-1), None),
            (plain("6"), None),
            (plain(" 5"), None),
            (plain(""), None),
            (text("5"), None),
            (toml(2.0), None),
        ] {
            assert_eq!(count(&raw, 1, 5).map(|(value, _)| value), expected);
        }
    }

    #[test]
    fn sizes() {
        for (raw, expected) in [
            (plain("8 MiB"), Some((8_388_608, "\"8 MiB\""))),
            (text("8mib"), Some((8_388_608, "\"8 MiB\""))),
            (toml(262_144), Some((262_144, "\"256 KiB\""))),
            (plain("1000"), Some((1000, "1000"))),
            (text("7 B"), Some((7, "7"))),
            (text("1 GiB"), Some((1_073_741_824, "\"1 GiB\""))),
            (text("2 TiB"), None),
            (text("0"), None),
            (text("8 MB"), None),
            (text("MiB"), None),
            (text("-1 MiB"), None),
            (text("1.5 MiB"), None),
            (text("99999999999999999999 GiB"), None),
            (text("18446744073709551615 GiB"), None),
            (toml(true), None),
        ] {
            let reading = bytes(&raw);
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }

    #[test]
    fn times() {
        for (raw, expected) in [
            (plain("0.25"), Some((250, "0.25"))),
            (toml(1.5), Some((1500, "1.5"))),
            (toml(600), Some((600_000, "600"))),
            (toml(0), None),
            (toml(-1), None),
            (toml(i64::MAX), None),
            (plain("86401"), None),
            (plain("NaN"), None),
            (plain("inf"), None),
            (plain("5s"), None),
            (text("5"), None),
        ] {
            let reading = seconds(&raw, 0.001).map(|(value, written)| (value.as_millis(), written));
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("127.0.0.1:0", Some("\"127.0.0.1:0\"")),
            ("[::1]:80", Some("\"[::1]:80\"")),
            ("localhost:8787", Some("\"127.0.0.1:8787\"")),
            ("127.0.0.1", None),
            (":8787", None),
            ("example.org:80", None),
            ("127.0.0.1:65536", None),
        ] {
            assert_eq!(written(address(&plain(text))).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn words_lists_and_names() {
        for (written, expected) in [
            (written(truth(&plain("true"))), Some("true")),
            (written(truth(&toml(false))), Some("false")),
            (written(truth(&text("true"))), None),
            (written(truth(&plain("yes"))), None),
            (written(mode(&text("off"))), Some("\"off\"")),
            (written(mode(&text("Off"))), None),
            (written(mode(&toml(false))), None),
            (written(word(&plain("debug"), &LOG_LEVELS)), Some("\"debug\"")),
            (written(word(&plain("loud"), &LOG_LEVELS)), None),
            (written(path(&plain("a b/c"))), Some("\"a b/c\"")),
            (written(path(&plain(" "))), None),
            (written(path(&text("a\nb"))), None),
            (written(secrets(&plain(" a, ,b,"))), Some("[\"********\", \"********\"]")),
            (written(secrets(&plain(""))), Some("[]")),
            (written(secrets(&array(&["a"]))), Some("[\"********\"]")),
            (written(secrets(&array(&["a", ""]))), None),
            (written(secrets(&plain("a b"))), None),
            (written(secrets(&text("a"))), None),
            (written(headers(&plain("a=1,Bee=x%20y"))), Some("[\"a=********\", \"Bee=********\"]")),
            (written(headers(&array(&["a=1,2"]))), Some("[\"a=********\"]")),
            (written(headers(&array(&["Authorization: Basic%20x"]))), None),
            (written(headers(&plain("a=1,b"))), None),
            (written(headers(&plain("=1"))), None),
            (written(hosts(&plain("a.example, b"))), Some("[\"a.example\", \"b\"]")),
            (written(hosts(&plain("http://a.example"))), None),
            (written(hosts(&plain("a.example:80"))), None),
            (written(hosts(&array(&["a", ""]))), None),
            (
                written(origins(&plain("https://a.example, http://b:3000"))),
                Some("[\"https://a.example\", \"http://b:3000\"]"),
            ),
            (written(origins(&plain("*"))), Some("[\"*\"]")),
            (written(origins(&plain("a.example"))), None),
            (written(origins(&plain("https://a.example/"))), None),
            (written(store_url(&plain("sqlite::memory:"))), Some("\"sqlite::memory:\"")),
            (written(store_url(&plain("mysql://db"))), None),
            (written(url(&plain("http://host/"), base_url::with_path)), Some("\"http://host/v1\"")),
            (written(url(&plain("http://host/"), base_url::plain)), Some("\"http://host\"")),
            (written(url(&plain("https://host/api/otel"), base_url::plain)), Some("\"https://host/api/otel\"")),
            (written(url(&plain("host:4318"), base_url::plain)), None),
            (written(variable(&plain("_KEY_2"))), Some("\"_KEY_2\"")),
            (written(variable(&plain("sk-abc"))), None),
            (written(variable(&plain("1A"))), None),
            (written(variable(&plain(""))), None),
        ] {
            assert_eq!(written.as_deref(), expected);
        }
    }

    #[test]
    fn a_value_that_is_not_allowed_leaves_the_field_alone() {
        let kind = Kind::Count(1, 5, |draft| &mut draft.settings.threads);
        let mut draft = Draft { settings: Settings::blank(), upstream: UpstreamSettings::default() };
        draft.settings.threads = 3;
        assert_eq!(kind.put(&toml(6), &mut draft), None);
        assert_eq!(draft.settings.threads, 3);
        assert_eq!(kind.put(&toml(5), &mut draft).as_deref(), Some("5"));
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
