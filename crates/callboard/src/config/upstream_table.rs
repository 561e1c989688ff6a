//! The table of the settings of each model server: each key is defined here and nowhere else.

use super::key::{About, Fallback, Flag, Key, Section};
use super::kind::Kind;
use super::settings::UpstreamSettings;

/// The keys of each `[[upstream]]`.
///
/// A variable or flag of these applies to the upstreams given by variable or flag.
pub(super) static UPSTREAM_KEYS: &[Key<UpstreamSettings>] = &[
    Key {
        about: About {
            section: Section::Upstream,
            name: "url",
            fallback: Fallback::Nothing,
            flag: Some(Flag { name: "upstream", value: "URL", repeatable: true }),
            help: "Base URL of a model server; /v1 is added to one without a path",
        },
        kind: Kind::Url(|upstream| &mut upstream.url),
    },
    Key {
        about: About {
            section: Section::Upstream,
            name: "key_env",
            fallback: Fallback::Nothing,
            flag: Some(Flag { name: "upstream-key-env", value: "NAME", repeatable: false }),
            help: "Variable that holds the model server's key",
        },
        kind: Kind::Variable(|upstream| &mut upstream.key_env),
    },
    Key {
        about: About {
            section: Section::Upstream,
            name: "contract",
            fallback: Fallback::SameAs("contract.mode"),
            flag: None,
            help: "What is done about tool calls of this model server that break the contract",
        },
        kind: Kind::Mode(|upstream| &mut upstream.contract),
    },
    Key {
        about: About {
            section: Section::Upstream,
            name: "models",
            fallback: Fallback::Nothing,
            flag: None,
            help: "Models that it serves, `*` standing for any text; without this its own list decides",
        },
        kind: Kind::Names(|upstream| &mut upstream.models),
    },
    Key {
        about: About {
            section: Section::Upstream,
            name: "aliases",
            fallback: Fallback::Nothing,
            flag: None,
            help: "Other names for its models, each `name=model`",
        },
        kind: Kind::Names(|upstream| &mut upstream.aliases),
    },
];
