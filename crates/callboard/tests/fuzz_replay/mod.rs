//! Replays fuzz targets without a fuzzer.

mod lock_file;
mod mutation;
mod replay;

pub(crate) use replay::replay;
