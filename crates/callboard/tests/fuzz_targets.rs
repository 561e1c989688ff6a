//! The fuzz targets on their seeds and on random mutations of them: the part of fuzzing that every test run can afford.
//!
//! The mutations are the same in every run. `cargo run -p xtask -- fuzz` searches for hours with the same targets, guided by
//! coverage; what it finds is kept in `fuzz/found` and replayed here.

#[cfg(test)]
mod fuzz_replay;
#[cfg(test)]
#[path = "../../../fuzz/targets/mod.rs"]
mod targets;

use fuzz_replay::replay;
use targets::TARGETS;

/// One test per target, so that they run side by side.
macro_rules! replay {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { replay(stringify!($name)); })*

        #[test]
        fn every_target_is_replayed() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

replay!(
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
    worker_protocol,
);
