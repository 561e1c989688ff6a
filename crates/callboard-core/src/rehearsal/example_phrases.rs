//! For each tool a phrase that calls it: made from its name and parameters, and tried before it is offered.

use super::catalogue::{Choice, Field, Holds, Tool};
use super::lexicon::PREPOSITIONS;
use super::plan::{Planned, Planner};
use super::text_sort::TextSort;
use super::words::words_of;

/// More tools are only counted.
const MOST_TOOLS: usize = 12;

/// The tools, one per line, each with a phrase that works where one was found.
pub(super) fn tools_with_phrases(tools: &[Tool], planner: &Planner<'_>) -> String {
    let line = |tool: &Tool| match example_phrase(tool, planner) {
        Some(phrase) => format!("\n- {}: \"{phrase}\"", tool.name),
        None => format!("\n- {}", tool.name),
    };
    let mut lines: String = tools.iter().take(MOST_TOOLS).map(line).collect();
    if let Some(more) = tools.len().checked_sub(MOST_TOOLS).filter(|more| *more > 0) {
        lines.push_str(&format!("\n- and {more} more"));
    }
    lines
}

/// The first candidate that makes one call of this tool, with the sample values if possible.
fn example_phrase(tool: &Tool, planner: &Planner<'_>) -> Option<String> {
    let sets = [true, false].map(|given| samples(tool, given).map(without_repetition));
    let mut any = None;
    for samples in sets.into_iter().flatten() {
        for phrase in candidates(tool, &samples) {
            match planner.plan(&words_of(&phrase)).as_slice() {
                [only] if only.tool != tool.name => {}
                [only] if samples.iter().all(|sample| sample.is_in(only)) => return Some(phrase),
                [_] => any = any.or(Some(phrase)),
                _ => {}
            }
        }
    }
    any
}

/// A value for one parameter.
struct Sample<'a> {
    field: &'a Field,
    said: String,
}

impl Sample<'_> {
    /// With the parameter's name before it where that is a preposition: "to Paris".
    fn with_preposition(&self) -> String {
        match self.field.path.last().filter(|name| PREPOSITIONS.contains(name.as_str())) {
            Some(preposition) => format!("{preposition} {}", self.said),
            None => self.said.clone(),
        }
    }

    fn is_in(&self, call: &Planned) -> bool {
        let inner =
            |value: Option<&'_ serde_json::Value>, key: &String| value.and_then(|value| value.get(key)).cloned();
        let mut keys = self.field.path.iter();
        let first = keys.next().and_then(|key| call.arguments.get(key)).cloned();
        match keys.fold(first, |value, key| inner(value.as_ref(), key)) {
            Some(serde_json::Value::String(text)) => text.replace('_', " ").eq_ignore_ascii_case(&self.said),
            value => value.is_some(),
        }
    }
}

/// A second parameter with the same choices gets the next one: converting metres to metres is no example.
fn without_repetition(samples: Vec<Sample<'_>>) -> Vec<Sample<'_>> {
    let mut kept: Vec<Sample<'_>> = Vec::new();
    for mut sample in samples {
        if let Holds::Choice(choices) = &sample.field.holds
            && kept.iter().any(|other| other.said == sample.said)
        {
            let unused = choices.iter().map(Choice::spoken).find(|said| kept.iter().all(|other| other.said != *said));
            sample.said = unused.unwrap_or(sample.said);
        }
        kept.push(sample);
    }
    kept
}

/// Samples for what is required, else for the first parameter; none where words cannot fill a required one. `given`: examples of the
/// author come first.
fn samples(tool: &Tool, given: bool) -> Option<Vec<Sample<'_>>> {
    let example = |field: &Field| field.example.clone().filter(|_| given);
    let sample = |field| example(field).or_else(|| said_value(&field.holds)).map(|said| Sample { field, said });
    if tool.fields.iter().any(|field| field.required) {
        return tool.fields.iter().filter(|field| field.required).map(sample).collect();
    }
    Some(tool.fields.first().and_then(sample).into_iter().collect())
}

fn said_value(holds: &Holds) -> Option<String> {
    let said = match holds {
        Holds::Number { least, most, .. } => return Some(format!("{}", 2.0_f64.max(least.ceil()).min(most.floor()))),
        Holds::Truth => "on",
        Holds::Choice(choices) => return choices.first().map(Choice::spoken),
        Holds::List { of, .. } => return said_value(of),
        Holds::Text(sort) => said_text(*sort)?,
        Holds::Other => return None,
    };
    Some(said.to_owned())
}

fn said_text(sort: TextSort) -> Option<&'static str> {
    Some(match sort {
        TextSort::Name => "Aurora",
        TextSort::Remark => "because it is late",
        TextSort::Message => "the bridge is open",
        TextSort::Place => "Paris",
        TextSort::Person => "Anna",
        TextSort::Day => "tomorrow",
        TextSort::Clock => "5 pm",
        TextSort::Moment => "tomorrow at 5 pm",
        TextSort::Email => "anna@example.com",
        TextSort::Link => "https://example.com",
        TextSort::File => "notes.txt",
        TextSort::Formula => "12 * 7",
        TextSort::Notation => return None,
    })
}

/// Ways to say a call, the most natural first.
fn candidates(tool: &Tool, samples: &[Sample<'_>]) -> Vec<String> {
    let name = spoken(&tool.name);
    let values: Vec<&str> = samples.iter().map(|sample| sample.said.as_str()).collect();
    let titled: Vec<String> = samples
        .iter()
        .map(|sample| format!("{} {}", spoken(sample.field.path.last().map_or("", |path| path)), sample.said))
        .collect();
    let led: Vec<String> = samples.iter().map(Sample::with_preposition).collect();
    let (plain, titled, led) = (values.join(" "), titled.join(" "), led.join(" "));
    let mut phrases = vec![
        format!("{name} {led}"),
        format!("{name} {plain}"),
        format!("{name}: {plain}"),
        format!("{name} to {plain}"),
        format!("{name} in {plain}"),
        format!("{name} for {plain}"),
        format!("{name} {titled}"),
        format!("{name} with {titled}"),
        format!("{name} \"{plain}\""),
    ];
    if samples.iter().all(|sample| !sample.field.required) {
        phrases.splice(0..0, [name.clone(), format!("what is the {name}?"), format!("show the {name}")]);
    }
    phrases.iter().map(|phrase| capitalised(phrase.trim())).collect()
}

/// `takeNote` and `take_note` as "take note".
fn spoken(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for letter in name.chars() {
        if letter.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        words.extend(if letter.is_alphanumeric() { letter } else { ' ' }.to_lowercase());
        before = letter;
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

impl Choice {
    fn spoken(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), |text| text.replace('_', " "))
    }
}
