//! Traces and figures on their way to the store: gathered while turns run, written together a moment later.
//!
//! Figures of the same day, character and model are added up here, so that a busy second costs the store as much as a quiet
//! one. There is room for so many traces and no more; what finds none is dropped and counted, never waited for.

use std::sync::{Mutex, PoisonError};

use super::{Figures, TurnTrace};
use crate::store::Count;

/// So many traces at most wait to be stored.
const MOST_TRACES: usize = 8192;
/// So much of what was said may wait in them.
const MOST_CONTENT: usize = 32 << 20;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What waits for the store.
#[derive(Debug, Default)]
pub(super) struct Notebook(Mutex<Page>);

/// What was noted since the last time.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) traces: Vec<TurnTrace>,
    pub(super) dropped: u64,
    sums: Vec<Sum>,
    content: usize,
}

/// The figures of one day, character and model.
#[derive(Debug)]
struct Sum {
    day: i64,
    character: String,
    model: String,
    figures: Figures,
}

impl Notebook {
    /// Notes the end of a turn.
    pub(super) fn note(&self, trace: TurnTrace) {
        self.locked().note(trace);
    }

    /// Puts counts back that could not be stored.
    pub(super) fn put_back(&self, counts: &[Count]) {
        let mut page = self.locked();
        for count in counts {
            let amount = u64::try_from(count.amount).unwrap_or_default();
            page.sum(count.day, &count.played_by, &count.model).add_named(&count.name, amount);
        }
    }

    /// Takes all that waits.
    pub(super) fn take(&self) -> Page {
        std::mem::take(&mut *self.locked())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Page> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn note(&mut self, trace: TurnTrace) {
        let day = day_of(&trace);
        self.sum(day, trace.character.as_deref().unwrap_or_default(), &trace.counted_as).add_turn(&trace);
        if !trace.sampled {
            return;
        }
        let content = trace.content_bytes();
        if self.traces.len() >= MOST_TRACES || self.content.saturating_add(content) > MOST_CONTENT {
            self.dropped += 1;
            return;
        }
        self.content += content;
        self.traces.push(trace);
    }

    /// There are few of them at a time, so looking through all is the quickest way.
    fn sum(&mut self, day: i64, character: &str, model: &str) -> &mut Figures {
        let same = |sum: &Sum| sum.day == day && sum.character == character && sum.model == model;
        let place = self.sums.iter().position(same).unwrap_or(self.sums.len());
        if place == self.sums.len() {
            let (character, model) = (character.to_owned(), model.to_owned());
            self.sums.push(Sum { day, character, model, figures: Figures::default() });
        }
        &mut self.sums[place].figures
    }

    /// The figures in the form that the store takes.
    pub(super) fn counts(&self) -> Vec<Count> {
        self.sums.iter().flat_map(|sum| counts(sum.day, &sum.character, &sum.model, &sum.figures)).collect()
    }
}

impl TurnTrace {
    /// What the turn adds to the counts, in the form that the store takes.
    pub fn counts(&self) -> Vec<Count> {
        let mut figures = Figures::default();
        figures.add_turn(self);
        counts(day_of(self), self.character.as_deref().unwrap_or_default(), &self.counted_as, &figures)
    }
}

fn day_of(trace: &TurnTrace) -> i64 {
    trace.started_at_ms.div_euclid(MILLIS_PER_DAY)
}

fn counts(day: i64, character: &str, model: &str, figures: &Figures) -> Vec<Count> {
    let count = |(name, amount)| Count {
        day,
        played_by: character.to_owned(),
        model: model.to_owned(),
        name,
        amount: i64::try_from(amount).unwrap_or(i64::MAX),
    };
    figures.named().into_iter().map(count).collect()
}
