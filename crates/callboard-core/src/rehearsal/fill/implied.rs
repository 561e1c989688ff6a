//! Values that were not said: from the context, from the call before, or from the schema's defaults.

use serde_json::Value;

use super::super::catalogue::{Field, Holds};
use super::super::own_or_other::sided;
use super::super::role::Role;
use super::draft::{Draft, Origin};

/// Fills required parameters that were not said from the call before it in the same speech.
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

/// Fills required parameters from the context, then from defaults.
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

/// The value that the context gives; not for what is about to change.
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

/// The value of an enumeration that has only one.
fn only_value(field: &Field) -> Option<Value> {
    match &field.holds {
        Holds::Choice(choices) if choices.len() == 1 => choices.first().map(|choice| choice.value.clone()),
        _ => None,
    }
}
