//! The command line as a layer of settings: the flags that were given, named by the table.
//!
//! How the command line is read belongs to `cli`; this is only what it hands over.

use super::origin::Origin;
use super::said::Said;
use super::table::every_key;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The flag that names the settings file.
pub(crate) const CONFIG_FLAG: &str = "config";

/// The environment variable that names the settings file.
pub(super) const CONFIG_VARIABLE: &str = "CALLBOARD_CONFIG";

/// The flags that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The settings file, when one was named.
    pub(crate) config: Option<PathBuf>,
    /// The values of each other flag, by its name.
    pub(crate) values: BTreeMap<&'static str, Vec<String>>,
}

impl Flags {
    /// Adds what the flags say to what was said.
    pub(super) fn tell(&self, said: &mut Said) {
        for about in every_key() {
            let Some(flag) = about.flag() else { continue };
            let Some(values) = self.values.get(flag.name) else {
                continue;
            };
            let texts: Vec<&str> = values.iter().map(String::as_str).collect();
            said.tell(about, &texts, &Origin::CommandLine { flag: flag.name });
        }
    }
}
