//! Runs all checks of the contract on one kind of database, each on a new one, and reports all that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{
    conversations, deletion, exactness, histories, journal, lists, opening, records, retention, server_findings, sizes,
    turns,
};
use crate::databases::{Database, Kind};

pub(super) type Promise = (&'static str, fn(&Database));

pub(crate) fn run(kind: &Kind) {
    let all = [
        conversations::PROMISES,
        deletion::PROMISES,
        exactness::PROMISES,
        histories::PROMISES,
        journal::PROMISES,
        lists::PROMISES,
        opening::PROMISES,
        records::PROMISES,
        retention::PROMISES,
        server_findings::PROMISES,
        sizes::PROMISES,
        turns::PROMISES,
    ];
    let mut broken = Vec::new();
    for (name, promise) in all.into_iter().flatten() {
        let database = Database::new(kind);
        if catch_unwind(AssertUnwindSafe(|| promise(&database))).is_err() {
            broken.push(*name);
        }
    }
    assert!(broken.is_empty(), "broken: {broken:#?}");
}
