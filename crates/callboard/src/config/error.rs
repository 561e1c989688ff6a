//! What can be wrong with settings; each message names the thing, its place, and what to do.

use super::origin::Origin;
use std::io;
use std::net::SocketAddr;

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A settings file was named and is not there.
    #[error("the settings file {file} ({origin}) does not exist")]
    FileMissing {
        /// The file as it was named.
        file: String,
        /// Who named it.
        origin: Origin,
    },
    /// A server that the environment points at is no base URL.
    #[error("OPENAI_BASE_URL is {0:?}, which is no base URL; give http://HOST:PORT/v1, or name one with --upstream")]
    FoundUrl(String),
    /// A settings file is there and cannot be read.
    #[error("the settings file {file} cannot be read: {source}")]
    FileUnreadable {
        /// The file as it was named.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A settings file is not TOML.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Origin,
        /// What the TOML reader said.
        message: String,
    },
    /// A settings file has a key that does not exist.
    #[error("{place}: unknown key `{key}`{hint}")]
    UnknownKey {
        /// Where.
        place: Origin,
        /// The key with its section.
        key: String,
        /// What was meant, where that can be told.
        hint: String,
    },
    /// A section of the file is not written as one.
    #[error("{place}: `{section}` is a section: write {header} on a line of its own, and its keys below")]
    NotASection {
        /// Where.
        place: Origin,
        /// The section's name.
        section: &'static str,
        /// How it is opened.
        header: String,
    },
    /// The environment has a variable of ours that does not exist.
    #[error("unknown environment variable {variable}{hint}")]
    UnknownVariable {
        /// Its name.
        variable: String,
        /// What was meant, where that can be told.
        hint: String,
    },
    /// A variable that is needed is not Unicode.
    #[error("the environment variable {variable} is not valid Unicode")]
    NotUnicode {
        /// Its name.
        variable: String,
    },
    /// A value is not allowed for its key.
    #[error("{key} = {value} ({origin}) is not allowed: give {allowed}")]
    WrongValue {
        /// The key with its section.
        key: String,
        /// The value, masked where it may be secret.
        value: String,
        /// Who said it.
        origin: Origin,
        /// What is allowed.
        allowed: String,
    },
    /// An `[[upstream]]` has no URL.
    #[error("{origin}: this [[upstream]] has no url: write url = \"http://HOST:PORT/v1\"")]
    UrlMissing {
        /// Where it is.
        origin: Origin,
    },
    /// The variable that should hold the key of an upstream has nothing usable in it.
    #[error("the upstream {url} takes its key from the environment variable {variable}, which {problem}")]
    UpstreamKey {
        /// The upstream.
        url: String,
        /// The variable.
        variable: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A `key_env` from outside the file meets no upstream from outside the file.
    #[error(
        "{origin} names a key for upstreams given by --upstream or CALLBOARD_UPSTREAM, and there is none: \
         in a settings file, write key_env under [[upstream]]"
    )]
    KeyWithoutUpstream {
        /// Who said it.
        origin: Origin,
    },
    /// A folder of characters was named and is not there.
    #[error("the folder of characters {folder} ({origin}) {problem}: make it, or name another with --characters DIR")]
    CharactersMissing {
        /// The folder as it was named.
        folder: String,
        /// Who named it.
        origin: Origin,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Others could use the program without a key.
    #[error("listening on {listen} would let others in without a key: set CALLBOARD_API_KEYS, or listen on 127.0.0.1")]
    Exposed {
        /// The address asked for.
        listen: SocketAddr,
    },
}
