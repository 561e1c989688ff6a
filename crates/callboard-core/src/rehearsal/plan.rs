//! Plans calls from an utterance: which clauses form one call, and which tool each group calls.
//!
//! Every run of adjacent clauses is tried with the likeliest tools; the segmentation with the highest total score
//! wins. A clause that only names another thing repeats the previous call with that thing.

use std::ops::Range;

use serde_json::{Map, Value};

use super::catalogue::Tool;
use super::clauses::{Correction, Kind, clauses_of, correction_in, sentence_ends};
use super::context::Context;
use super::counted_things::count_things;
use super::fill::{Attempt, Evidence, Reading, Terms, attempt};
use super::mood::{mood_of, opened};
use super::vocabulary::{Vocabulary, is_content};
use super::word_form::Form;
use super::words::Word;

/// Longer messages are documents, not commands.
const MOST_WORDS: usize = 160;
const MOST_CLAUSES: usize = 20;
const LONGEST_GROUP: usize = 5;
const TOOLS_TRIED: usize = 8;

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
}

/// The inputs of planning.
pub(super) struct Planner<'a> {
    tools: &'a [Tool],
    vocabulary: &'a Vocabulary,
    context: &'a Context,
    /// The last call of the conversation.
    previous: Option<Group>,
}

/// A group of clauses and the best call for it.
#[derive(Clone)]
struct Group {
    words: Range<usize>,
    tool: usize,
    attempt: Attempt,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        tools: &'a [Tool],
        vocabulary: &'a Vocabulary,
        context: &'a Context,
        last: Option<(&str, Map<String, Value>)>,
    ) -> Self {
        let previous = last.and_then(|(name, arguments)| {
            let tool = tools.iter().position(|tool| tool.name == name)?;
            Some(Group {
                words: 0..0,
                tool,
                attempt: Attempt { calls: vec![arguments], score: 0.0, has_explicit_value: true },
            })
        });
        Self { tools, vocabulary, context, previous }
    }

    /// The calls that the utterance asks for, in order; none when it is unclear.
    pub(super) fn plan(&self, words: &[Word]) -> Vec<Planned> {
        if words.len() > MOST_WORDS {
            return Vec::new();
        }
        match correction_in(words) {
            Some(correction) => self.plan_corrected(&correction),
            None => {
                let planned = self.plan_plain(words);
                if planned.is_empty() { count_things(words, self.tools) } else { planned }
            }
        }
    }

    /// The best call of this tool, however low its score.
    pub(super) fn forced(&self, words: &[Word], tool: usize) -> Option<(f32, Planned)> {
        let words = words.get(..words.len().min(MOST_WORDS)).unwrap_or_default();
        let reading = Reading::new(words, mood_of(words, words), self.context);
        let weights = self.vocabulary.weigh(tool, words);
        let evidence = Evidence { weights: &weights, phrasing: self.vocabulary.phrasing(tool, words) };
        let tool = self.tools.get(tool)?;
        let made = attempt(tool, &reading, evidence, Terms { forced: true, inherit: None })?;
        let arguments = made.calls.into_iter().next()?;
        Some((made.score, Planned { tool: tool.name.clone(), arguments }))
    }

    fn plan_corrected(&self, correction: &Correction) -> Vec<Planned> {
        let Correction { before, after, kind } = correction;
        if before.iter().all(|word| word.is_mark() || super::lexicon::FILLERS.contains(&word.lower)) {
            return self.plan_replaced(after, *kind);
        }
        if after.is_empty() {
            return Vec::new();
        }
        let joined: Vec<Word> = without_last_number(before, after).into_iter().chain(after.iter().cloned()).collect();
        let acts = (0..after.len()).any(|at| super::noun_phrases::acts(after, at, false));
        // A correction without a verb replaces a part of the earlier clause.
        let tries = if acts { [after.as_slice(), &joined] } else { [joined.as_slice(), after] };
        if let Some(planned) = tries.iter().map(|words| self.plan_plain(words)).find(|planned| !planned.is_empty()) {
            return planned;
        }
        let groups = self.groups(before);
        let fixed = groups.last().and_then(|group| self.repeated(after, group));
        let kept = groups.iter().take(groups.len().saturating_sub(1)).cloned();
        kept.chain(fixed).flat_map(|group| self.calls(&group)).collect()
    }

    /// Corrects the previous call: undoes it and calls with the corrected values.
    fn plan_replaced(&self, after: &[Word], kind: Kind) -> Vec<Planned> {
        let mut corrected = self.plan_plain(after);
        if corrected.is_empty() {
            let before = self.previous.as_ref();
            corrected = before
                .and_then(|before| self.repeated(after, before))
                .map(|group| self.calls(&group))
                .unwrap_or_default();
        }
        let undo = kind == Kind::Retract || kind == Kind::Replace && !corrected.is_empty();
        self.undo_call().filter(|_| undo).into_iter().chain(corrected).collect()
    }

    /// A call of the undo tool, if there is one.
    fn undo_call(&self) -> Option<Planned> {
        let tool = self.tools.iter().find(|tool| tool.undoes && tool.fields.iter().all(|field| !field.required))?;
        Some(Planned { tool: tool.name.clone(), arguments: Map::new() })
    }

    fn plan_plain(&self, words: &[Word]) -> Vec<Planned> {
        let groups = self.groups(words);
        let mut planned: Vec<Planned> = Vec::new();
        for call in groups.iter().flat_map(|group| self.calls(group)) {
            if !planned.contains(&call) {
                planned.push(call);
            }
        }
        planned
    }

    fn calls(&self, group: &Group) -> Vec<Planned> {
        let Some(tool) = self.tools.get(group.tool) else { return Vec::new() };
        let planned =
            |arguments: &Map<String, Value>| Planned { tool: tool.name.clone(), arguments: arguments.clone() };
        group.attempt.calls.iter().map(planned).collect()
    }

    /// The segmentation with the highest total score, with repeated calls inserted.
    fn groups(&self, words: &[Word]) -> Vec<Group> {
        let mut clauses = clauses_of(words);
        clauses.truncate(MOST_CLAUSES);
        let weights: Vec<Vec<f32>> = (0..self.tools.len()).map(|tool| self.vocabulary.weigh(tool, words)).collect();
        // best[n] is the best segmentation of the first n clauses.
        let mut best: Vec<(f32, Vec<Group>)> = vec![(0.0, Vec::new())];
        for end in 1..=clauses.len() {
            let mut winner = best.last().cloned().unwrap_or_default();
            winner.0 -= clauses.get(end - 1).map_or(0.0, |clause| left_out(words, clause));
            for start in end.saturating_sub(LONGEST_GROUP)..end {
                let Some(span) = span_of(&clauses, start, end) else { continue };
                let Some(group) = self.best_call(words, span, &weights) else { continue };
                let Some((earned, groups)) = best.get(start) else { continue };
                let total = earned + group.attempt.score;
                if total > winner.0 + 1e-4 {
                    winner = (total, groups.iter().cloned().chain([group]).collect());
                }
            }
            best.push(winner);
        }
        let found = best.pop().map(|(_, groups)| groups).unwrap_or_default();
        self.with_repetitions(words, &clauses, &found)
    }

    fn best_call(&self, words: &[Word], span: Range<usize>, weights: &[Vec<f32>]) -> Option<Group> {
        let part = words.get(span.clone())?;
        let reading = Reading::new(part, mood_of(part, sentence_around(words, &span)), self.context);
        let mut likely: Vec<(usize, f32)> = Vec::new();
        for tool in 0..self.tools.len() {
            let row = weights.get(tool).and_then(|row| row.get(span.clone())).unwrap_or_default();
            let sum = row.iter().sum::<f32>() + self.vocabulary.phrasing(tool, part);
            likely.push((tool, sum));
        }
        likely.sort_by(|one, other| other.1.total_cmp(&one.1));
        let mut best: Option<Group> = None;
        for (tool, _) in likely.into_iter().take(TOOLS_TRIED) {
            let (Some(own), Some(row)) =
                (self.tools.get(tool), weights.get(tool).and_then(|row| row.get(span.clone())))
            else {
                continue;
            };
            let Some(made) = attempt(
                own,
                &reading,
                Evidence { weights: row, phrasing: self.vocabulary.phrasing(tool, part) },
                Terms::default(),
            ) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| made.score > best.attempt.score + 1e-4) {
                best = Some(Group { words: span.clone(), tool, attempt: made });
            }
        }
        best
    }

    /// A clause without a verb repeats the previous call with another value: "… and the bedroom".
    fn with_repetitions(&self, words: &[Word], clauses: &[Range<usize>], found: &[Group]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (index, clause) in clauses.iter().enumerate() {
            if let Some(group) = found.iter().find(|group| group.words.start == clause.start) {
                let before = index.checked_sub(1).and_then(|before| clauses.get(before));
                groups.extend(before.and_then(|before| self.shared(words, before, group, found)));
                groups.push(group.clone());
            } else if !found.iter().any(|group| group.words.contains(&clause.start))
                && let Some(before) = groups.last()
                && let Some(part) = words.get(clause.clone())
                && let Some(repeated) = self.repeated(part, before)
            {
                groups.push(Group { words: clause.clone(), ..repeated });
            }
        }
        groups
    }

    /// "Add 3 pens and 2 pads to the cart": the first clause takes "to the cart" from the second.
    fn shared(&self, words: &[Word], clause: &Range<usize>, group: &Group, found: &[Group]) -> Option<Group> {
        let (part, next) = (words.get(clause.clone())?, words.get(group.words.clone())?);
        let acting = |words: &[Word]| super::noun_phrases::acts(words, 0, false);
        let between = words.get(clause.end..group.words.start)?;
        let claimed = found.iter().any(|other| other.words.contains(&clause.start));
        if claimed || !acting(opened(part)) || acting(next) || !between.iter().any(Word::joins) {
            return None;
        }
        let made = self.inherited(part, group)?;
        Some(Group { words: clause.clone(), ..made })
    }

    fn repeated(&self, part: &[Word], before: &Group) -> Option<Group> {
        let part = opened(part);
        let acts = (0..part.len()).any(|at| super::noun_phrases::acts(part, at, true) && at < 2);
        if acts || part.is_empty() {
            return None;
        }
        self.inherited(part, before)
    }

    fn inherited(&self, part: &[Word], before: &Group) -> Option<Group> {
        let tool = self.tools.get(before.tool)?;
        let reading = Reading::new(part, mood_of(part, part), self.context);
        let weights = self.vocabulary.weigh(before.tool, part);
        let evidence = Evidence { weights: &weights, phrasing: 0.0 };
        let inherit = before.attempt.calls.last();
        let made = attempt(tool, &reading, evidence, Terms { inherit, forced: false })?;
        made.has_explicit_value.then(|| Group { words: 0..part.len(), tool: before.tool, attempt: made })
    }
}

/// The cost of skipping a clause: low, but enough to prefer a segmentation that uses it.
fn left_out(words: &[Word], clause: &Range<usize>) -> f32 {
    let content = words
        .get(clause.clone())
        .unwrap_or_default()
        .iter()
        .filter(|word| is_content(word) || word.form == Form::Number)
        .count();
    0.2 * content.min(5) as f32
}

fn span_of(clauses: &[Range<usize>], start: usize, end: usize) -> Option<Range<usize>> {
    Some(clauses.get(start)?.start..clauses.get(end.checked_sub(1)?)?.end)
}

/// The whole sentence around a span, with its final punctuation.
fn sentence_around<'w>(words: &'w [Word], span: &Range<usize>) -> &'w [Word] {
    let start = words.iter().take(span.start).rposition(sentence_ends).map_or(0, |at| at + 1);
    let end = words
        .iter()
        .enumerate()
        .skip(span.end)
        .find(|(_, word)| sentence_ends(word))
        .map_or(words.len(), |(at, _)| at + 1);
    words.get(start..end).unwrap_or_default()
}

/// "2, no wait, 3 of them": drops the corrected number.
fn without_last_number(before: &[Word], after: &[Word]) -> Vec<Word> {
    let numbers = |words: &[Word]| super::numbers::numbers_in(words).into_iter().rfind(|number| !number.article);
    match (numbers(before), numbers(after)) {
        (Some(number), Some(_)) => before
            .iter()
            .enumerate()
            .filter(|(at, word)| !number.words.contains(at) && word.form != Form::Mark)
            .map(|(_, word)| word.clone())
            .collect(),
        _ => before.to_vec(),
    }
}
