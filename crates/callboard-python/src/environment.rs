//! The environment of the Python processes: no variable but the usual ones and those that the settings name.
//!
//! Callboard's own environment has its keys and the password of its database; characters must not see them.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// What an interpreter needs, here or in another place. A `*` at the end matches the rest of a name.
const USUAL: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "PYENV_*",
    "PYTHON*",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_*",
    "TMPDIR",
    "TZ",
    "TZDIR",
    "USER",
    "VIRTUAL_ENV",
];

/// Makes the interpreter interactive once it has run its code.
const INTERACTIVE: &str = "PYTHONINSPECT";

/// Gives a command the variables that it may see, and no others.
pub(crate) fn restrict_environment<'a>(command: &'a mut Command, named: &[String]) -> &'a mut Command {
    command.env_clear().envs(visible(std::env::vars_os(), named))
}

fn visible(
    variables: impl Iterator<Item = (OsString, OsString)>,
    named: &[String],
) -> impl Iterator<Item = (OsString, OsString)> {
    let patterns = || USUAL.iter().copied().chain(named.iter().map(String::as_str));
    variables.filter(move |(name, _)| name != INTERACTIVE && patterns().any(|pattern| is_named(name, pattern)))
}

/// Whether a pattern of the settings names this variable: by its whole name, or by its beginning and a `*`.
pub fn is_named(name: &OsStr, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.as_encoded_bytes().starts_with(beginning.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usual_and_named_variables_are_visible() {
        let rows = [
            ("PATH", true),
            ("LC_ALL", true),
            ("PYTHONPATH", true),
            ("PYTHONINSPECT", false),
            ("PATHS", false),
            ("CALLBOARD_API_KEYS", false),
            ("OPENAI_API_KEY", false),
            ("WEATHER_KEY", true),
            ("WEATHER_KEY_2", false),
            ("MAP_KEY", true),
        ];
        let named = ["WEATHER_KEY".to_owned(), "MAP_*".to_owned()];
        for (name, expected) in rows {
            let variable = (OsString::from(name), OsString::from("x"));
            assert_eq!(visible(std::iter::once(variable), &named).count() == 1, expected, "{name}");
        }
    }
}
