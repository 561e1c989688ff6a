//! The list of disagreements, each with a judgement.
//!
//! Cuts are listed as ranges: `kimi: cut at 5-12` is eight texts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::corpus::Case;
use crate::reading::Reading;

const LIST: &str = include_str!("../disagreements.toml");

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    disagreement: Vec<Entry>,
    #[serde(default)]
    leak: Vec<Leak>,
}

/// Cases in which Callboard shows markup to the user, or swallows words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leak {
    cases: Vec<String>,
    why: String,
}

/// Cases that differ for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    cases: Vec<String>,
    ours: String,
    theirs: String,
    right: Right,
    why: String,
}

/// Who is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Right {
    Ours,
    Theirs,
    /// Both can be defended.
    Either,
}

impl Ledger {
    pub(crate) fn read() -> Self {
        toml::from_str(LIST).expect("a readable list of disagreements")
    }

    /// How the judgements are spread.
    pub(crate) fn summary(&self) -> String {
        let mut count: BTreeMap<Right, usize> = BTreeMap::new();
        for entry in &self.disagreement {
            *count.entry(entry.right).or_default() += entry.cases.iter().flat_map(|case| spread(case)).count();
        }
        let parts: Vec<String> = count.iter().map(|(right, number)| format!("{right:?} {number}")).collect();
        format!("judged right: {}", parts.join(", ").to_lowercase())
    }

    /// What is not as it should be among the disagreements.
    pub(crate) fn compare(&self, cases: &[Case], found: &BTreeMap<String, (Reading, Reading)>) -> Vec<String> {
        let unjudged = self
            .disagreement
            .iter()
            .filter(|entry| [&entry.ours, &entry.theirs, &entry.why].iter().any(|words| words.is_empty()));
        let mut complaints: Vec<String> = unjudged.map(|entry| format!("not judged: {:?}", entry.cases)).collect();
        let listed = self.disagreement.iter().flat_map(|entry| &entry.cases);
        complaints.extend(differences(listed, cases, |case| {
            let (ours, theirs) = found.get(&case.name)?;
            Some(format!("  ours    {ours}\n  theirs  {theirs}"))
        }));
        complaints
    }

    /// What is not as it should be among the leaks.
    pub(crate) fn compare_leaks(&self, cases: &[Case], leaks: &BTreeMap<String, Reading>) -> Vec<String> {
        let unexplained = self.leak.iter().filter(|leak| leak.why.is_empty());
        let mut complaints: Vec<String> = unexplained.map(|leak| format!("not explained: {:?}", leak.cases)).collect();
        let listed = self.leak.iter().flat_map(|leak| &leak.cases);
        complaints.extend(differences(listed, cases, |case| {
            Some(format!("  words   {:?}\n  ours    {}", case.words, leaks.get(&case.name)?))
        }));
        complaints
    }
}

/// Cases that are found and not listed, or listed and not found.
fn differences<'a>(
    listed: impl Iterator<Item = &'a String>,
    cases: &[Case],
    found: impl Fn(&Case) -> Option<String>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut known = BTreeSet::new();
    for name in listed.flat_map(|case| spread(case)) {
        if !cases.iter().any(|case| case.name == name && found(case).is_some()) {
            complaints.push(format!("listed, but gone (or no such case): {name}"));
        }
        if !known.insert(name.clone()) {
            complaints.push(format!("listed twice: {name}"));
        }
    }
    let new = cases.iter().filter(|case| !known.contains(&case.name));
    complaints.extend(
        new.filter_map(|case| Some(format!("new: {}\n  text    {:?}\n{}", case.name, case.text, found(case)?))),
    );
    complaints
}

/// The single cases of a range.
fn spread(case: &str) -> Vec<String> {
    let range = case.split_once(": cut at ").and_then(|(family, range)| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some((family, first.parse::<usize>().ok()?, last.parse::<usize>().ok()?))
    });
    match range {
        Some((family, first, last)) => (first..=last).map(|at| format!("{family}: cut at {at}")).collect(),
        None => vec![case.to_owned()],
    }
}
