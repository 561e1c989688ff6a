//! Callboard's pure logic: what a tool call must be, how a turn with a model runs, and how both look on the wire.
//!
//! Nothing here awaits, opens a file, reads the environment, asks the clock or draws random numbers: callers bring all of
//! that. The order of dependence is `wire -> {model, contract, turn}`, `turn -> {model, contract, dialect}`; `turn` never
//! sees `wire`, and `model` sees nothing else.

pub mod contract;
pub mod dialect;
pub mod journal;
pub mod model;
pub mod names;
pub mod rehearsal;
pub mod turn;
pub mod wire;
