//! Replays fuzz targets without a fuzzer.

mod mutation;
mod replay;

pub(crate) use replay::replay;
