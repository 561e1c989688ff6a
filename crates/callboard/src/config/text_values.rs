//! Single words and lines in settings: addresses, switches, paths, names, URLs.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::raw::Raw;
use super::reading::{Reading, line, quoted};
use super::secret::{StoreUrl, without_password};
use super::settings::ContractMode;

/// `localhost` is taken for 127.0.0.1, because names are not looked up here.
pub(super) fn address(raw: &Raw) -> Option<Reading<SocketAddr>> {
    let text = raw.text()?;
    let value: SocketAddr = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse().ok()?,
        None => text.parse().ok()?,
    };
    Some((value, quoted(&value.to_string())))
}

pub(super) fn truth(raw: &Raw) -> Option<Reading<bool>> {
    let value = match raw {
        Raw::Plain(text) => text.parse().ok()?,
        Raw::Toml(value) => value.as_bool()?,
    };
    Some((value, value.to_string()))
}

pub(super) fn mode(raw: &Raw) -> Option<Reading<ContractMode>> {
    let text = raw.text()?;
    let value = ContractMode::ALL.into_iter().find(|mode| mode.as_str() == text)?;
    Some((value, quoted(text)))
}

pub(super) fn word(raw: &Raw, words: &[&'static str]) -> Option<Reading<&'static str>> {
    let text = raw.text()?;
    let value = words.iter().find(|word| **word == text)?;
    Some((*value, quoted(text)))
}

pub(super) fn path(raw: &Raw) -> Option<Reading<PathBuf>> {
    let text = line(raw)?;
    Some((PathBuf::from(text), quoted(text)))
}

/// A name, which may be left empty.
pub(super) fn name(raw: &Raw) -> Option<Reading<String>> {
    let text = if raw.text() == Some("") { "" } else { line(raw)? };
    Some((text.to_owned(), quoted(text)))
}

pub(super) fn store_url(raw: &Raw) -> Option<Reading<StoreUrl>> {
    let text = line(raw)?;
    Some((StoreUrl::new(text)?, quoted(&without_password(text))))
}

/// A base URL, brought into one form.
pub(super) fn url(raw: &Raw, form: fn(&str) -> Option<String>) -> Option<Reading<String>> {
    let value = form(line(raw)?)?;
    let written = quoted(&value);
    Some((value, written))
}

/// The name of an environment variable. Most keys are not such a name, so a key put here by mistake is noticed.
pub(super) fn variable(raw: &Raw) -> Option<Reading<String>> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let text = line(raw)?;
    let is_name = !text.starts_with(|letter: char| letter.is_ascii_digit()) && text.chars().all(allowed);
    is_name.then(|| (text.to_owned(), quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::base_url;
    use crate::config::reading::test_values::{plain, text, toml, written};
    use crate::config::settings::LOG_LEVELS;

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
    fn words_and_names() {
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
}
