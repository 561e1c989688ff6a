//! Two readers of the same texts: Callboard's own, and NVIDIA's `dynamo-parsers-v2`, which was written independently.
//!
//! A generated corpus goes through both. Where they differ, the case is in `disagreements.toml` with a judgement. A
//! difference that is not listed fails the test, and so does a listed one that is gone: the list may only shrink.

mod corpus;
mod family_forms;
mod ledger;
mod ours;
mod reading;
mod theirs;

use std::collections::BTreeMap;

use corpus::{Case, corpus};
use ledger::Ledger;
use reading::Reading;

#[test]
fn every_disagreement_is_judged() {
    let (cases, ledger) = (corpus(), Ledger::read());
    let both = |case: &Case| Some((case.name.clone(), (ours::read(case), theirs::read(case)?)));
    let readings: BTreeMap<String, (Reading, Reading)> = cases.iter().filter_map(both).collect();
    let all = readings.len();
    let found: BTreeMap<_, _> = readings.into_iter().filter(|(_, (ours, theirs))| ours != theirs).collect();
    println!("{all} texts, {} read alike, {} differently; {}", all - found.len(), found.len(), ledger.summary());
    let complaints = ledger.compare(&cases, &found);
    assert!(complaints.is_empty(), "{} complaints\n\n{}", complaints.len(), complaints.join("\n"));
}

/// Also where both leak and so agree.
#[test]
fn no_markup_leaks() {
    let cases = corpus();
    let mut leaks = BTreeMap::new();
    for case in &cases {
        let reading = ours::read(case);
        if !reading.says(&case.words) {
            leaks.insert(case.name.clone(), reading);
        }
    }
    let complaints = Ledger::read().compare_leaks(&cases, &leaks);
    assert!(complaints.is_empty(), "{} complaints\n\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_cuts_change_nothing_for_us() {
    for case in corpus() {
        assert_eq!(ours::read_in_characters(&case), ours::read(&case), "{}", case.name);
    }
}
