//! Lists in settings: keys, headers, names, paths, hosts, origins. In the file an array of strings, otherwise text with commas.

use toml::Value;

use super::passthrough_path;
use super::raw::Raw;
use super::reading::{Reading, list};
use super::secret::{MASK, Secret};

pub(super) fn secrets(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
    let value: Vec<Secret> = items(raw)?.into_iter().map(Secret::new).collect::<Option<_>>()?;
    let written = list(value.iter().map(|_| MASK));
    Some((value, written))
}

/// A list of headers, whose values may be keys.
pub(super) fn headers(raw: &Raw) -> Option<Reading<Vec<Secret>>> {
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

pub(super) fn names(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let value: Vec<String> = items(raw)?.into_iter().map(str::to_owned).collect();
    let written = list(&value);
    Some((value, written))
}

pub(super) fn paths(raw: &Raw) -> Option<Reading<Vec<String>>> {
    names(raw).filter(|(value, _)| value.iter().all(|path| passthrough_path::is_allowed(path)))
}

/// A program and its arguments.
pub(super) fn command(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let is_program = |word: &String| !word.trim().is_empty();
    names(raw)
        .filter(|(value, _)| value.first().is_some_and(is_program) && !value.iter().any(|word| word.contains('\0')))
}

/// Environment variables, each `NAME`, `NAME*` or `NAME=value`.
pub(super) fn variables(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(fits);
    let is_variable = |text: &String| match text.split_once('=') {
        Some((name, value)) => is_name(name) && !value.contains('\0'),
        None => is_name(text.strip_suffix('*').unwrap_or(text)),
    };
    names(raw).filter(|(value, _)| value.iter().all(is_variable))
}

/// Names of hosts. A URL or a port would never match, so they are refused.
pub(super) fn hosts(raw: &Raw) -> Option<Reading<Vec<String>>> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(fits);
    names(raw).filter(|(value, _)| value.iter().all(|name| is_name(name)))
}

/// Origins of web pages, as browsers write them: a slash at the end would never match.
pub(super) fn origins(raw: &Raw) -> Option<Reading<Vec<String>>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::reading::test_values::{array, plain, text, written};

    #[test]
    fn lists() {
        for (written, expected) in [
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
            (written(command(&array(&["a", "", "-b,c"]))), Some("[\"a\", \"\", \"-b,c\"]")),
            (written(command(&array(&[]))), None),
            (written(command(&array(&["", "a"]))), None),
            (written(command(&text("a b"))), None),
            (written(variables(&array(&["A", "B_*", "C=d e=f", "D="]))), Some("[\"A\", \"B_*\", \"C=d e=f\", \"D=\"]")),
            (written(variables(&array(&["A B"]))), None),
            (written(variables(&array(&["=b"]))), None),
            (written(variables(&array(&["*A"]))), None),
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
        ] {
            assert_eq!(written.as_deref(), expected);
        }
    }
}
