//! The table of settings about what is kept of turns: how long, in which detail, and who else is told. Each key is defined here
//! and nowhere else.

use super::key::{About, Fallback, Key, Section};
use super::kind::Kind;
use super::settings::Settings;

/// Keys that are said once: those about the ledger.
pub(super) static LEDGER_KEYS: &[Key<Settings>] = &[
    Key {
        about: About {
            section: Section::Keep,
            name: "conversation_days",
            fallback: Fallback::Text("0"),
            flag: None,
            help: "Days after its last turn that a conversation is kept, with its state; 0 is for ever",
        },
        kind: Kind::Count { least: 0, most: 36_500, field: |settings| &mut settings.keep.conversation_days },
    },
    Key {
        about: About {
            section: Section::Keep,
            name: "response_days",
            fallback: Fallback::Text("30"),
            flag: None,
            help: "Days that a response is kept, or longer if another follows it; 0 is for ever",
        },
        kind: Kind::Count { least: 0, most: 36_500, field: |settings| &mut settings.keep.response_days },
    },
    Key {
        about: About {
            section: Section::Keep,
            name: "history_days",
            fallback: Fallback::Text("30"),
            flag: None,
            help: "Days that a history of Chat Completions with a character is kept; 0 is for ever",
        },
        kind: Kind::Count { least: 0, most: 36_500, field: |settings| &mut settings.keep.history_days },
    },
    Key {
        about: About {
            section: Section::Keep,
            name: "trace_days",
            fallback: Fallback::Text("7"),
            flag: None,
            help: "Days that a trace is kept; 0 is for ever",
        },
        kind: Kind::Count { least: 0, most: 36_500, field: |settings| &mut settings.keep.trace_days },
    },
    Key {
        about: About {
            section: Section::Trace,
            name: "record_percent",
            fallback: Fallback::Text("100"),
            flag: None,
            help: "How many of a hundred turns are kept as traces; all of them are counted",
        },
        kind: Kind::Count { least: 0, most: 100, field: |settings| &mut settings.trace.record_percent },
    },
    Key {
        about: About {
            section: Section::Trace,
            name: "content",
            fallback: Fallback::Text("false"),
            flag: None,
            help: "Record in traces what users, models and tools say, not only how much",
        },
        kind: Kind::Truth(|settings| &mut settings.trace.content),
    },
    Key {
        about: About {
            section: Section::Otlp,
            name: "endpoint",
            fallback: Fallback::Nothing,
            flag: None,
            help: "Base URL of an OpenTelemetry collector that gets all traces; \
                   OTEL_EXPORTER_OTLP_ENDPOINT stands in for it",
        },
        kind: Kind::Collector(|settings| &mut settings.otlp.endpoint),
    },
    Key {
        about: About {
            section: Section::Otlp,
            name: "headers",
            fallback: Fallback::Text(""),
            flag: None,
            help: "Headers that the collector wants, such as a key; OTEL_EXPORTER_OTLP_HEADERS stands in for them",
        },
        kind: Kind::Headers(|settings| &mut settings.otlp.headers),
    },
];
