//! The table of all settings: one row defines a key, and in most sections also the field that holds its value.
//!
//! To add a setting, add a row; the file, the environment, the command line, `callboard config` and `docs/settings.md` follow.

use std::path::PathBuf;
use std::time::Duration;

use callboard_core::wire::chat::adapt::ToolsMode;

use super::key::DefaultValue::{Nothing, SameAs, Text};
use super::key::{Flag, Key};
use super::kind::Kind;
use super::secret::Secret;
use super::settings::{ContractMode, LOG_FORMATS, LOG_LEVELS, PROBE_POLICIES, Settings, UpstreamSettings};

/// When a command is started.
const STARTS: [&str; 2] = ["at_start", "on_demand"];

/// The values of a switch.
const ON_OFF: [&str; 2] = ["off", "on"];

/// The settings while they are filled in, with the upstream whose keys are read at the moment.
pub(super) struct Draft {
    pub(super) settings: Settings,
    pub(super) upstream: UpstreamSettings,
}

/// All keys by section, in the order in which they are listed.
pub(super) static SECTIONS: [&[Key]; 10] =
    [TOP, UPSTREAM, CONTRACT, LIMITS, TIMEOUTS, STAGE, KEEP, PYTHON, TRACE, OTLP];

/// All keys.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    SECTIONS.iter().copied().flatten()
}

/// The names of the sections, without the top of the file.
pub(super) fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().filter_map(|keys| keys.first()).map(|key| key.section).filter(|name| !name.is_empty())
}

/// Each row: the field, the key, its kind, its default, its help line, and its flag where it has one.
macro_rules! keys {
    ($keys:ident = $section:literal, |$draft:ident| $holder:expr; $(
        $field:ident, $name:literal, $kind:ident $(($($bound:expr),+))?, $default:expr, $help:literal
        $(, flag $flag:literal $value:literal $($repeatable:ident)?)?;
    )+) => {
        const $keys: &[Key] = &[$(Key {
            section: $section,
            name: $name,
            default: $default,
            kind: Kind::$kind($($($bound,)+)? |$draft| &mut $holder.$field),
            help: $help,
            flags: &[$(Flag { name: $flag, value: $value, repeatable: !stringify!($($repeatable)?).is_empty() })?],
        }),+];
    };
}

/// A section whose fields are all keys: as `keys!`, with the type of each field.
macro_rules! section {
    ($(#[$meta:meta])* $type:ident, $keys:ident = $section:literal, |$draft:ident| $holder:expr; $(
        $field:ident: $value_type:ty, $name:literal, $kind:ident $(($($bound:expr),+))?, $default:expr, $help:literal
        $(, flag $flag:literal $value:literal)?;
    )+) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $type {
            $(#[doc = $help] pub $field: $value_type,)+
        }

        keys! { $keys = $section, |$draft| $holder; $(
            $field, $name, $kind $(($($bound),+))?, $default, $help $(, flag $flag $value)?;
        )+ }
    };
}

keys! { TOP = "", |draft| draft.settings;
    listen,            "listen",            Address,             Text("127.0.0.1:8787"),      "Address to listen on; port 0 picks a free one", flag "listen" "ADDR";
    threads,           "threads",           Count(0, 1024),      Text("0"),                   "Threads that serve requests; 0 is one per core";
    api_keys,          "api_keys",          Secrets,             Text(""),                    "Keys that clients must send; without any, only loopback addresses are served";
    hosts,             "hosts",             Hosts,               Text(""),                    "Host names, besides localhost and loopback addresses, that requests and web pages may name while there are no `api_keys`";
    passthrough_paths, "passthrough_paths", Paths,               Text(""),                    "Paths, besides those of docs/upstreams.md, that are passed through unchecked to the server that has the model";
    cors_origins,      "cors_origins",      Origins,             Text(""),                    "Web pages of other origins that may use the API from a browser (CORS); `*` is any page and needs that there are no `api_keys`";
    characters,        "characters",        Path,                Text("characters"),          "Folder of characters", flag "characters" "DIR";
    store,             "store",             Store,               Text("sqlite:callboard.db"), "Where conversations are kept", flag "store" "URL";
    store_connections, "store_connections", Count(1, 1000),      Text("16"),                  "Most connections to PostgreSQL; work waits for a free one";
    log,               "log",               Word(&LOG_LEVELS),   Text("info"),                "How much is logged: off, error, warn, info, debug or trace", flag "log" "LEVEL";
    log_format,        "log_format",        Word(&LOG_FORMATS),  Text("text"),                "How a log line is written: as text with key=value pairs, or as one JSON object", flag "log-format" "FORMAT";
}

// A variable or flag of these applies to the upstreams given by variable or flag.
keys! { UPSTREAM = "upstream", |draft| draft.upstream;
    url,      "url",      Url,      Nothing,                 "Base URL of a model server; /v1 is added to one without a path. With a `command` it may be left out: `http://127.0.0.1:{port}/v1`", flag "upstream" "URL" repeatable;
    command,     "command",     Command,   Nothing,         "Program that serves models, with its arguments; Callboard starts it and keeps it running. `{port}` in it, in `environment` and in `url` is a free port";
    start,       "start",       Word(&STARTS), Nothing,   "When the command is started: with Callboard (`at_start`, also without this key), or by the first request for the server (`on_demand`)";
    directory,   "directory",   Path,      Nothing,         "Working directory of the command, instead of Callboard's own";
    environment, "environment", Variables, Nothing,         "Environment of the command: variables of Callboard's own that it gets beside the usual ones (`NAME`, or `NAME*` for all that begin so), and others (`NAME=value`)";
    key_env,  "key_env",  Variable, Nothing,                 "Variable that holds the model server's key", flag "upstream-key-env" "NAME";
    contract, "contract", Mode,     SameAs("contract.mode"), "What is done about tool calls of this model server that break the contract";
    models,   "models",   Names,    Nothing,                 "Models that it serves, with `*` for any text; without this, those it lists itself";
    aliases,  "aliases",  Names,    Nothing,                 "Other names for its models, each `name=model`";
    tools,    "tools",    Word(&ToolsMode::WORDS), Text("auto"), "How tools reach its models: in the request (`native`), in the prompt (`prompt`), in the prompt with calls by constrained decoding (`constrained`), or as the server needs it (`auto`)";
    probe,    "probe",    Word(&PROBE_POLICIES),   Text("auto"), "Whether it is probed for what it ignores, by a few tiny requests: `on`, `off`, or where it has no key, is on this machine or in a private network, and runs known software (`auto`)";
}

section! {
    /// The contract on replies.
    ContractSettings, CONTRACT = "contract", |draft| draft.settings.contract;
    mode: ContractMode,     "mode",             Mode,        Text("enforce"), "What is done about tool calls that break the contract: repair, re-ask or refuse (`enforce`), count (`observe`), nothing (`off`)";
    reasks: usize,          "reasks",           Count(0, 5), Text("1"),       "How often a model is asked again for a call that cannot be repaired";
    stream_arguments: bool, "stream_arguments", Truth,       Text("false"),   "Stream arguments as they come, not once they are valid; a bad call ends the stream";
}

section! {
    /// How much is accepted from clients and from model servers.
    Limits, LIMITS = "limits", |draft| draft.settings.limits;
    body_bytes: usize,           "body_bytes",            Bytes,                       Text("8 MiB"),    "Size of a request body";
    history_bytes: usize,        "history_bytes",         Bytes,                       Text("8 MiB"),    "Size of a stored history that a turn continues";
    tools: usize,                "tools",                 Count(1, 100_000),           Text("128"),      "Tools in a request";
    schema_depth: usize,         "schema_depth",          Count(1, 64),                Text("32"),       "Levels of nesting in the schema of a tool";
    schema_properties: usize,    "schema_properties",     Count(1, 100_000),           Text("1000"),     "Properties in the schema of a tool";
    schema_nodes: usize,         "schema_nodes",          Count(1, 1_000_000),         Text("50000"),    "JSON values in all schemas of a request together";
    schema_enum_values: usize,   "schema_enum_values",    Count(1, 1_000_000),         Text("10000"),    "Enum values in all schemas of a request together";
    schema_patterns: usize,      "schema_patterns",       Count(0, 100_000),           Text("500"),      "Patterns in all schemas of a request together";
    schema_pattern_bytes: usize, "schema_pattern_bytes",  Bytes,                       Text("4 MiB"),    "Compiled size of all patterns in the schemas of a request, estimated";
    validation_steps: usize,     "validation_steps",      Count(1_000, 1_000_000_000), Text("2000000"),  "Work of checking the calls of one turn; a step is one schema applied to one value";
    arguments_bytes: usize,      "arguments_bytes",       Bytes,                       Text("256 KiB"),  "Size of the arguments of one call";
    reply_bytes: usize,          "reply_bytes",           Bytes,                       Text("32 MiB"),   "Size of one reply of a model server, without most of the JSON around its content";
    reply_calls: usize,          "reply_calls",           Count(1, 100_000),           Text("10000"),    "Tool calls in one reply of a model server";
    in_flight: usize,            "in_flight",             Count(1, 100_000),           Text("1024"),     "Requests served at the same time";
    request_memory_bytes: usize, "request_memory_bytes",  Bytes,                       Text("256 MiB"),  "Memory of one request: its body, its history and the replies to it with all their JSON values, estimated";
    memory_bytes: usize,         "memory_bytes",          Bytes,                       Text("1 GiB"),    "Memory of all requests together, estimated likewise, while they arrive and are answered";
    sockets: usize,              "sockets",               Count(1, 100_000),           Text("1024"),     "WebSockets open at the same time";
    retries: usize,              "retries",               Count(0, 10),                Text("2"),        "How often a request to a busy or unreachable model server is retried";
}

section! {
    /// Timeouts.
    Timeouts, TIMEOUTS = "timeouts", |draft| draft.settings.timeouts;
    connect: Duration,    "connect_seconds",    Seconds(0.001), Text("5"),   "Wait for a connection to a model server";
    first_byte: Duration, "first_byte_seconds", Seconds(0.001), Text("600"), "Wait for the first byte of its reply";
    start: Duration,      "start_seconds",      Seconds(0.001), Text("600"), "Wait of a request for a model server that Callboard starts";
    idle: Duration,       "idle_seconds",       Seconds(0.001), Text("60"),  "Wait for more of a reply that has begun";
    keep_alive: Duration, "keep_alive_seconds", Seconds(0.001), Text("15"),  "Silence after which a comment keeps the client's connection open; a stream begins with it if the model has said nothing yet";
    body: Duration,       "body_seconds",       Seconds(0.001), Text("120"), "Wait for the whole body of a request, or a whole message on a WebSocket";
    head: Duration,       "head_seconds",       Seconds(0.001), Text("30"),  "Wait for the head of a request, also for the next one on an open connection";
    socket: Duration,     "socket_seconds",     Seconds(0.001), Text("3600"), "Wait for the next request on a WebSocket; then it is closed";
    socket_life: Duration, "socket_life_seconds", Seconds(0.001), Text("3600"), "Life of a WebSocket; then it gets an error and is closed";
    client: Duration,     "client_seconds",     Seconds(1.0),   Text("60"),  "Wait for a client that does not read its reply or cannot be reached; then its connection is closed";
    busy: Duration,       "busy_seconds",       Seconds(0.001), Text("60"),  "Time that the reply to one request may keep a thread busy, waiting not counted; then it fails";
    drain: Duration,      "drain_seconds",      Seconds(0.0),   Text("30"),  "Wait for requests in flight at shutdown; unfinished ones then end with an error";
}

section! {
    /// How characters play.
    StageSettings, STAGE = "stage", |draft| draft.settings.stage;
    model: String,            "model",             Name,              Text(""),      "Model for characters without a MODEL of their own; empty is the first one of the model server", flag "model" "NAME";
    rounds: usize,            "rounds",            Count(1, 100),     Text("8"),     "How often a character's tools may run in one turn";
    turn: Duration,           "turn_seconds",      Seconds(0.001),    Text("60"),    "Time after which a character must answer without more tools";
    arguments_bytes: usize,   "arguments_bytes",   Bytes,             Text("2 KiB"), "Size of the arguments of one call of a character's tool";
    result_characters: usize, "result_characters", Count(1, 100_000), Text("1000"),  "Characters of a tool's result that the model gets";
}

section! {
    /// How many days things are kept; 0 is forever.
    KeepSettings, KEEP = "keep", |draft| draft.settings.keep;
    conversation_days: usize, "conversation_days", Count(0, 36_500), Text("0"),  "Days after its last turn that a conversation is kept, with its state; 0 is forever";
    response_days: usize,     "response_days",     Count(0, 36_500), Text("30"), "Days that a response is kept, or longer if another follows it; 0 is forever";
    history_days: usize,      "history_days",      Count(0, 36_500), Text("30"), "Days that a history of Chat Completions with a character is kept; 0 is forever";
    finding_days: usize,      "finding_days",      Count(0, 36_500), Text("30"), "Days after which what was found out about a model server is found out again; 0 is never";
    trace_days: usize,        "trace_days",        Count(0, 36_500), Text("7"),  "Days that a trace is kept; 0 is forever";
}

section! {
    /// How characters are run.
    PythonSettings, PYTHON = "python", |draft| draft.settings.python;
    interpreter: PathBuf, "interpreter",    Path,           Text("python3"), "The Python program that runs characters: a path, or a name to look up";
    memory_bytes: usize,  "memory_bytes",   Bytes,          Text("512 MiB"), "Memory of one worker process";
    workers: usize,       "workers",        Count(1, 64),   Text("4"),       "Worker processes of one character";
    import: Duration,     "import_seconds", Seconds(0.001), Text("5"),       "Time limit for loading a character's file";
    rest: Duration,       "rest_seconds",   Seconds(0.0),   Text("60"),      "Time without a call after which a character's processes end; the next call starts them again; 0 is never";
    environment: Vec<String>, "environment", Names,         Text(""),        "Environment variables that characters see beside the usual ones such as PATH and LANG; NAME* names all that begin so";
    sandbox: &'static str, "sandbox", Word(&ON_OFF), Text("off"), "Whether characters lose files, network, programs and privileges; needs Landlock and seccomp of Linux";
}

section! {
    /// What is recorded of turns.
    TraceSettings, TRACE = "trace", |draft| draft.settings.trace;
    record_percent: usize, "record_percent", Count(0, 100), Text("100"),   "Percentage of turns that are stored as traces; all turns are counted";
    content: bool,         "content",        Truth,         Text("false"), "Record messages, arguments and results in traces, not only their sizes";
}

section! {
    /// The OpenTelemetry collector.
    OtlpSettings, OTLP = "otlp", |draft| draft.settings.otlp;
    endpoint: Option<String>, "endpoint", Collector, Nothing,  "Base URL of an OpenTelemetry collector that gets all traces; without it OTEL_EXPORTER_OTLP_ENDPOINT is used";
    headers: Vec<Secret>,     "headers",  Headers,   Text(""), "Headers for the collector, such as a key; without it OTEL_EXPORTER_OTLP_HEADERS is used";
}
