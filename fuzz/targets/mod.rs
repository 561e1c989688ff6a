//! The fuzz targets: each is one file with a function that takes any bytes and panics where a property does not hold.
//!
//! They are compiled twice: into the program that AFL++ runs, and into a test of the normal suite (`fuzz_targets` of the crate
//! `callboard`), which replays the seeds and some thousand mutations of them.

mod chat_request;
mod dialect;
mod fields;
mod golden_seeds;
mod journal;
mod json_repair;
mod reply;
mod responses_request;
mod settings;
mod sse;
mod tool_schema;
mod turn;
mod worker_protocol;

pub(crate) use golden_seeds::GoldenParts;

/// One target.
pub(crate) struct Target {
    /// Its name: that of its file.
    pub(crate) name: &'static str,
    /// Checks one input.
    pub(crate) run: fn(&[u8]),
    /// Inputs to begin with.
    pub(crate) seeds: fn(&GoldenParts) -> Vec<Vec<u8>>,
    /// Words of its format, for mutations to insert.
    pub(crate) tokens: &'static [&'static str],
}

macro_rules! targets {
    ($($name:ident),*) => {
        &[$(Target { name: stringify!($name), run: $name::run, seeds: $name::seeds, tokens: $name::TOKENS }),*]
    };
}

/// All targets.
pub(crate) const TARGETS: &[Target] = targets![
    chat_request,
    dialect,
    journal,
    json_repair,
    reply,
    responses_request,
    settings,
    sse,
    tool_schema,
    turn,
    worker_protocol
];
