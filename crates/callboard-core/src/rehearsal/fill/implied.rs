//! Implicit values: from the context, the previous call, or the schema's defaults.

use serde_json::Value;

use super::super::catalogue::{Field, Holds};
use super::super::own_or_other::sided;
use super::super::role::Role;
use super::draft::{Draft, Origin};

/// Fills open required parameters from the previous call of the same utterance.
pub(super) fn fill_inherited(draft: &mut Draft<'_>) {
    let Some(before) = draft.before else { return };
    for (index, field) in draft.fields().filter(|(_, field)| field.required) {
        let inherited = field
            .path
            .split_first()
            .and_then(|(first, rest)| rest.iter().try_fold(before.get(first)?, |value, name| value.get(name)));
        let assumed = matches!(draft.values.get(index), Some(Some((_, Origin::Implied))));
        if let (Some(value), true) = (inherited, assumed || draft.is_open(index)) {
            draft.put(index, value.clone(), Origin::Inherited);
        }
    }
}

/// Fills open required parameters from defaults, then from the context.
pub(super) fn fill_implied(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields().filter(|(_, field)| field.required) {
        if !draft.is_open(index) {
            continue;
        }
        if let Some(value) = field.default.clone() {
            draft.put(index, value, Origin::Default);
        } else if let Some(value) = current(draft, field) {
            draft.put(index, value, Origin::Implied);
        } else if let Some(value) = only_value(field) {
            draft.put(index, value, Origin::Implied);
        }
    }
}

/// The current value from the context; none for a parameter that sets a new one.
fn current(draft: &Draft<'_>, field: &Field) -> Option<Value> {
    if field.is(Role::Upcoming) {
        return None;
    }
    match &field.holds {
        Holds::Choice(choices) if sided(choices).is_none() => {
            draft.reading.context.choice(field, choices).map(|choice| choice.value.clone())
        }
        _ => None,
    }
}

/// The value of a single-valued enum.
fn only_value(field: &Field) -> Option<Value> {
    match &field.holds {
        Holds::Choice(choices) if choices.len() == 1 => choices.first().map(|choice| choice.value.clone()),
        _ => None,
    }
}
