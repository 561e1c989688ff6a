//! A message that only lists counted things, "two herons and a swan": it goes to the one tool that takes a thing and its number.

use serde_json::Map;

use super::catalogue::{Field, Holds, Tool};
use super::lexicon::is_empty_word;
use super::numbers::{json_number, numbers_in};
use super::plan::Planned;
use super::role::Role;
use super::stem::stem;
use super::text_sort::TextSort;
use super::word_form::Form;
use super::words::{Word, original_text};
use crate::names::singular_of;

const LONGEST_NAME: usize = 3;

/// One call for each thing; none where the message says anything else, or where several tools would fit.
pub(super) fn count_things(words: &[Word], tools: &[Tool]) -> Vec<Planned> {
    let mut fitting = tools.iter().filter_map(|tool| Some((tool, fields_of(tool)?)));
    let (Some((tool, (thing, count))), None) = (fitting.next(), fitting.next()) else { return Vec::new() };
    let parts = words.split(|word| word.joins() || word.is_mark()).filter(|part| !part.is_empty());
    let things: Option<Vec<CountedThing>> = parts.map(CountedThing::read).collect();
    let things = things.filter(|_| !words.iter().any(|word| word.is("?"))).unwrap_or_default();
    // "A question" counts nothing.
    if things.len() < 2 && things.iter().all(|thing| thing.by_article) {
        return Vec::new();
    }
    let calls: Option<Vec<Planned>> = things.iter().map(|counted| counted.call(tool, thing, count)).collect();
    calls.unwrap_or_default()
}

/// The parameters for the thing and its number, where the tool requires nothing else.
fn fields_of(tool: &Tool) -> Option<(&Field, &Field)> {
    let is_thing = |field: &&Field| field.required && matches!(field.holds, Holds::Text(TextSort::Name));
    let is_count = |field: &&Field| matches!(field.holds, Holds::Number { .. }) && field.is(Role::Count);
    let mut things = tool.fields.iter().filter(is_thing);
    let (thing, None) = (things.next()?, things.next()) else { return None };
    let count = tool.fields.iter().find(is_count)?;
    let is_theirs = |field: &Field| std::ptr::eq(field, thing) || std::ptr::eq(field, count);
    let complete = tool.fields.iter().filter(|field| field.required).all(is_theirs);
    (complete && !tool.undoes && thing.path.len() == 1 && count.path.len() == 1).then_some((thing, count))
}

/// A number and a name.
struct CountedThing<'a> {
    value: f64,
    by_article: bool,
    name: &'a [Word],
}

impl<'a> CountedThing<'a> {
    fn read(words: &'a [Word]) -> Option<Self> {
        let numbers = numbers_in(words);
        let [number] = numbers.as_slice() else { return None };
        let name = words.get(number.words.end..)?;
        let is_name = |word: &Word| word.form == Form::Plain && !is_empty_word(&word.lower);
        let fits = number.words.start == 0 && !number.ordinal && (1..=LONGEST_NAME).contains(&name.len());
        (fits && name.iter().all(is_name)).then_some(Self { value: number.value, by_article: number.article, name })
    }

    fn call(&self, tool: &Tool, thing: &Field, count: &Field) -> Option<Planned> {
        let Holds::Number { least, most, .. } = count.holds else { return None };
        if !(least..=most).contains(&self.value) {
            return None;
        }
        let mut arguments = Map::new();
        arguments.insert(thing.path.first()?.clone(), self.name_for(thing).into());
        arguments.insert(count.path.first()?.clone(), json_number(self.value)?);
        Some(Planned { tool: tool.name.clone(), arguments })
    }

    /// The name as it was said, or its singular where the parameter asks for it.
    fn name_for(&self, thing: &Field) -> String {
        let said = original_text(self.name);
        if !thing.summary.contains(&stem("singular")) {
            return said;
        }
        let last = self.name.last().map(|word| word.text.as_str()).unwrap_or_default();
        said.strip_suffix(last).map_or(said.clone(), |before| format!("{before}{}", singular_of(last)))
    }
}
