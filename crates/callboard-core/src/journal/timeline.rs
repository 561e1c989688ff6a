//! Which entries of a journal are in force, and with which patches, after all undos.
//!
//! A cascading undo drops the end of the list. An undo of a single entry removes it and rewrites those after it as if it had
//! never existed. Undoing an undo restores the list from before it. The same journal always gives the same timeline.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use serde_json::Value;

use super::apply::{PatchError, Step};
use super::commute::commute;
use super::diff::diff_regardless_of_order;
use super::entry::{Entry, Mode, Undoes};
use super::operation::Patch;
use super::state_record::Mark;
use super::undo_target::{Target, UndoError};

/// The calls in force after some entries of a journal.
#[derive(Debug, Clone, Default)]
pub(super) struct InForce {
    effects: Vec<Effect>,
    undone_by: BTreeMap<u64, u64>,
}

/// A call in force, with its patch in a history without the undone calls.
#[derive(Debug, Clone)]
struct Effect {
    sequence: u64,
    patch: Rc<Patch>,
}

/// A journal read from its beginning.
pub(super) struct Timeline<'a> {
    initial: &'a Value,
    entries: &'a [Entry],
    now: InForce,
    before_undos: HashMap<u64, InForce>,
}

impl<'a> Timeline<'a> {
    /// Reads a whole journal.
    pub(super) fn read(initial: &'a Value, entries: &'a [Entry]) -> Result<Self, UndoError> {
        let mut timeline = Self { initial, entries, now: InForce::default(), before_undos: HashMap::new() };
        for entry in entries {
            match entry.undoes {
                None => {
                    let effect = Effect { sequence: entry.sequence, patch: Rc::new(entry.patch.clone()) };
                    timeline.now.effects.push(effect);
                }
                Some(undoes) => timeline.undo(entry.sequence, undoes)?,
            }
        }
        Ok(timeline)
    }

    /// Adds an undo, whose own sequence is given.
    pub(super) fn undo(&mut self, sequence: u64, undoes: Undoes) -> Result<(), UndoError> {
        let target = undoes.sequence;
        if let Some(by) = self.now.undone_by.get(&target) {
            return Err(UndoError::AlreadyUndone { sequence: target, by: *by });
        }
        let is_undo = self.before_undos.contains_key(&target);
        let next = match (is_undo, undoes.mode) {
            (false, Mode::Cascade) => self.without_call_and_later(target, sequence)?,
            (false, Mode::Single) => self.without_call(target, sequence)?,
            (true, Mode::Cascade) => self.without_undo_and_later(target, sequence)?,
            (true, Mode::Single) => self.without_undo(target, sequence)?,
        };
        self.before_undos.insert(sequence, std::mem::replace(&mut self.now, next));
        Ok(())
    }

    /// The state after all calls in force.
    pub(super) fn state(&self) -> Result<Value, PatchError> {
        self.state_after(&self.now.effects)
    }

    /// The entry that a target means; none where nothing is to be undone.
    pub(super) fn resolve(&self, target: &Target) -> Result<Option<Undoes>, UndoError> {
        let (call_id, mode) = match target {
            Target::Last(0) => return Ok(None),
            Target::Last(wanted) => {
                let in_force = &self.now.effects;
                let newest = in_force.iter().rev().nth(wanted - 1);
                let effect = newest.ok_or(UndoError::TooMany { wanted: *wanted, there: in_force.len() })?;
                return Ok(Some(Undoes { sequence: effect.sequence, mode: Mode::Cascade }));
            }
            Target::Cascade(call_id) => (call_id, Mode::Cascade),
            Target::Single(call_id) => (call_id, Mode::Single),
        };
        let entry = self.entries.iter().rev().find(|entry| entry.call.call_id == *call_id);
        let sequence = entry.ok_or_else(|| UndoError::UnknownCall(call_id.clone()))?.sequence;
        Ok(Some(Undoes { sequence, mode }))
    }

    /// The entries whose `undone_by` differs from the journal, with the new value.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mark = |entry: &Entry| (entry.sequence, self.now.undone_by.get(&entry.sequence).copied());
        let changed = self.entries.iter().filter(|entry| mark(entry).1 != entry.undone_by);
        changed.map(mark).collect()
    }

    fn state_after(&self, effects: &[Effect]) -> Result<Value, PatchError> {
        let mut state = self.initial.clone();
        for effect in effects {
            effect.patch.steps(&mut state)?;
        }
        Ok(state)
    }

    fn place(&self, target: u64) -> Result<usize, UndoError> {
        let place = self.now.effects.iter().position(|effect| effect.sequence == target);
        place.ok_or(UndoError::UnknownSequence(target))
    }

    fn without_call_and_later(&self, target: u64, by: u64) -> Result<InForce, UndoError> {
        let mut in_force = self.now.clone();
        for effect in in_force.effects.split_off(self.place(target)?) {
            in_force.undone_by.insert(effect.sequence, by);
        }
        Ok(in_force)
    }

    fn without_call(&self, target: u64, by: u64) -> Result<InForce, UndoError> {
        let place = self.place(target)?;
        let mut in_force = self.now.clone();
        let later = in_force.effects.split_off(place + 1);
        let with = self.state_after(&in_force.effects)?;
        in_force.effects.truncate(place);
        let without = self.state_after(&in_force.effects)?;
        in_force.effects.extend(self.rewritten(target, &with, &without, later)?);
        in_force.undone_by.insert(target, by);
        Ok(in_force)
    }

    /// The list from before an undo. Calls and undos since then are undone too.
    fn without_undo_and_later(&self, target: u64, by: u64) -> Result<InForce, UndoError> {
        let mut in_force = self.before(target)?;
        for entry in self.entries.iter().filter(|entry| entry.sequence >= target && entry.sequence < by) {
            let by = self.now.undone_by.get(&entry.sequence).copied().unwrap_or(by);
            in_force.undone_by.insert(entry.sequence, by);
        }
        Ok(in_force)
    }

    /// The list from before an undo, followed by the calls since then.
    fn without_undo(&self, target: u64, by: u64) -> Result<InForce, UndoError> {
        let since = self.entries.iter().filter(|entry| entry.sequence > target && entry.sequence < by);
        for entry in since {
            if entry.undoes.is_some() || self.now.undone_by.contains_key(&entry.sequence) {
                return Err(UndoError::UndoneSince { sequence: target, since: entry.sequence });
            }
        }
        let mut in_force = self.before(target)?;
        let first_later = self.now.effects.partition_point(|effect| effect.sequence < target);
        let mut now = self.now.effects.clone();
        let later = now.split_off(first_later);
        let (with, without) = (self.state_after(&now)?, self.state_after(&in_force.effects)?);
        in_force.effects.extend(self.rewritten(target, &with, &without, later)?);
        in_force.undone_by.insert(target, by);
        Ok(in_force)
    }

    fn before(&self, undo: u64) -> Result<InForce, UndoError> {
        self.before_undos.get(&undo).cloned().ok_or(UndoError::UnknownSequence(undo))
    }

    /// Later effects, made for the state `with`, rewritten for the state `without`.
    fn rewritten(
        &self,
        target: u64,
        with: &Value,
        without: &Value,
        later: Vec<Effect>,
    ) -> Result<Vec<Effect>, UndoError> {
        let mut state = with.clone();
        let mut away = diff_regardless_of_order(with, without).steps(&mut state.clone())?;
        let mut rewritten = Vec::with_capacity(later.len());
        for effect in later {
            let steps = effect.patch.steps(&mut state)?;
            let (still_away, steps) = commute(away, steps)
                .map_err(|clash| UndoError::conflict(self.entries, target, effect.sequence, clash))?;
            away = still_away;
            let patch = Patch(steps.into_iter().map(Step::into_operation).collect());
            rewritten.push(Effect { sequence: effect.sequence, patch: Rc::new(patch) });
        }
        Ok(rewritten)
    }
}
