//! The flags that are settings, offered and read by the table of settings.

use crate::config::{About, CONFIG_FLAG, Flag, Flags, every_key};
use clap::{Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, value_parser};
use std::path::PathBuf;

impl Args for Flags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let settings = every_key().filter_map(|about| about.flag().map(|flag| argument(about, flag)));
        command.args(settings).arg(
            Arg::new(CONFIG_FLAG)
                .long(CONFIG_FLAG)
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Settings file [default: callboard.toml, when there is one]"),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Flags::augment_args(command)
    }
}

fn argument(about: &About, flag: &'static Flag) -> Arg {
    let action = if flag.repeatable { ArgAction::Append } else { ArgAction::Set };
    Arg::new(flag.name).long(flag.name).value_name(flag.value).action(action).help(about.flag_help())
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Flags, Error> {
        let mut flags = Flags { config: matches.get_one(CONFIG_FLAG).cloned(), ..Flags::default() };
        for flag in every_key().filter_map(About::flag) {
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
