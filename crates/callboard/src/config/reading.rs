//! How the values of each kind are understood, and how TOML writes them.
//!
//! Text from the environment or a flag may stand for any type; in the file a number is a number and
//! text is text. Every function gives `None` for a value that is not allowed; saying so is the
//! matter of `load`.

use super::said::Raw;
use super::secret::{MASK, Secret, StoreUrl, without_password};
use super::settings::{ContractMode, LogLevel};
use super::upstream_url;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The longest time that can be set: a day.
pub(super) const MOST_SECONDS: f64 = 86_400.0;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const GIB: usize = 1024 * MIB;
const UNITS: [(usize, &str); 3] = [(GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];

/// A value that was understood.
pub(super) struct Reading<Value> {
    value: Value,
    /// The value in TOML, masked where it is secret.
    written: String,
}

impl<Value> Reading<Value> {
    /// Puts the value into its field and returns how TOML writes it.
    pub(super) fn store(self, field: &mut Value) -> String {
        *field = self.value;
        self.written
    }
}

/// `localhost` is taken for 127.0.0.1, because looking names up has no place here.
pub(super) fn address(raw: &Raw) -> Option<Reading<SocketAddr>> {
    let text = raw.text()?;
    let value: SocketAddr = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse().ok()?,
        None => text.parse().ok()?,
    };
    Some(Reading { value, written: quoted(&value.to_string()) })
}

/// A whole number within a range.
pub(super) fn count(raw: &Raw, range: RangeInclusive<usize>) -> Option<Reading<usize>> {
    let value = number(raw).filter(|value| range.contains(value))?;
    Some(Reading { value, written: value.to_string() })
}

/// A number of bytes, or a size with its unit.
pub(super) fn bytes(raw: &Raw) -> Option<Reading<usize>> {
    let value = match raw.text() {
        Some(text) => size(text)?,
        None => number(raw)?,
    };
    let written = match UNITS.iter().find(|(factor, _)| value.is_multiple_of(*factor)) {
        Some((factor, unit)) => quoted(&format!("{} {unit}", value / factor)),
        None => value.to_string(),
    };
    (1..=GIB).contains(&value).then_some(Reading { value, written })
}

fn number(raw: &Raw) -> Option<usize> {
    match raw {
        Raw::Plain(text) => text.parse().ok(),
        Raw::Integer(number) => usize::try_from(*number).ok(),
        _ => None,
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

/// A time in seconds, with fractions.
pub(super) fn seconds(raw: &Raw, least: f64) -> Option<Reading<Duration>> {
    let number: f64 = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Integer(number) => i32::try_from(*number).ok()?.into(),
        Raw::Float(number) => *number,
        _ => return None,
    };
    let allowed = (least..=MOST_SECONDS).contains(&number);
    let value = Duration::try_from_secs_f64(number).ok().filter(|_| allowed)?;
    Some(Reading { value, written: number.to_string() })
}

/// `true` or `false`.
pub(super) fn truth(raw: &Raw) -> Option<Reading<bool>> {
    let value = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Truth(truth) => *truth,
        _ => return None,
    };
    Some(Reading { value, written: value.to_string() })
}

/// A mode of the contract.
pub(super) fn mode(raw: &Raw) -> Option<Reading<ContractMode>> {
    word(raw, &ContractMode::ALL, ContractMode::as_str)
}

/// A level of the log.
pub(super) fn level(raw: &Raw) -> Option<Reading<LogLevel>> {
    word(raw, &LogLevel::ALL, LogLevel::as_str)
}

fn word<Value: Copy>(raw: &Raw, all: &[Value], name: fn(Value) -> &'static str) -> Option<Reading<Value>> {
    let text = raw.text()?;
    let value = all.iter().copied().find(|value| name(*value) == text)?;
    Some(Reading { value, written: quoted(text) })
}

/// A path, kept as it was said.
pub(super) fn path(raw: &Raw) -> Option<Reading<PathBuf>> {
    let text = line(raw)?;
    Some(Reading { value: PathBuf::from(text), written: quoted(text) })
}

/// A name, which may be left empty.
pub(super) fn name(raw: &Raw) -> Option<Reading<String>> {
    let text = if raw.text() == Some("") { "" } else { line(raw)? };
    Some(Reading { value: text.to_owned(), written: quoted(text) })
}

/// The URL of a store.
pub(super) fn store_url(raw: &Raw) -> Option<Reading<StoreUrl>> {
    let text = line(raw)?;
    Some(Reading { value: StoreUrl::new(text)?, written: quoted(&without_password(text)) })
}

/// The base URL of a model server.
pub(super) fn url(raw: &Raw) -> Option<Reading<String>> {
    let value = upstream_url::normal(line(raw)?)?;
    let written = quoted(&value);
    Some(Reading { value, written })
}

/// The base URL of a collector.
pub(super) fn collector(raw: &Raw) -> Option<Reading<Option<String>>> {
    let value = upstream_url::plain(line(raw)?)?;
    let written = quoted(&value);
    Some(Reading { value: Some(value), written })
}

/// A list of keys.
pub(super) fn secrets(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
    let value: Vec<Secret> = match raw {
        Raw::Plain(text) => listed(text).map(Secret::new).collect::<Option<_>>()?,
        Raw::List(items) => items.iter().map(|item| Secret::new(item)).collect::<Option<_>>()?,
        _ => return None,
    };
    let masks = vec![quoted(MASK); value.len()].join(", ");
    Some(Reading { value, written: format!("[{masks}]") })
}

/// A list of headers, whose values may be keys.
pub(super) fn headers(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
    let Reading { value, .. } = secrets(raw)?;
    let names: Option<Vec<&str>> = value.iter().map(header_name).collect();
    let written = names?.iter().map(|name| quoted(&format!("{name}={MASK}"))).collect::<Vec<_>>().join(", ");
    Some(Reading { value, written: format!("[{written}]") })
}

fn header_name(pair: &Secret) -> Option<&str> {
    let (name, _) = pair.expose().split_once('=')?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (!name.is_empty() && name.bytes().all(fits)).then_some(name)
}

/// A list of names.
pub(super) fn names(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let value: Vec<String> = match raw {
        Raw::Plain(text) => listed(text).map(str::to_owned).collect(),
        Raw::List(items) => items.clone(),
        _ => return None,
    };
    let written = value.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    Some(Reading { value, written: format!("[{written}]") })
}

/// The items of a list in an environment variable.
pub(super) fn listed(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// The name of an environment variable; most keys are not such a name, so a key put here is
/// noticed.
pub(super) fn variable(raw: &Raw) -> Option<Reading<Option<String>>> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = line(raw)?;
    let is_name = !text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(allowed);
    is_name.then(|| Reading { value: Some(text.to_owned()), written: quoted(text) })
}

/// Text of one line with something in it.
fn line(raw: &Raw) -> Option<&str> {
    raw.text().filter(|text| !text.trim().is_empty() && !text.contains(char::is_control))
}

/// The text as a TOML string.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Raw {
        Raw::Plain(text.to_owned())
    }

    fn text(text: &str) -> Raw {
        Raw::Text(text.to_owned())
    }

    fn list(items: &[&str]) -> Raw {
        Raw::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    fn written<Value>(reading: Option<Reading<Value>>) -> Option<String> {
        reading.map(|reading| reading.written)
    }

    #[test]
    fn numbers() {
        for (raw, expected) in [
            (plain("5"), Some(5)),
            (Raw::Integer(1), Some(1)),
            (Raw::Integer(0), None),
            (Raw::Integer(-1), None),
            (plain("6"), None),
            (plain(" 5"), None),
            (plain(""), None),
            (text("5"), None),
            (Raw::Float(2.0), None),
        ] {
            assert_eq!(count(&raw, 1..=5).map(|reading| reading.value), expected);
        }
    }

    #[test]
    fn sizes() {
        for (raw, expected) in [
            (plain("8 MiB"), Some((8_388_608, "\"8 MiB\""))),
            (text("8mib"), Some((8_388_608, "\"8 MiB\""))),
            (Raw::Integer(262_144), Some((262_144, "\"256 KiB\""))),
            (plain("1000"), Some((1000, "1000"))),
            (text("7 B"), Some((7, "7"))),
            (text("1 GiB"), Some((1_073_741_824, "\"1 GiB\""))),
            (text("2 GiB"), None),
            (text("0"), None),
            (text("8 MB"), None),
            (text("MiB"), None),
            (text("-1 MiB"), None),
            (text("1.5 MiB"), None),
            (text("99999999999999999999 GiB"), None),
            (text("18446744073709551615 GiB"), None),
            (Raw::Truth(true), None),
        ] {
            let reading = bytes(&raw).map(|reading| (reading.value, reading.written));
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }

    #[test]
    fn times() {
        for (raw, expected) in [
            (plain("0.25"), Some((250, "0.25"))),
            (Raw::Float(1.5), Some((1500, "1.5"))),
            (Raw::Integer(600), Some((600_000, "600"))),
            (Raw::Integer(0), None),
            (Raw::Integer(-1), None),
            (Raw::Integer(i64::MAX), None),
            (plain("86401"), None),
            (plain("NaN"), None),
            (plain("inf"), None),
            (plain("5s"), None),
            (text("5"), None),
        ] {
            let reading = seconds(&raw, 0.001).map(|read| (read.value.as_millis(), read.written));
            assert_eq!(reading, expected.map(|(value, written)| (value, written.to_owned())));
        }
    }

    #[test]
    fn addresses() {
        for (said, expected) in [
            ("127.0.0.1:0", Some("\"127.0.0.1:0\"")),
            ("[::1]:80", Some("\"[::1]:80\"")),
            ("localhost:8787", Some("\"127.0.0.1:8787\"")),
            ("127.0.0.1", None),
            (":8787", None),
            ("example.org:80", None),
            ("127.0.0.1:65536", None),
        ] {
            assert_eq!(written(address(&plain(said))).as_deref(), expected, "{said}");
        }
    }

    #[test]
    fn words_lists_and_names() {
        for (written, expected) in [
            (written(truth(&plain("true"))), Some("true")),
            (written(truth(&Raw::Truth(false))), Some("false")),
            (written(truth(&text("true"))), None),
            (written(truth(&plain("yes"))), None),
            (written(mode(&text("off"))), Some("\"off\"")),
            (written(mode(&text("Off"))), None),
            (written(mode(&Raw::Truth(false))), None),
            (written(level(&plain("debug"))), Some("\"debug\"")),
            (written(level(&plain("loud"))), None),
            (written(path(&plain("a b/c"))), Some("\"a b/c\"")),
            (written(path(&plain(" "))), None),
            (written(path(&text("a\nb"))), None),
            (written(secrets(&plain(" a, ,b,"))), Some("[\"********\", \"********\"]")),
            (written(secrets(&plain(""))), Some("[]")),
            (written(secrets(&list(&["a"]))), Some("[\"********\"]")),
            (written(secrets(&list(&["a", ""]))), None),
            (written(secrets(&plain("a b"))), None),
            (written(secrets(&text("a"))), None),
            (written(headers(&plain("a=1,Bee=x%20y"))), Some("[\"a=********\", \"Bee=********\"]")),
            (written(headers(&list(&["a=1,2"]))), Some("[\"a=********\"]")),
            (written(headers(&list(&["Authorization: Basic%20x"]))), None),
            (written(headers(&plain("a=1,b"))), None),
            (written(headers(&plain("=1"))), None),
            (written(store_url(&plain("sqlite::memory:"))), Some("\"sqlite::memory:\"")),
            (written(store_url(&plain("mysql://db"))), None),
            (written(url(&plain("http://host/"))), Some("\"http://host/v1\"")),
            (written(collector(&plain("http://host/"))), Some("\"http://host\"")),
            (written(collector(&plain("https://host/api/otel"))), Some("\"https://host/api/otel\"")),
            (written(collector(&plain("host:4318"))), None),
            (written(variable(&plain("_KEY_2"))), Some("\"_KEY_2\"")),
            (written(variable(&plain("sk-abc"))), None),
            (written(variable(&plain("1A"))), None),
            (written(variable(&plain(""))), None),
        ] {
            assert_eq!(written.as_deref(), expected);
        }
    }
}
