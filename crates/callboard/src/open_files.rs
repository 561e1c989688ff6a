//! How many files, and so connections, may be open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Each connection is a file. The soft limit of many systems is meant for programs that use `select`.
pub(crate) fn raise_limit() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::debug!(%error, "the limit of open files cannot be raised");
    }
}

/// How many connections of clients a thread keeps open while they are idle: half of the files, as a request needs one more for the model
/// server.
pub(crate) fn most_connections(threads: usize) -> usize {
    let files = getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
    (files / 2 / threads).max(1)
}
