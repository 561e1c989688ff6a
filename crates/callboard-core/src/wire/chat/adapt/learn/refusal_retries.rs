//! The tries that follow a refusal, and what they teach.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use super::complaint::{Refusal, any, complaints};
use super::sent::Sent;
use super::signs::suspects;
use crate::wire::chat::adapt::Quirk;

/// How often one request is tried in another form.
const MOST_TRIES: usize = 6;

/// Words of servers that refuse a field and do not say which.
const UNNAMED: &str = "unsupported parameter|unsupported field|unknown parameter|unknown field|unrecognized|unexpected field|\
    unexpected parameter|extra fields|extra inputs|additional properties";

/// What a refused request is tried without, one try after another.
#[derive(Debug, Default)]
pub struct Lessons {
    tries: usize,
    /// The refusal that the tries are for.
    refusal: String,
    trying: BTreeSet<Quirk>,
    queue: VecDeque<BTreeSet<Quirk>>,
    helped: BTreeSet<Quirk>,
}

impl Lessons {
    /// Chooses what to try after the refusal of `sent`; false when nothing is left to try.
    pub fn refused(&mut self, refusal: &Refusal<'_>, sent: &Value) -> bool {
        // Positions in the body change with every try.
        let text = refusal.message.replace(|character: char| character.is_ascii_digit(), "");
        if text != self.refusal {
            self.helped.append(&mut self.trying);
            self.queue = tries(refusal, sent).into();
            self.refusal = text;
        }
        self.trying = self.queue.pop_front().unwrap_or_default();
        self.tries += 1;
        !self.trying.is_empty() && self.tries <= MOST_TRIES
    }

    /// What is being tried for the first time.
    pub fn trying(&self) -> impl Iterator<Item = &Quirk> {
        self.trying.iter()
    }

    /// All that the next request is adapted to; what a server needs, once it has taken that request.
    pub fn quirks(&self) -> impl Iterator<Item = &Quirk> {
        self.helped.iter().chain(&self.trying)
    }
}

/// What to try after a refusal, in order: all fields that are named together, then each suspect alone, then all of them.
pub(super) fn tries(refusal: &Refusal<'_>, sent: &Value) -> Vec<BTreeSet<Quirk>> {
    if !matches!(refusal.status, 400 | 404 | 422 | 500 | 501) {
        return Vec::new();
    }
    let complaints = complaints(refusal, sent);
    let of_each: Vec<Vec<Quirk>> =
        complaints.iter().map(|complaint| suspects(complaint, refusal, &Sent::new(sent, complaint))).collect();
    let named: BTreeSet<Quirk> =
        of_each.iter().filter_map(|quirks| quirks.first()).filter(|quirk| is_independent(quirk)).cloned().collect();
    let mut all: Vec<Quirk> = of_each.concat();
    if all.is_empty() && names_nothing(refusal) {
        all = optional(&Sent::new(sent, &complaints.into_iter().next().unwrap_or_default()));
    }
    let mut tries = Vec::new();
    let alone = all.iter().map(|quirk| BTreeSet::from([quirk.clone()]));
    for set in [named].into_iter().chain(alone).chain([all.iter().cloned().collect()]) {
        if !set.is_empty() && !tries.contains(&set) {
            tries.push(set);
        }
    }
    tries
}

/// Whether it can be tried beside others: they do not change what the conversation looks like to the model.
fn is_independent(quirk: &Quirk) -> bool {
    !matches!(quirk, Quirk::Tools | Quirk::Alternation | Quirk::SystemRole | Quirk::DeveloperRole)
}

/// Whether a field is refused, without a word about which.
fn names_nothing(refusal: &Refusal<'_>) -> bool {
    let words = refusal.message.to_lowercase();
    let is_refused = matches!(refusal.status, 400 | 422) && any(&words, UNNAMED);
    is_refused && refusal.param.is_none() && !words.contains(['\'', '"', '`', '_', ':'])
}

/// The fields that servers most often do not know, as far as they were sent.
fn optional(sent: &Sent<'_>) -> Vec<Quirk> {
    let quirks = [Quirk::StreamOptions, Quirk::ParallelToolCalls, Quirk::Strict];
    quirks.into_iter().filter(|quirk| sent.holds(quirk)).collect()
}
