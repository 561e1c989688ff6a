//! Placeholder values for a required call whose words do not give every argument.
//!
//! Used only when `tool_choice` requires a call: the simplest value that the schema allows.

use serde_json::{Value, json};

use super::super::catalogue::Holds;
use super::super::numbers::json_number;
use super::super::words::original_text;
use super::draft::{Draft, Origin};

/// Fills every open required parameter with a valid value.
pub(super) fn fill_forced(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields().filter(|(_, field)| field.required) {
        if draft.is_open(index) {
            let value = plainest(draft, &field.holds);
            draft.put(index, value, Origin::Guessed);
        }
    }
}

fn plainest(draft: &Draft<'_>, holds: &Holds) -> Value {
    match holds {
        Holds::Number { least, most, .. } => {
            let spoken =
                draft.reading.numbers.iter().map(|number| number.value).find(|value| (*least..=*most).contains(value));
            let start = if least.is_finite() { least.ceil() } else { 0.0 };
            json_number(spoken.unwrap_or(start.min(*most))).unwrap_or(json!(0))
        }
        Holds::Truth => json!(true),
        Holds::Choice(choices) => choices.first().map_or(Value::Null, |choice| choice.value.clone()),
        Holds::Text(_) => Value::String(original_text(draft.reading.words)),
        Holds::List { of, .. } => Value::Array(vec![plainest(draft, of)]),
        Holds::Other => json!({}),
    }
}
