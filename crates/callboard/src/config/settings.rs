//! What holds: every setting with its type, checked.
//!
//! These are plain values for the rest of the program to read. How they are said, and what they
//! default to, is not known here but in `table`.

use super::error::ConfigError;
use super::secret::{Secret, StoreUrl, without_query};
use super::upstream_url;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// All settings of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where to listen; port 0 lets the system pick one.
    pub listen: SocketAddr,
    /// Threads that serve requests; 0 is one per core.
    pub threads: usize,
    /// Keys that clients must show; none means that only loopback is served.
    pub api_keys: Vec<Secret>,
    /// The folder of characters.
    pub characters: PathBuf,
    /// The store.
    pub store: StoreUrl,
    /// Connections to PostgreSQL at most.
    pub store_connections: usize,
    /// How much is logged.
    pub log: LogLevel,
    /// The model servers, in the order given.
    pub upstreams: Vec<UpstreamSettings>,
    /// What is done about tool calls that break the contract.
    pub contract: ContractSettings,
    /// How much is accepted.
    pub limits: Limits,
    /// How long is waited.
    pub timeouts: Timeouts,
    /// How characters play.
    pub stage: StageSettings,
    /// How long things are kept.
    pub keep: KeepSettings,
    /// How characters are run.
    pub python: PythonSettings,
    /// What is recorded of turns.
    pub trace: TraceSettings,
    /// The collector that is told about turns.
    pub otlp: OtlpSettings,
}

impl Settings {
    /// The empty form that every key of the table then fills in.
    pub(super) fn blank() -> Settings {
        Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: 0,
            api_keys: Vec::new(),
            characters: PathBuf::new(),
            store: StoreUrl::default(),
            store_connections: 0,
            log: LogLevel::Info,
            upstreams: Vec::new(),
            contract: ContractSettings { mode: ContractMode::Enforce, reasks: 0, stream_arguments: false },
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            stage: StageSettings::default(),
            keep: KeepSettings::default(),
            python: PythonSettings { interpreter: PathBuf::new(), memory_bytes: 0, workers: 0, import: Duration::ZERO },
            trace: TraceSettings::default(),
            otlp: OtlpSettings::default(),
        }
    }
}

/// One model server.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamSettings {
    /// Its base URL, without a slash at the end.
    pub url: String,
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
}

impl UpstreamSettings {
    /// A server that was found, not said.
    pub fn found(url: &str, key: Option<String>) -> Result<UpstreamSettings, ConfigError> {
        let base = upstream_url::normal(url).ok_or_else(|| ConfigError::FoundUrl(without_query(url)))?;
        let key = key.and_then(|key| Secret::new(&key));
        Ok(UpstreamSettings { url: base, key, ..UpstreamSettings::blank() })
    }

    /// The empty form that every key of the table then fills in.
    pub(super) fn blank() -> UpstreamSettings {
        UpstreamSettings {
            url: String::new(),
            key_env: None,
            key: None,
            contract: ContractMode::Enforce,
            models: Vec::new(),
            aliases: Vec::new(),
        }
    }
}

/// Settings of the contract on replies.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractSettings {
    /// What is done about calls that break it, unless an upstream says otherwise.
    pub mode: ContractMode,
    /// How often a model is asked again for a call that could not be repaired.
    pub reasks: usize,
    /// Whether arguments are streamed as they come instead of being held until they are valid.
    pub stream_arguments: bool,
}

/// What is done about tool calls that break the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContractMode {
    /// Repair, ask again, or refuse.
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

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What failed.
    Error,
    /// What may fail soon.
    Warn,
    /// One line per request.
    Info,
    /// The steps of each request.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// All levels, from the quietest.
    pub const ALL: [LogLevel; 6] =
        [LogLevel::Off, LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];

    /// The word for it in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            LogLevel::Off => "off",
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}

/// How much is accepted from clients and from model servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Bytes of a stored history that a turn goes on from.
    pub history_bytes: usize,
    /// Tools in a request.
    pub tools: usize,
    /// Levels of nesting in a tool's schema.
    pub schema_depth: usize,
    /// Properties in a tool's schema.
    pub schema_properties: usize,
    /// Bytes of the arguments of one call.
    pub arguments_bytes: usize,
    /// Bytes of one reply of a model server.
    pub reply_bytes: usize,
    /// Requests served at the same time.
    pub in_flight: usize,
    /// How often a busy or missing model server is asked again.
    pub retries: usize,
}

/// How long is waited.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeouts {
    /// For a connection to a model server.
    pub connect: Duration,
    /// For the first byte of its reply.
    pub first_byte: Duration,
    /// For the next bytes of a reply that has begun.
    pub idle: Duration,
    /// Until a silent stream gets a comment that keeps the client's connection open.
    pub keep_alive: Duration,
    /// For the whole body of a request.
    pub body: Duration,
    /// For a client that takes nothing of its reply, or cannot be reached any more.
    pub client: Duration,
    /// For requests in flight when the program is told to stop.
    pub drain: Duration,
}

/// How characters play.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageSettings {
    /// The model for characters that name none; empty is the first one of the model server.
    pub model: String,
    /// How often tools may run in one turn.
    pub rounds: usize,
    /// Time after which a character must answer without more tools.
    pub turn: Duration,
    /// Bytes of the arguments of one call.
    pub arguments_bytes: usize,
    /// Characters of a tool's result that the model is told.
    pub result_characters: usize,
    /// A character that should act and talks is asked for a call once.
    pub insist: bool,
}

/// How many days things are kept; 0 is for ever.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeepSettings {
    /// Conversations, from their last turn.
    pub conversation_days: usize,
    /// Responses.
    pub response_days: usize,
    /// Histories of Chat Completions with a character.
    pub history_days: usize,
    /// Traces.
    pub trace_days: usize,
}

/// How characters are run.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonSettings {
    /// The Python program, a path or a name that is looked up.
    pub interpreter: PathBuf,
    /// Bytes of memory of one worker process.
    pub memory_bytes: usize,
    /// Worker processes of one character.
    pub workers: usize,
    /// Time that a character's file has to load.
    pub import: Duration,
}

/// What is recorded of turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSettings {
    /// How many of a hundred turns are kept as traces.
    pub record_percent: usize,
    /// Whether what users, models and tools say may be recorded.
    pub content: bool,
}

/// The collector that is told about turns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OtlpSettings {
    /// Its base URL; none where nothing is exported.
    pub endpoint: Option<String>,
    /// Headers for it, each `name=value`.
    pub headers: Vec<Secret>,
}
