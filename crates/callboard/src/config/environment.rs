//! The environment as a layer of settings: `CALLBOARD_*` variables, named by the table.
//!
//! The caller hands the variables in; nothing here looks at the process. An empty variable counts
//! as not set, which is what container and service files leave behind for "nothing".

use super::error::ConfigError;
use super::flags::CONFIG_VARIABLE;
use super::key::VARIABLE_PREFIX;
use super::nearest::nearest;
use super::origin::Origin;
use super::reading::listed;
use super::said::Said;
use super::table::every_key;
use std::collections::BTreeMap;
use std::ffi::OsString;

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
            Some(None) => Err(ConfigError::NotUnicode { variable: name.to_owned() }),
            Some(Some(value)) => Ok(Some(value.as_str()).filter(|value| !value.is_empty())),
        }
    }

    /// Adds what the environment says to what was said.
    pub(super) fn tell(&self, said: &mut Said) -> Result<(), ConfigError> {
        self.check_names()?;
        for about in every_key() {
            let Some(variable) = about.variable() else {
                continue;
            };
            let Some(text) = self.value(&variable)? else {
                continue;
            };
            let texts = match about.flag() {
                Some(flag) if flag.repeatable => listed(text).collect(),
                _ => vec![text],
            };
            said.tell(about, &texts, &Origin::Environment { variable });
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), ConfigError> {
        let known: Vec<String> =
            every_key().filter_map(|about| about.variable()).chain([CONFIG_VARIABLE.to_owned()]).collect();
        let unknown = |name: &&String| {
            name.starts_with(VARIABLE_PREFIX) && !known.contains(name) && !self.is_from_kubernetes(name)
        };
        match self.variables.keys().find(unknown) {
            Some(name) => Err(unknown_variable(name, &known)),
            None => Ok(()),
        }
    }

    /// Kubernetes tells each pod about services by variables named after them, and a service for
    /// this program is likely to be called `callboard`.
    fn is_from_kubernetes(&self, name: &str) -> bool {
        let service = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part));
        self.variables.contains_key("KUBERNETES_SERVICE_HOST") && (service || name.ends_with("_PORT"))
    }
}

fn unknown_variable(name: &str, known: &[String]) -> ConfigError {
    // The common beginning would make all names look alike.
    let bare = name.trim_start_matches(VARIABLE_PREFIX);
    let known = known.iter().filter_map(|name| name.strip_prefix(VARIABLE_PREFIX));
    let hint = match nearest(bare, known) {
        Some(meant) => format!("; did you mean {VARIABLE_PREFIX}{meant}?"),
        None => "; unset it, or find the name you need in docs/settings.md".to_owned(),
    };
    ConfigError::UnknownVariable { variable: name.to_owned(), hint }
}
