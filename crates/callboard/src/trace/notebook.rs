//! Traces and figures on their way to the store: gathered while turns run, written together a moment later.
//!
//! Figures of the same day, character and model are added up here, so that a busy second costs the store as much as a quiet
//! one. There is room for so many traces and no more; what finds none is dropped and counted, never waited for.

use std::sync::{Mutex, PoisonError};

use super::{Figures, TurnTrace};
use crate::store::Count;

/// So many traces at most wait to be stored.
const MOST_TRACES: usize = 8192;
/// So many are worth a transaction at once.
const MANY_TRACES: usize = 256;
/// So much of what was said may wait in them.
const MOST_CONTENT: usize = 32 << 20;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// What waits for the store, and what waits to be shown on `/metrics`.
#[derive(Debug, Default)]
pub(super) struct Notebook(Mutex<Pages>);

#[derive(Debug, Default)]
struct Pages {
    open: Page,
    uncounted: Sums,
}

/// What was noted since the last time.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) traces: Vec<TurnTrace>,
    pub(super) dropped: u64,
    sums: Sums,
    content: usize,
}

/// Figures by day, character and model.
#[derive(Debug, Default)]
pub(super) struct Sums(Vec<Sum>);

/// The figures of one day, character and model.
#[derive(Debug)]
pub(super) struct Sum {
    day: i64,
    pub(super) character: String,
    pub(super) model: String,
    pub(super) figures: Figures,
}

impl Notebook {
    /// Counts a turn for `/metrics`.
    pub(super) fn count(&self, trace: &TurnTrace) {
        self.locked().uncounted.of_turn(trace).add_turn(trace);
    }

    /// Notes the end of a turn for the store; true when it is time to write.
    pub(super) fn note(&self, trace: TurnTrace) -> bool {
        let page = &mut self.locked().open;
        page.note(trace);
        page.traces.len() == MANY_TRACES
    }

    /// Puts counts back that could not be stored.
    pub(super) fn put_back(&self, counts: &[Count]) {
        let sums = &mut self.locked().open.sums;
        for count in counts {
            let amount = u64::try_from(count.amount).unwrap_or_default();
            sums.of(count.day, &count.character, &count.model).add_named(&count.name, amount);
        }
    }

    /// Takes all that waits for the store.
    pub(super) fn take(&self) -> Page {
        std::mem::take(&mut self.locked().open)
    }

    /// Takes all that `/metrics` has not been told.
    pub(super) fn take_uncounted(&self) -> Vec<Sum> {
        std::mem::take(&mut self.locked().uncounted.0)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn note(&mut self, trace: TurnTrace) {
        self.sums.of_turn(&trace).add_turn(&trace);
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

    /// The figures in the form that the store takes.
    pub(super) fn counts(&self) -> Vec<Count> {
        self.sums.0.iter().flat_map(|sum| counts(sum.day, &sum.character, &sum.model, &sum.figures)).collect()
    }
}

impl Sums {
    fn of_turn(&mut self, trace: &TurnTrace) -> &mut Figures {
        self.of(day_of(trace), trace.character.as_deref().unwrap_or_default(), &trace.counted_as)
    }

    /// There are few of them at a time, so looking through all is the quickest way.
    fn of(&mut self, day: i64, character: &str, model: &str) -> &mut Figures {
        let same = |sum: &Sum| sum.day == day && sum.character == character && sum.model == model;
        let place = self.0.iter().position(same).unwrap_or(self.0.len());
        if place == self.0.len() {
            let (character, model) = (character.to_owned(), model.to_owned());
            self.0.push(Sum { day, character, model, figures: Figures::default() });
        }
        &mut self.0[place].figures
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
        character: character.to_owned(),
        model: model.to_owned(),
        name,
        amount: i64::try_from(amount).unwrap_or(i64::MAX),
    };
    figures.named().into_iter().map(count).collect()
}
