//! The commands and their arguments. A new command is a new variant of [`Command`]; the caller runs it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::{Flags, show_flags};

const EXAMPLES: &str = "\
Examples:
  In front of a model server on this machine:
    callboard --upstream http://127.0.0.1:11434/v1

  In front of OpenAI, with the key in the environment:
    callboard --upstream https://api.openai.com/v1 --upstream-key-env OPENAI_API_KEY

  For other machines; clients must send one of these keys:
    CALLBOARD_API_KEYS=first-key,second-key callboard --listen 0.0.0.0:8787

  The settings in effect, and where each comes from:
    callboard config

  A character of your own, with a tool:
    callboard new bard
    callboard check
    callboard chat bard --upstream http://127.0.0.1:11434/v1

Point a client at it:
  OpenAI SDKs   OPENAI_BASE_URL=http://127.0.0.1:8787/v1
  Cline         provider \"OpenAI Compatible\", base URL http://127.0.0.1:8787/v1
  The model names are those of the model server.

Settings come from defaults, callboard.toml, the environment and flags; later ones win.
Each flag is also a variable: --listen is CALLBOARD_LISTEN.";

const STATS: &str = "\
What the columns mean:
  call rate      turns with a call, of those where tools were on offer to what a user said
  text only      such turns that were answered with text alone
  broken before  calls that broke the contract as the model wrote them
  after          calls that broke it and were passed on anyway; only with contract mode `observe`
  re-asked       calls and answers that the model was asked for again
  refused        violations that ended a turn
  not run        calls of a character's tools that were refused: an unknown name, wrong arguments, a limit
  median/95th    the median and the 95th percentile of the duration of complete turns

Examples:
  callboard stats --since 7
  callboard stats --store postgres://me@db/calls --json
A turn is counted in the store up to 200 ms after its end. /metrics has the same counts while
Callboard serves; see docs/traces.md.";

const TRACES: &str = "\
The Callboard that runs with the same settings is asked, with its first key. Where none runs, the
store is read. What was called is shown only with the setting trace.content.

Examples:
  callboard traces --last 3
  callboard traces --request req_4kc2l0xq
  callboard traces --follow";

#[derive(Parser)]
#[command(name = "callboard", version, about, after_help = EXAMPLES)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    flags: Flags,
}

/// A command with its arguments.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve clients (the default command)
    #[command(after_help = EXAMPLES)]
    Serve(Flags),
    /// Print the settings in effect, and where each comes from
    Config(Flags),
    /// Show the model servers: their state, and what they were found to honor, ignore and refuse
    Upstreams(UpstreamsArgs),
    /// Show how models call tools, per character and model, from the counts in the store
    #[command(after_help = STATS)]
    Stats {
        /// How many days back, today included
        #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
        since: u16,
        /// Write JSON
        #[arg(long)]
        json: bool,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
    /// Show what happened in the last turns: calls that were repaired, asked for again or refused, tools that failed
    #[command(after_help = TRACES)]
    Traces(TracesArgs),
    /// Check the characters of a folder: what is wrong, where, and what to write instead
    Check {
        /// The folder [default: the setting `characters`]
        dir: Option<PathBuf>,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
    /// Create a new character to start from
    New {
        /// Its name, for example bard
        name: String,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
    /// Run one tool of a character, as a model's call would
    Try {
        /// The character's id: the name of its file
        character: String,
        /// The tool
        tool: String,
        /// The arguments as JSON
        #[arg(default_value = "{}")]
        arguments: String,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
    /// Talk to a character at the terminal
    Chat {
        /// The character's id: the name of its file
        character: String,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
    /// Measure how well a model calls tools, on cases of a character or on questions of BFCL
    Eval(EvalArgs),
    /// Try spoken names: show which known name each one resolves to
    Names(NamesArgs),
    /// Play the scenarios beside the characters, with a scripted model and the real tools
    Test {
        /// The folder [default: the setting `characters`]
        dir: Option<PathBuf>,
        /// Fail also if a character has no scenarios
        #[arg(long)]
        strict: bool,
        /// Settings
        #[command(flatten)]
        flags: Flags,
    },
}

/// The arguments of `callboard eval`.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct EvalArgs {
    /// A character and a file of cases, or files of BFCL
    #[arg(required = true, value_name = "CHARACTER|FILE")]
    pub what: Vec<String>,
    /// The answers to BFCL's questions [default: the file of the same name in possible_answer/ beside them]
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Make the calls that the cases expect instead of asking a model, and compare the resulting state
    #[arg(long)]
    pub expected: bool,
    /// Also ask BFCL's questions without Callboard, and show both side by side
    #[arg(long)]
    pub direct: bool,
    /// Require a call where the questions expect one
    #[arg(long)]
    pub required: bool,
    /// Ask only the first questions of each file of BFCL
    #[arg(long, value_name = "N")]
    pub first: Option<usize>,
    /// Show the cases that fail
    #[arg(short, long)]
    pub verbose: bool,
    /// Settings
    #[command(flatten)]
    pub flags: Flags,
}

/// The arguments of `callboard upstreams`.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct UpstreamsArgs {
    /// The model to probe, or to forget [default: all of which something is known, or else the first in the list]
    #[arg(value_name = "MODEL")]
    pub model_name: Option<String>,
    /// Find out now what they honor and what they ignore, by a few tiny requests for each model
    #[arg(long, conflicts_with = "forget")]
    pub probe: bool,
    /// Forget what was found out, so that it is found out again
    #[arg(long)]
    pub forget: bool,
    /// Settings
    #[command(flatten)]
    pub flags: Flags,
}

/// The arguments of `callboard traces`.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct TracesArgs {
    /// How many of the newest
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=10_000))]
    pub last: usize,
    /// Only those of one request: the header x-request-id of its reply
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Show new ones as they come
    #[arg(long)]
    pub follow: bool,
    /// Write whole traces as JSON, one per line
    #[arg(long)]
    pub json: bool,
    /// Settings
    #[command(flatten)]
    pub flags: Flags,
}

/// The arguments of `callboard names`.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct NamesArgs {
    /// The names as they were heard
    #[arg(required = true)]
    pub heard: Vec<String>,
    /// Names to choose from, separated by commas, or a file: one name per line, or JSON
    #[arg(long, value_name = "NAMES|FILE")]
    pub among: Vec<String>,
    /// A character whose names to choose from
    #[arg(long, value_name = "ID")]
    pub character: Option<String>,
    /// Only this list of names
    #[arg(long, value_name = "NAME")]
    pub list: Option<String>,
    /// Settings
    #[command(flatten)]
    pub flags: Flags,
}

impl Command {
    /// The flags that are settings.
    pub fn flags(&self) -> &Flags {
        match self {
            Self::Serve(flags)
            | Self::Config(flags)
            | Self::Upstreams(UpstreamsArgs { flags, .. })
            | Self::Stats { flags, .. }
            | Self::Check { flags, .. }
            | Self::New { flags, .. }
            | Self::Try { flags, .. }
            | Self::Chat { flags, .. }
            | Self::Eval(EvalArgs { flags, .. })
            | Self::Names(NamesArgs { flags, .. })
            | Self::Traces(TracesArgs { flags, .. })
            | Self::Test { flags, .. } => flags,
        }
    }

    /// True when the command reads the folder of characters of the settings.
    pub fn needs_characters(&self) -> bool {
        match self {
            Self::Serve(_) | Self::Try { .. } | Self::Chat { .. } => true,
            Self::Check { dir, .. } | Self::Test { dir, .. } => dir.is_none(),
            Self::Names(names) => names.character.is_some(),
            Self::Eval(_)
            | Self::Config(_)
            | Self::Upstreams(_)
            | Self::Stats { .. }
            | Self::Traces(_)
            | Self::New { .. } => false,
        }
    }
}

/// The flags that each command uses, which its help lists. A command that is not here uses all of them.
const USED_FLAGS: &[(&str, &[&str])] = &[
    ("upstreams", &["listen", "upstream", "upstream-key-env"]),
    ("stats", &["store"]),
    ("traces", &["listen", "store"]),
    ("check", &["characters"]),
    ("new", &["characters"]),
    ("try", &["characters"]),
    ("chat", &["characters", "model", "upstream", "upstream-key-env"]),
    ("eval", &["characters", "model", "upstream", "upstream-key-env"]),
    ("names", &["characters"]),
    ("test", &["characters"]),
];

/// The command line with its help.
fn definition() -> clap::Command {
    USED_FLAGS.iter().fold(CommandLine::command(), |line, (name, used)| {
        line.mut_subcommand(name, |command| show_flags(command, used))
    })
}

/// Parses the command line of the process. Help, version and mistakes are printed and end the process.
pub fn parse() -> Command {
    parse_from(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Parses a command line that begins with the program's name.
pub fn parse_from<Word>(words: impl IntoIterator<Item = Word>) -> Result<Command, clap::Error>
where
    Word: Into<OsString> + Clone,
{
    let mut definition = definition();
    let matches = definition.try_get_matches_from_mut(words)?;
    let line = CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut definition))?;
    Ok(line.into())
}

impl From<CommandLine> for Command {
    fn from(line: CommandLine) -> Command {
        line.command.unwrap_or(Command::Serve(line.flags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    #[test]
    fn the_definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn flags_are_taken_before_and_after_every_command() {
        let arguments = |name: &str| match name {
            "new" | "chat" | "eval" | "names" => vec!["x"],
            "try" => vec!["x", "y"],
            _ => vec![],
        };
        for name in definition().get_subcommands().map(clap::Command::get_name) {
            let flags = ["--listen", "a", "--characters", "b", "--upstream", "c", "--upstream", "d", "--config", "e"];
            let after = parse_from([&["callboard", name], &arguments(name)[..], &flags].concat()).unwrap();
            let before = parse_from([&["callboard"], &flags[..], &[name], &arguments(name)].concat()).unwrap();
            assert_eq!(before, after, "{name}");
            assert_eq!(before.flags().values["upstream"], ["c", "d"], "{name}");
            assert_eq!(before.flags().config, Some("e".into()), "{name}");
            let both = [&["callboard", "--listen", "x", name], &arguments(name)[..], &["--listen", "y"]].concat();
            assert_eq!(parse_from(both).unwrap().flags().values["listen"], ["y"], "the later one wins: {name}");
        }
    }

    #[test]
    fn help_lists_the_flags_that_a_command_uses() {
        let all: Vec<String> = definition()
            .get_arguments()
            .filter_map(|flag| flag.get_long())
            .filter(|flag| *flag != "config")
            .map(str::to_owned)
            .collect();
        assert!(all.len() >= 7, "{all:?}");
        for name in definition().get_subcommands().map(clap::Command::get_name) {
            let used = USED_FLAGS.iter().find(|(command, _)| *command == name).map(|(_, flags)| *flags);
            assert!(used.is_some() || matches!(name, "serve" | "config"), "USED_FLAGS has no row for {name}");
            let help = parse_from(["callboard", name, "--help"]).unwrap_err().to_string();
            for flag in &all {
                let expected = used.is_none_or(|used| used.contains(&flag.as_str()));
                assert_eq!(help.contains(&format!("--{flag} <")), expected, "{name}: --{flag}\n{help}");
            }
            assert!(help.contains("--config <FILE>"), "{help}");
        }
    }

    #[test]
    fn without_a_command_it_serves() {
        let flags = ["--listen", "127.0.0.1:0", "--upstream", "http://a", "--upstream", "http://b", "--config", "x"];
        let words = |command: &[&'static str]| [&["callboard"], command, &flags].concat();
        let served = parse_from(words(&["serve"])).unwrap();
        assert_eq!(parse_from(words(&[])).unwrap(), served);
        assert_eq!(parse_from(["callboard"]).unwrap(), Command::Serve(Flags::default()));
        let Command::Serve(flags) = served else { panic!("{served:?}") };
        assert_eq!(flags.values["upstream"], ["http://a", "http://b"]);
        assert_eq!(flags.values["listen"], ["127.0.0.1:0"]);
        assert_eq!(flags.config, Some("x".into()));
        assert_eq!(parse_from(words(&["config"])).unwrap(), Command::Config(flags));
    }

    #[test]
    fn mistakes_help_and_version() {
        for (words, kind, text) in [
            (&["--help"][..], ErrorKind::DisplayHelp, "OPENAI_BASE_URL=http://127.0.0.1:8787/v1"),
            (&["serve", "--help"], ErrorKind::DisplayHelp, "callboard --upstream http://127.0.0.1:11434/v1"),
            (&["--help"], ErrorKind::DisplayHelp, "[default: 127.0.0.1:8787]"),
            (&["--version"], ErrorKind::DisplayVersion, env!("CARGO_PKG_VERSION")),
            (&["--lisen", "x"], ErrorKind::UnknownArgument, "'--listen'"),
            (&["confg"], ErrorKind::InvalidSubcommand, "'config'"),
            (&["--listen", "a", "--listen", "b"], ErrorKind::ArgumentConflict, "multiple times"),
            (&["--listen"], ErrorKind::InvalidValue, "<ADDR>"),
        ] {
            let error = parse_from([&["callboard"], words].concat()).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
