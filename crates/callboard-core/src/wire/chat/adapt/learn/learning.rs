//! From a refusal to quirks.

use std::collections::BTreeSet;

use serde_json::Value;

use super::complaint::{Complaint, complaints};
use super::rules::{CERTAIN, RULES, Rule};
use super::sent::Sent;
use super::{listing, mistakes};
use crate::wire::chat::adapt::Quirk;

/// An error reply of a model server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refusal<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Its words. Where they are not plain text, as in lists of validation errors, the JSON of them.
    pub message: &'a str,
    /// The place it names.
    pub param: Option<&'a str>,
    /// Its code.
    pub code: Option<&'a str>,
}

/// True for a list of validation errors: the request is refused, even where the status calls it the server's own failure.
#[must_use]
pub fn is_validation_error(message: &str) -> bool {
    listing::read(message, &Value::Null).is_some_and(|entries| !entries.is_empty())
}

/// What the refusal of `sent` teaches, if anything: the first thing of [`learn_all`].
#[must_use]
pub fn learn(refusal: &Refusal<'_>, sent: &Value) -> Option<Quirk> {
    quirks(refusal, sent).into_iter().next()
}

/// All that the refusal of `sent` teaches: a server that checks fields names every one it does not know.
#[must_use]
pub fn learn_all(refusal: &Refusal<'_>, sent: &Value) -> BTreeSet<Quirk> {
    quirks(refusal, sent).into_iter().collect()
}

fn quirks(refusal: &Refusal<'_>, sent: &Value) -> Vec<Quirk> {
    let rules: &[Rule] = match refusal.status {
        400 | 422 => &RULES,
        // Some servers call it their own failure, or a resource that is not there, when a template refuses.
        404 | 500 | 501 => &CERTAIN,
        _ => return Vec::new(),
    };
    if refusal.code.is_some_and(mistakes::is_code) {
        return Vec::new();
    }
    let complaints = complaints(refusal, sent);
    let sent = Sent::new(sent);
    // A list of validation errors is about the request, whatever status it came with.
    let rules_for = |complaint: &Complaint| if complaint.listed { &RULES } else { rules };
    complaints.iter().filter_map(|complaint| judge(complaint, &sent, rules_for(complaint))).collect()
}

fn judge(complaint: &Complaint, sent: &Sent<'_>, rules: &[Rule]) -> Option<Quirk> {
    if mistakes::is_mistake(&complaint.words) {
        return None;
    }
    rules.iter().find_map(|rule| rule(complaint, sent))
}
