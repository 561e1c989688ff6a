//! The settings in effect, typed and checked, as plain values for the rest of the program to read.
//!
//! The sections of the file are defined row by row in `table`.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::base_url;
use super::error::ConfigError;
use super::secret::{Secret, StoreUrl, without_query};
use super::table::{
    ContractSettings, KeepSettings, Limits, OtlpSettings, PythonSettings, StageSettings, Timeouts, TraceSettings,
};

/// The levels of the log, from the quietest.
pub(super) static LOG_LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// When a model server is probed.
pub(super) static PROBE_POLICIES: [&str; 3] = ["auto", "on", "off"];

/// The forms of log lines.
pub(super) static LOG_FORMATS: [&str; 2] = ["text", "json"];

/// All settings of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where to listen; port 0 lets the system pick one.
    pub listen: SocketAddr,
    /// Threads that serve requests; 0 is one per core.
    pub threads: usize,
    /// Keys that clients must show; none means that only loopback is served.
    pub api_keys: Vec<Secret>,
    /// Host names that requests without a key may name.
    pub hosts: Vec<String>,
    /// More paths that are passed through to model servers.
    pub passthrough_paths: Vec<String>,
    /// Origins of web pages that may read replies; `*` is any.
    pub cors_origins: Vec<String>,
    /// The folder of characters.
    pub characters: PathBuf,
    /// The store.
    pub store: StoreUrl,
    /// Connections to PostgreSQL at most.
    pub store_connections: usize,
    /// The level of the log.
    pub log: &'static str,
    /// The form of log lines.
    pub log_format: &'static str,
    /// The model servers, in the order given.
    pub upstreams: Vec<UpstreamSettings>,
    /// The contract on replies.
    pub contract: ContractSettings,
    /// How much is accepted.
    pub limits: Limits,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// How characters play.
    pub stage: StageSettings,
    /// How long things are kept.
    pub keep: KeepSettings,
    /// How characters are run.
    pub python: PythonSettings,
    /// What is recorded of turns.
    pub trace: TraceSettings,
    /// The OpenTelemetry collector.
    pub otlp: OtlpSettings,
}

impl Settings {
    /// The empty form, before the keys of the table fill it in.
    pub(super) fn blank() -> Settings {
        Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: 0,
            api_keys: Vec::new(),
            hosts: Vec::new(),
            passthrough_paths: Vec::new(),
            cors_origins: Vec::new(),
            characters: PathBuf::new(),
            store: StoreUrl::default(),
            store_connections: 0,
            log: "",
            log_format: "",
            upstreams: Vec::new(),
            contract: ContractSettings::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            stage: StageSettings::default(),
            keep: KeepSettings::default(),
            python: PythonSettings::default(),
            trace: TraceSettings::default(),
            otlp: OtlpSettings::default(),
        }
    }
}

/// The placeholder for a free port in a command, its environment and its URL.
pub const PORT: &str = "{port}";

/// One model server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpstreamSettings {
    /// Its base URL, without a slash at the end.
    pub url: String,
    /// The program that serves its models, with its arguments; none where Callboard does not start it.
    pub command: Vec<String>,
    /// Where the command was set.
    pub command_place: String,
    /// When it is started.
    pub start: &'static str,
    /// Where it is started.
    pub directory: PathBuf,
    /// Variables that it gets: `NAME`, `NAME*` or `NAME=value`.
    pub environment: Vec<String>,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    /// The key that was found there.
    pub key: Option<Secret>,
    /// What is done about calls from this server that break the contract.
    pub contract: ContractMode,
    /// Patterns of the models it serves.
    pub models: Vec<String>,
    /// Other names for its models, each `name=model`.
    pub aliases: Vec<String>,
    /// How tools reach its models: one of [`ToolsMode::WORDS`].
    pub tools: &'static str,
    /// When it is probed of Callboard's own accord: one of [`PROBE_POLICIES`].
    pub probe: &'static str,
}

impl UpstreamSettings {
    /// A server that no setting names, but that was found.
    pub fn found(url: &str, key: Option<String>) -> Result<UpstreamSettings, ConfigError> {
        let base = base_url::with_path(url).ok_or_else(|| ConfigError::FoundUrl(without_query(url)))?;
        let key = key.and_then(|key| Secret::new(&key));
        Ok(UpstreamSettings { url: base, key, ..UpstreamSettings::default() })
    }
}

/// What is done about tool calls that break the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContractMode {
    /// Repair, ask again, or refuse.
    #[default]
    Enforce,
    /// Pass on unchanged and count.
    Observe,
    /// Pass on unchanged.
    Off,
}

impl ContractMode {
    /// All modes.
    pub const ALL: [ContractMode; 3] = [ContractMode::Enforce, ContractMode::Observe, ContractMode::Off];

    /// The word for it in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            ContractMode::Enforce => "enforce",
            ContractMode::Observe => "observe",
            ContractMode::Off => "off",
        }
    }
}
