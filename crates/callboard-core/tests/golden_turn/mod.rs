//! A golden page played without sockets: its streams go through the reader and the turn engine, cut as the test likes.

mod turn;

pub(crate) use turn::{GoldenTurn, read};
