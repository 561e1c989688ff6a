//! Runs a golden page without sockets: its streams pass through the reader and the turn engine, split as the test chooses.

mod turn;

pub(crate) use turn::{GoldenTurn, read};
