//! The table of all settings: each key is defined here, or in a table beside this one, and nowhere else.
//!
//! To add a setting, add its field to `settings` and its row here; the file, the environment, the
//! command line, `callboard config` and `docs/settings.md` follow.

use super::key::{About, Fallback, Flag, Key, Section};
use super::kind::Kind;
use super::ledger_table::LEDGER_KEYS;
use super::settings::Settings;
use super::upstream_table::UPSTREAM_KEYS;

/// Keys that are said once: those about serving.
static SERVING_KEYS: &[Key<Settings>] = &[
    Key {
        about: About {
            section: Section::Top,
            name: "listen",
            fallback: Fallback::Text("127.0.0.1:8787"),
            flag: Some(Flag { name: "listen", value: "ADDR", repeatable: false }),
            help: "Address to listen on; port 0 picks a free one",
        },
        kind: Kind::Address(|settings| &mut settings.listen),
    },
    Key {
        about: About {
            section: Section::Top,
            name: "threads",
            fallback: Fallback::Text("0"),
            flag: None,
            help: "Threads that serve requests; 0 is one per core",
        },
        kind: Kind::Count { least: 0, most: 1024, field: |settings| &mut settings.threads },
    },
    Key {
        about: About {
            section: Section::Top,
            name: "api_keys",
            fallback: Fallback::Text(""),
            flag: None,
            help: "Keys that clients must show; without any, only loopback addresses are served",
        },
        kind: Kind::Secrets(|settings| &mut settings.api_keys),
    },
    Key {
        about: About {
            section: Section::Top,
            name: "characters",
            fallback: Fallback::Text("characters"),
            flag: Some(Flag { name: "characters", value: "DIR", repeatable: false }),
            help: "Folder of characters",
        },
        kind: Kind::Path(|settings| &mut settings.characters),
    },
    Key {
        about: About {
            section: Section::Top,
            name: "store",
            fallback: Fallback::Text("sqlite:callboard.db"),
            flag: Some(Flag { name: "store", value: "URL", repeatable: false }),
            help: "Where conversations are kept",
        },
        kind: Kind::Store(|settings| &mut settings.store),
    },
    Key {
        about: About {
            section: Section::Top,
            name: "store_connections",
            fallback: Fallback::Text("16"),
            flag: None,
            help: "Connections to PostgreSQL at most; work waits for one that is free",
        },
        kind: Kind::Count { least: 1, most: 1000, field: |settings| &mut settings.store_connections },
    },
    Key {
        about: About {
            section: Section::Top,
            name: "log",
            fallback: Fallback::Text("info"),
            flag: Some(Flag { name: "log", value: "LEVEL", repeatable: false }),
            help: "How much is logged: off, error, warn, info, debug or trace",
        },
        kind: Kind::Level(|settings| &mut settings.log),
    },
    Key {
        about: About {
            section: Section::Contract,
            name: "mode",
            fallback: Fallback::Text("enforce"),
            flag: None,
            help: "What is done about tool calls that break the contract: \
                   repair, re-ask or refuse (`enforce`), count (`observe`), nothing (`off`)",
        },
        kind: Kind::Mode(|settings| &mut settings.contract.mode),
    },
    Key {
        about: About {
            section: Section::Contract,
            name: "reasks",
            fallback: Fallback::Text("1"),
            flag: None,
            help: "How often a model is asked again for a call that cannot be repaired",
        },
        kind: Kind::Count { least: 0, most: 5, field: |settings| &mut settings.contract.reasks },
    },
    Key {
        about: About {
            section: Section::Contract,
            name: "stream_arguments",
            fallback: Fallback::Text("false"),
            flag: None,
            help: "Stream arguments as they come, not once they are valid; a bad call ends the stream",
        },
        kind: Kind::Truth(|settings| &mut settings.contract.stream_arguments),
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "body_bytes",
            fallback: Fallback::Text("8 MiB"),
            flag: None,
            help: "Size of a request body",
        },
        kind: Kind::Bytes(|settings| &mut settings.limits.body_bytes),
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "history_bytes",
            fallback: Fallback::Text("8 MiB"),
            flag: None,
            help: "Size of a stored history that a turn goes on from",
        },
        kind: Kind::Bytes(|settings| &mut settings.limits.history_bytes),
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "tools",
            fallback: Fallback::Text("128"),
            flag: None,
            help: "Tools in a request",
        },
        kind: Kind::Count { least: 1, most: 100_000, field: |settings| &mut settings.limits.tools },
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "schema_depth",
            fallback: Fallback::Text("32"),
            flag: None,
            help: "Levels of nesting in the schema of a tool",
        },
        kind: Kind::Count { least: 1, most: 64, field: |settings| &mut settings.limits.schema_depth },
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "schema_properties",
            fallback: Fallback::Text("1000"),
            flag: None,
            help: "Properties in the schema of a tool",
        },
        kind: Kind::Count { least: 1, most: 100_000, field: |settings| &mut settings.limits.schema_properties },
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "arguments_bytes",
            fallback: Fallback::Text("256 KiB"),
            flag: None,
            help: "Size of the arguments of one call",
        },
        kind: Kind::Bytes(|settings| &mut settings.limits.arguments_bytes),
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "reply_bytes",
            fallback: Fallback::Text("32 MiB"),
            flag: None,
            help: "Size of one reply of a model server",
        },
        kind: Kind::Bytes(|settings| &mut settings.limits.reply_bytes),
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "in_flight",
            fallback: Fallback::Text("1024"),
            flag: None,
            help: "Requests served at the same time",
        },
        kind: Kind::Count { least: 1, most: 100_000, field: |settings| &mut settings.limits.in_flight },
    },
    Key {
        about: About {
            section: Section::Limits,
            name: "retries",
            fallback: Fallback::Text("2"),
            flag: None,
            help: "How often a busy or missing model server is asked again",
        },
        kind: Kind::Count { least: 0, most: 10, field: |settings| &mut settings.limits.retries },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "connect_seconds",
            fallback: Fallback::Text("5"),
            flag: None,
            help: "Wait for a connection to a model server",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.timeouts.connect },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "first_byte_seconds",
            fallback: Fallback::Text("600"),
            flag: None,
            help: "Wait for the first byte of its reply",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.timeouts.first_byte },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "idle_seconds",
            fallback: Fallback::Text("60"),
            flag: None,
            help: "Wait for more of a reply that has begun",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.timeouts.idle },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "keep_alive_seconds",
            fallback: Fallback::Text("15"),
            flag: None,
            help: "Silence after which a comment keeps the client's connection open; a stream begins with it where the model has said nothing yet",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.timeouts.keep_alive },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "body_seconds",
            fallback: Fallback::Text("120"),
            flag: None,
            help: "Wait for the whole body of a request",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.timeouts.body },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "client_seconds",
            fallback: Fallback::Text("60"),
            flag: None,
            help: "Wait for a client that takes nothing of its reply, or cannot be reached; then its connection is ended",
        },
        kind: Kind::Seconds { least: 1.0, field: |settings| &mut settings.timeouts.client },
    },
    Key {
        about: About {
            section: Section::Timeouts,
            name: "drain_seconds",
            fallback: Fallback::Text("30"),
            flag: None,
            help: "Wait for requests in flight when told to stop; those that are not answered then are told so",
        },
        kind: Kind::Seconds { least: 0.0, field: |settings| &mut settings.timeouts.drain },
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "model",
            fallback: Fallback::Text(""),
            flag: Some(Flag { name: "model", value: "NAME", repeatable: false }),
            help: "Model that plays characters without a MODEL of their own; empty is the first one of the model server",
        },
        kind: Kind::Name(|settings| &mut settings.stage.model),
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "rounds",
            fallback: Fallback::Text("8"),
            flag: None,
            help: "How often a character's tools may run in one turn",
        },
        kind: Kind::Count { least: 1, most: 100, field: |settings| &mut settings.stage.rounds },
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "turn_seconds",
            fallback: Fallback::Text("60"),
            flag: None,
            help: "Time after which a character must answer without more tools",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.stage.turn },
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "arguments_bytes",
            fallback: Fallback::Text("2 KiB"),
            flag: None,
            help: "Size of the arguments of one call of a character's tool",
        },
        kind: Kind::Bytes(|settings| &mut settings.stage.arguments_bytes),
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "result_characters",
            fallback: Fallback::Text("1000"),
            flag: None,
            help: "How much of a tool's result the model is told",
        },
        kind: Kind::Count { least: 1, most: 100000, field: |settings| &mut settings.stage.result_characters },
    },
    Key {
        about: About {
            section: Section::Stage,
            name: "insist",
            fallback: Fallback::Text("false"),
            flag: None,
            help: "Ask a character that should act (`REPLY = \"tools_only\"`) once more for a call when it only talks",
        },
        kind: Kind::Truth(|settings| &mut settings.stage.insist),
    },
    Key {
        about: About {
            section: Section::Python,
            name: "interpreter",
            fallback: Fallback::Text("python3"),
            flag: None,
            help: "The Python program that runs characters, a path or a name to look up",
        },
        kind: Kind::Path(|settings| &mut settings.python.interpreter),
    },
    Key {
        about: About {
            section: Section::Python,
            name: "memory_bytes",
            fallback: Fallback::Text("512 MiB"),
            flag: None,
            help: "Memory of one worker process",
        },
        kind: Kind::Bytes(|settings| &mut settings.python.memory_bytes),
    },
    Key {
        about: About {
            section: Section::Python,
            name: "workers",
            fallback: Fallback::Text("4"),
            flag: None,
            help: "Worker processes of one character",
        },
        kind: Kind::Count { least: 1, most: 64, field: |settings| &mut settings.python.workers },
    },
    Key {
        about: About {
            section: Section::Python,
            name: "import_seconds",
            fallback: Fallback::Text("5"),
            flag: None,
            help: "Time that a character's file has to load",
        },
        kind: Kind::Seconds { least: 0.001, field: |settings| &mut settings.python.import },
    },
];

/// The keys that are said once.
pub(super) fn keys() -> impl Iterator<Item = &'static Key<Settings>> + Clone {
    SERVING_KEYS.iter().chain(LEDGER_KEYS)
}

/// All keys, in the order in which they are listed.
pub(crate) fn every_key() -> impl Iterator<Item = &'static About> {
    Section::ALL.into_iter().flat_map(|section| {
        let once = keys().map(|key| &key.about);
        let per_upstream = UPSTREAM_KEYS.iter().map(|key| &key.about);
        once.chain(per_upstream).filter(move |about| about.section == section)
    })
}
