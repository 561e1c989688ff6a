//! An attempt in progress: which words of the span fill which parameters of the tool.
//!
//! A *taken* word is part of a value and cannot fill another; a *used* word counts as explained when the attempt
//! is scored.

use std::ops::Range;

use serde_json::{Map, Value};

use super::super::catalogue::{Field, Tool};
use super::super::context::Context;
use super::super::moments::{Moment, moments_in};
use super::super::mood::Mood;
use super::super::noun_phrases::Chunk;
use super::super::numbers::{NumberSpan, numbers_in};
use super::super::words::Word;

/// A span of the utterance, analysed once for all tools.
pub(in super::super) struct Reading<'a> {
    pub(in super::super) words: &'a [Word],
    pub(in super::super) numbers: Vec<NumberSpan>,
    pub(in super::super) moments: Vec<Moment>,
    pub(in super::super) mood: Mood,
    pub(in super::super) context: &'a Context,
}

impl<'a> Reading<'a> {
    pub(in super::super) fn new(words: &'a [Word], mood: Mood, context: &'a Context) -> Self {
        Self { words, numbers: numbers_in(words), moments: moments_in(words), mood, context }
    }
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Origin {
    /// From words that clearly belong to this parameter.
    Explicit,
    /// From words that may belong to another parameter.
    Guessed,
    /// From the speaker's side or the context.
    Implied,
    /// The schema's default.
    Default,
    /// From the previous call of the same utterance.
    Inherited,
}

/// An attempt in progress.
pub(in super::super) struct Draft<'a> {
    pub(in super::super) tool: &'a Tool,
    pub(in super::super) reading: &'a Reading<'a>,
    pub(in super::super) values: Vec<Option<(Value, Origin)>>,
    pub(in super::super) taken: Vec<bool>,
    pub(in super::super) used: Vec<bool>,
    /// For each parameter, the phrase its text came from.
    pub(in super::super) phrases: Vec<Option<Chunk>>,
    /// A scalar parameter with several values in a row: one call each.
    pub(in super::super) series: Option<(usize, Vec<Value>)>,
    /// The previous call of the same utterance, which this one repeats.
    pub(in super::super) before: Option<&'a Map<String, Value>>,
    /// A boolean or an enum value consumed the negation, so the call itself is not negated.
    pub(in super::super) negation_consumed: bool,
}

impl<'a> Draft<'a> {
    pub(in super::super) fn new(
        tool: &'a Tool,
        reading: &'a Reading<'a>,
        before: Option<&'a Map<String, Value>>,
    ) -> Self {
        let (fields, words) = (tool.fields.len(), reading.words.len());
        Self {
            tool,
            reading,
            values: vec![None; fields],
            taken: vec![false; words],
            used: vec![false; words],
            phrases: vec![None; fields],
            series: None,
            before,
            negation_consumed: false,
        }
    }

    pub(in super::super) fn fields(&self) -> impl Iterator<Item = (usize, &'a Field)> + use<'a> {
        self.tool.fields.iter().enumerate()
    }

    pub(in super::super) fn is_open(&self, field: usize) -> bool {
        self.values.get(field).is_some_and(Option::is_none)
    }

    pub(in super::super) fn put(&mut self, field: usize, value: Value, origin: Origin) {
        if let Some(slot) = self.values.get_mut(field) {
            *slot = Some((value, origin));
        }
    }

    pub(in super::super) fn value(&self, field: usize) -> Option<&Value> {
        self.values.get(field)?.as_ref().map(|(value, _)| value)
    }

    pub(in super::super) fn take(&mut self, words: Range<usize>) {
        for at in words {
            mark(&mut self.taken, at);
            mark(&mut self.used, at);
        }
    }

    pub(in super::super) fn use_word(&mut self, at: usize) {
        mark(&mut self.used, at);
    }

    pub(in super::super) fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or(true)
    }

    pub(in super::super) fn any_taken(&self, words: Range<usize>) -> bool {
        words.into_iter().any(|at| self.is_taken(at))
    }

    /// The arguments of each call: one, or one per value of a series.
    pub(in super::super) fn calls(&self) -> Vec<Map<String, Value>> {
        let one = |replaced: Option<(usize, &Value)>| {
            let mut arguments = Map::new();
            for (index, field) in self.fields() {
                let value = match replaced {
                    Some((field, value)) if field == index => Some(value),
                    _ => self.value(index),
                };
                if let Some(value) = value {
                    insert(&mut arguments, &field.path, value);
                }
            }
            arguments
        };
        match &self.series {
            Some((field, values)) => values.iter().map(|value| one(Some((*field, value)))).collect(),
            None => vec![one(None)],
        }
    }
}

fn mark(marks: &mut [bool], at: usize) {
    if let Some(mark) = marks.get_mut(at) {
        *mark = true;
    }
}

fn insert(arguments: &mut Map<String, Value>, path: &[String], value: &Value) {
    match path {
        [] => {}
        [name] => {
            arguments.insert(name.clone(), value.clone());
        }
        [name, rest @ ..] => {
            let inner = arguments.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
