//! Which calls a list or a summary is about: the parameters of its URL.

use callboard_core::model::BadRequest;
use std::str::FromStr;

use super::query::known_pairs;
use crate::store::TraceFilter;
use crate::trace::{ListedCall, ListedTurn};

/// The parameters that select calls.
const FILTERS: [&str; 11] = [
    "tool",
    "verdict",
    "model",
    "character",
    "client",
    "conversation",
    "endpoint",
    "request_id",
    "since",
    "until",
    "turns",
];
const VERDICTS: [&str; 5] = ["valid", "repaired", "reasked", "refused", "observed"];

/// What selects calls; what is not given matches any.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CallQuery {
    pub(super) traces: TraceFilter,
    pub(super) since: Option<i64>,
    pub(super) until: Option<i64>,
    pub(super) after: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) buckets: Option<usize>,
    tool: Option<String>,
    verdicts: Vec<String>,
    client: Option<String>,
    endpoint: Option<String>,
    /// Also turns without calls.
    all_turns: bool,
}

impl CallQuery {
    /// Reads a query string that may also have these parameters.
    pub(super) fn read(query: &str, others: &[&str]) -> Result<Self, BadRequest> {
        let mut read = Self::default();
        for (name, value) in known_pairs(query, &[others, &FILTERS].concat())? {
            read.set(&name, value)?;
        }
        Ok(read)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), BadRequest> {
        match name {
            "tool" => self.tool = Some(value),
            "verdict" => self.verdicts = verdicts(&value)?,
            "model" => self.traces.model = Some(value),
            "character" => self.traces.character = Some(value),
            "client" => self.client = Some(value.to_lowercase()),
            "conversation" => self.traces.conversation = Some(value),
            "endpoint" => self.endpoint = Some(value),
            "request_id" => self.traces.request_id = Some(value),
            "since" => self.since = Some(number(name, &value, 0..=i64::MAX)?),
            "until" => self.until = Some(number(name, &value, 0..=i64::MAX)?),
            "turns" if value == "all" => self.all_turns = true,
            "turns" if value == "with_calls" => self.all_turns = false,
            "turns" => {
                let message = format!("turns is {value:?}; it must be \"all\" or \"with_calls\"");
                return Err(BadRequest::invalid(name, message));
            }
            "limit" => self.limit = Some(number(name, &value, 1..=1000)?),
            "buckets" => self.buckets = Some(number(name, &value, 1..=500)?),
            _ => self.after = Some(value),
        }
        Ok(())
    }

    /// Whether the turn did not begin before the range.
    pub(super) fn is_in_range(&self, turn: &ListedTurn) -> bool {
        self.since.is_none_or(|since| turn.started_at_ms() >= since)
    }

    /// The calls of a turn that are selected. A turn without calls is one entry, where such turns are wanted.
    pub(super) fn calls_of(&self, turn: &ListedTurn) -> Vec<ListedCall> {
        let mut calls = turn.calls();
        if calls.is_empty() && self.all_turns {
            calls.push(turn.without_call());
        }
        calls.retain(|call| self.selects(call));
        calls
    }

    fn selects(&self, call: &ListedCall) -> bool {
        let matches =
            |wanted: &Option<String>, value: Option<&str>| wanted.as_deref().is_none_or(|wanted| value == Some(wanted));
        let is_client = |wanted: &String| {
            call.client.as_ref().is_some_and(|client| client.to_lowercase().contains(wanted.as_str()))
        };
        matches(&self.tool, call.tool.as_deref())
            && matches(&self.endpoint, Some(&call.endpoint))
            && matches(&self.traces.model, Some(&call.model))
            && matches(&self.traces.character, call.character.as_deref())
            && self.client.as_ref().is_none_or(is_client)
            && (self.verdicts.is_empty()
                || call.verdict.as_ref().is_some_and(|verdict| self.verdicts.contains(verdict)))
    }
}

fn verdicts(list: &str) -> Result<Vec<String>, BadRequest> {
    let verdicts: Vec<String> = list.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    match verdicts.iter().find(|word| !VERDICTS.contains(&word.as_str())) {
        None => Ok(verdicts),
        Some(word) => {
            let message = format!("verdict is {word:?}; there are: {}", VERDICTS.join(", "));
            Err(BadRequest::invalid("verdict", message))
        }
    }
}

fn number<T>(name: &str, text: &str, within: std::ops::RangeInclusive<T>) -> Result<T, BadRequest>
where
    T: FromStr + PartialOrd + std::fmt::Display,
{
    text.parse().ok().filter(|number| within.contains(number)).ok_or_else(|| {
        let (least, most) = (within.start(), within.end());
        BadRequest::invalid(name, format!("{name} is {text:?}; it must be a whole number from {least} to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_refused_with_what_is_possible() {
        for (query, param, words) in [
            ("verdict=fixed", "verdict", "there are: valid, repaired"),
            ("since=yesterday", "since", "whole number"),
            ("limit=0", "limit", "from 1 to 1000"),
            ("turns=some", "turns", "\"all\" or \"with_calls\""),
            ("tol=x", "tol", "there are: limit, tool"),
        ] {
            let refusal = CallQuery::read(query, &["limit"]).unwrap_err();
            assert_eq!(refusal.param.as_deref(), Some(param));
            assert!(refusal.message.contains(words), "{}", refusal.message);
        }
    }
}
