//! The environment as a layer of settings: `CALLBOARD_*` variables, named by the table.
//!
//! The caller passes the variables in. An empty variable counts as not set: container and service files leave such variables
//! behind.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::did_you_mean::nearest;
use super::error::ConfigError;
use super::flags::CONFIG_VARIABLE;
use super::key::{Key, VARIABLE_PREFIX};
use super::list_values::listed;
use super::raw::{Origin, RawSettings};
use super::table::keys;

/// The variables that the program was started with.
#[derive(Default)]
pub struct Environment {
    /// A value that is not Unicode is `None`.
    variables: BTreeMap<String, Option<String>>,
}

impl Environment {
    /// Takes all variables, as `std::env::vars_os` gives them.
    pub fn new<Name, Value>(variables: impl IntoIterator<Item = (Name, Value)>) -> Environment
    where
        Name: Into<OsString>,
        Value: Into<OsString>,
    {
        let unicode = |(name, value): (Name, Value)| {
            let name = name.into().into_string().ok()?;
            Some((name, value.into().into_string().ok()))
        };
        Environment { variables: variables.into_iter().filter_map(unicode).collect() }
    }

    /// The value of a variable that is set and not empty.
    pub(super) fn value(&self, name: &str) -> Result<Option<&str>, ConfigError> {
        match self.variables.get(name) {
            None => Ok(None),
            Some(None) => Err(ConfigError::NotUnicode(name.to_owned())),
            Some(Some(value)) => Ok(Some(value.as_str()).filter(|value| !value.is_empty())),
        }
    }

    /// Adds the variables to the raw settings.
    pub(super) fn add_to(&self, raw: &mut RawSettings) -> Result<(), ConfigError> {
        self.check_names()?;
        for key in keys() {
            let Some(variable) = key.variable() else { continue };
            if let Some(text) = self.value(&variable)? {
                let texts = if key.is_repeatable() { listed(text).collect() } else { vec![text] };
                raw.add(key, &texts, &Origin::Environment { variable });
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        let known: Vec<String> = keys().filter_map(Key::variable).chain([CONFIG_VARIABLE.to_owned()]).collect();
        let unknown = |name: &&String| {
            name.starts_with(VARIABLE_PREFIX) && !known.contains(name) && !self.is_from_kubernetes(name)
        };
        match self.variables.keys().find(unknown) {
            Some(name) => Err(unknown_variable(name, &known)),
            None => Ok(()),
        }
    }

    /// Kubernetes sets variables named after services in each pod, and the service of this program is likely to be called
    /// `callboard`.
    fn is_from_kubernetes(&self, name: &str) -> bool {
        let service = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part));
        self.variables.contains_key("KUBERNETES_SERVICE_HOST") && (service || name.ends_with("_PORT"))
    }
}

fn unknown_variable(name: &str, known: &[String]) -> ConfigError {
    // The common prefix would make all names look alike.
    let bare = name.trim_start_matches(VARIABLE_PREFIX);
    let known = known.iter().filter_map(|name| name.strip_prefix(VARIABLE_PREFIX));
    let hint = match nearest(bare, known) {
        Some(meant) => format!("; did you mean {VARIABLE_PREFIX}{meant}?"),
        None => "; unset it, or find the name you need in docs/settings.md".to_owned(),
    };
    ConfigError::UnknownVariable { variable: name.to_owned(), hint }
}
