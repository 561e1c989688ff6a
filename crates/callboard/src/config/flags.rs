//! The command line as a layer of settings: the flags that the table defines, offered to clap and read back.
//!
//! Every command takes every flag, before or after its name; the later one wins.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, value_parser};

use super::key::{Flag, Key};
use super::raw::{Origin, RawSettings};
use super::table::keys;

/// The flag that names the settings file.
pub(super) const CONFIG_FLAG: &str = "config";
/// The environment variable that names the settings file.
pub(super) const CONFIG_VARIABLE: &str = "CALLBOARD_CONFIG";

/// The flags that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// The settings file.
    pub(crate) config: Option<PathBuf>,
    /// The values of each other flag, by its name.
    pub(crate) values: BTreeMap<&'static str, Vec<String>>,
}

impl Flags {
    /// Adds the flags to the raw settings.
    pub(super) fn add_to(&self, raw: &mut RawSettings) {
        for (key, flag) in keys_with_flags() {
            if let Some(values) = self.values.get(flag.name) {
                let texts: Vec<&str> = values.iter().map(String::as_str).collect();
                raw.add(key, &texts, &Origin::CommandLine { flag: flag.name });
            }
        }
    }
}

fn keys_with_flags() -> impl Iterator<Item = (&'static Key, &'static Flag)> {
    keys().filter_map(|key| key.flag().map(|flag| (key, flag)))
}

impl Args for Flags {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.args(keys_with_flags().map(|(key, flag)| argument(key, flag))).arg(
            Arg::new(CONFIG_FLAG)
                .long(CONFIG_FLAG)
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .global(true)
                .help("Settings file [default: callboard.toml, if it exists]"),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Flags::augment_args(command)
    }
}

fn argument(key: &Key, flag: &'static Flag) -> Arg {
    let action = if flag.repeatable { ArgAction::Append } else { ArgAction::Set };
    Arg::new(flag.name).long(flag.name).value_name(flag.value).action(action).global(true).help(key.flag_help())
}

/// Shows only these flags in the help of a command. The others are accepted all the same, as their variables are.
pub fn show_flags(command: clap::Command, shown: &[&str]) -> clap::Command {
    let hidden = keys_with_flags().map(|(_, flag)| flag.name).filter(|name| !shown.contains(name));
    hidden.fold(command, |command, name| command.mut_arg(name, |argument| argument.hide(true)))
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags, Error> {
        let mut flags = Flags { config: matches.get_one(CONFIG_FLAG).cloned(), ..Flags::default() };
        for (_, flag) in keys_with_flags() {
            if let Some(values) = matches.get_many::<String>(flag.name) {
                flags.values.insert(flag.name, values.cloned().collect());
            }
        }
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Flags::from_arg_matches(matches)?;
        Ok(())
    }
}
