//! Mistakes in settings; each message names the setting, its place, and the remedy.

use super::raw::Origin;
use std::io;
use std::net::SocketAddr;

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A settings file was named and does not exist.
    #[error("the settings file {file} ({origin}) does not exist")]
    FileMissing {
        /// The file as it was named.
        file: String,
        /// Where it was named.
        origin: Origin,
    },
    /// `OPENAI_BASE_URL` is not a base URL.
    #[error("OPENAI_BASE_URL is {0:?}, which is not a base URL; give http://HOST:PORT/v1, or name one with --upstream")]
    FoundUrl(String),
    /// A settings file cannot be read.
    #[error("the settings file {file} cannot be read: {source}")]
    FileUnreadable {
        /// The file as it was named.
        file: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A settings file is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Origin,
        /// The message of the TOML reader.
        message: String,
    },
    /// A settings file has a key that does not exist.
    #[error("{place}: unknown key `{key}`{hint}")]
    UnknownKey {
        /// Where.
        place: Origin,
        /// The key with its section.
        key: String,
        /// A suggestion.
        hint: String,
    },
    /// A section of the file is written as a plain key.
    #[error("{place}: `{section}` is a section: write {header} on a line of its own, and its keys below")]
    NotASection {
        /// Where.
        place: Origin,
        /// The section's name.
        section: &'static str,
        /// How it is opened.
        header: String,
    },
    /// A `CALLBOARD_*` variable does not exist.
    #[error("unknown environment variable {variable}{hint}")]
    UnknownVariable {
        /// Its name.
        variable: String,
        /// A suggestion.
        hint: String,
    },
    /// A needed variable is not Unicode.
    #[error("the environment variable {0} is not valid Unicode")]
    NotUnicode(String),
    /// A value is not allowed for its key.
    #[error("{key} = {value} ({origin}) is not allowed: give {allowed}")]
    WrongValue {
        /// The key with its section.
        key: String,
        /// The value, masked where it may be secret.
        value: String,
        /// Where it was set.
        origin: Origin,
        /// What is allowed.
        allowed: String,
    },
    /// An `[[upstream]]` has no URL.
    #[error(
        "{0}: this [[upstream]] has no url: write url = \"http://HOST:PORT/v1\", or the command that starts a server"
    )]
    UrlMissing(Origin),
    /// A key that says how a command is started, without a command.
    #[error("{origin}: `{key}` needs a command: write command = [\"PROGRAM\", …] in the same [[upstream]]")]
    NeedsCommand {
        /// The key.
        key: &'static str,
        /// Where it was set.
        origin: Origin,
    },
    /// Callboard cannot know where a server listens that it starts.
    #[error(
        "{0}: the command does not say where the server listens: write {{port}} where the program takes its port, such as \
         \"--port\", \"{{port}}\", or name a fixed one with url = \"http://127.0.0.1:PORT/v1\""
    )]
    PortMissing(Origin),
    /// The server listens at a free port, and the URL names another.
    #[error("{0}: the command listens at a free {{port}}, so write {{port}} into the url too, or leave the url out")]
    PortFixed(Origin),
    /// The variable for the key of an upstream holds no usable key.
    #[error("the upstream {url} takes its key from the environment variable {variable}, which {problem}")]
    UpstreamKey {
        /// The upstream.
        url: String,
        /// The variable.
        variable: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A `key_env` from outside the file has no upstream from outside the file to apply to.
    #[error(
        "{0} names a key for upstreams given by --upstream or CALLBOARD_UPSTREAM, and there is none: \
         in a settings file, write key_env under [[upstream]]"
    )]
    KeyWithoutUpstream(Origin),
    /// The folder of characters was set and does not exist.
    #[error("the folder of characters {folder} ({origin}) {problem}: make it, or name another with --characters DIR")]
    CharactersMissing {
        /// The folder as it was named.
        folder: String,
        /// Where it was named.
        origin: Origin,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Any web page could be given a key.
    #[error(
        "cors_origins = [\"*\"] is not allowed together with api_keys: name the origins of the pages that may use them"
    )]
    AnyOriginWithKeys,
    /// Others could use the program without a key.
    #[error("listening on {0} would let others in without a key: set CALLBOARD_API_KEYS, or listen on 127.0.0.1")]
    Exposed(SocketAddr),
}
