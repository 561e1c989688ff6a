//! A golden page played without sockets: its streams go through the reader and the turn engine, cut as the test likes.

mod play;

pub(crate) use play::{Play, read};
