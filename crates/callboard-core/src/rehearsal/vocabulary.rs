//! Weights of words as evidence for tools.
//!
//! The weight depends on where the tool has the word (name, enum value, parameter name, description) and falls with the
//! number of tools that have it. Synonyms and abbreviations weigh less than the word itself.

use std::collections::{HashMap, HashSet};

use super::catalogue::{Choice, Holds, Tool};
use super::lexicon::{GENERIC, is_empty_word};
use super::synonyms::synonyms;
use super::word_form::Form;
use super::words::Word;

const IN_NAME: f32 = 3.0;
const IN_GENERIC_NAME: f32 = 0.9;
const IN_CHOICE: f32 = 2.0;
const IN_PARAMETER: f32 = 1.4;
const IN_DESCRIPTION: f32 = 1.1;
const IN_DETAIL: f32 = 0.7;
const BY_SYNONYM: f32 = 0.55;
const BY_INITIALS: f32 = 0.65;

/// The words of all tools on offer.
pub(super) struct Vocabulary {
    tools: Vec<ToolWords>,
    rarity: HashMap<String, f32>,
}

struct ToolWords {
    /// Trigrams of function words, such as "what can I do".
    phrases: HashSet<[String; 3]>,
    weights: HashMap<String, f32>,
    initials: HashMap<String, f32>,
}

impl Vocabulary {
    pub(super) fn of(tools: &[Tool]) -> Self {
        let tools: Vec<ToolWords> = tools.iter().map(ToolWords::of).collect();
        let mut spread: HashMap<&str, f32> = HashMap::new();
        for tool in &tools {
            for (word, weight) in &tool.weights {
                // A mention in a description hardly makes another tool's name word common.
                *spread.entry(word.as_str()).or_default() += (weight / IN_NAME).clamp(0.2, 1.0);
            }
        }
        let count = tools.len().max(1) as f32;
        let full = (1.0 + count).ln();
        let rarity = spread.into_iter().map(|(word, spread)| (word.to_owned(), rarity(count, spread, full))).collect();
        Self { tools, rarity }
    }

    /// The weight of each word for one tool; zero without a match.
    pub(super) fn weigh(&self, tool: usize, words: &[Word]) -> Vec<f32> {
        let Some(tool) = self.tools.get(tool) else { return vec![0.0; words.len()] };
        words
            .iter()
            .map(|word| if is_content(word) { self.weight(tool, &word.stem, &word.lower) } else { 0.0 })
            .collect()
    }

    /// The weight of function-word phrases for one tool.
    pub(super) fn phrasing(&self, tool: usize, words: &[Word]) -> f32 {
        let Some(tool) = self.tools.get(tool).filter(|tool| !tool.phrases.is_empty()) else { return 0.0 };
        let shared = small_phrases(words.iter().map(|word| word.stem.as_str()))
            .iter()
            .filter(|run| tool.phrases.contains(*run))
            .count();
        1.2 * shared.min(2) as f32
    }

    fn weight(&self, tool: &ToolWords, stem: &str, lower: &str) -> f32 {
        let own = tool.weights.get(stem).map_or(0.0, |weight| weight * self.rarity(stem));
        let short = tool.initials.get(lower).copied().unwrap_or(0.0);
        let other = synonyms(stem)
            .filter_map(|other| tool.weights.get(other).map(|weight| weight * self.rarity(other)))
            .fold(0.0, f32::max);
        own.max(short).max(other * BY_SYNONYM)
    }

    fn rarity(&self, stem: &str) -> f32 {
        self.rarity.get(stem).copied().unwrap_or(1.0)
    }
}

fn rarity(count: f32, spread: f32, full: f32) -> f32 {
    ((1.0 + count / spread.max(1.0)).ln() / full).clamp(0.15, 1.0)
}

/// Trigrams of function words that form a question; content words are weighed individually.
pub(super) fn small_phrases<'a>(stems: impl Iterator<Item = &'a str>) -> Vec<[String; 3]> {
    const ASKING: &[&str] = &["what", "who", "how", "which", "where", "when", "why", "i", "we", "me"];
    let stems: Vec<&str> = stems.collect();
    let asks =
        |run: &[&str]| run.iter().all(|stem| is_empty_word(stem)) && run.iter().any(|stem| ASKING.contains(stem));
    stems
        .windows(3)
        .filter(|run| asks(run))
        .map(|run| [0, 1, 2].map(|at| run.get(at).copied().unwrap_or("").to_owned()))
        .collect()
}

/// Whether a word can be evidence for a tool.
pub(super) fn is_content(word: &Word) -> bool {
    word.form == Form::Plain && !is_empty_word(&word.lower) && word.lower.len() > 1
}

impl ToolWords {
    fn of(tool: &Tool) -> Self {
        let mut words = Self { phrases: HashSet::new(), weights: HashMap::new(), initials: HashMap::new() };
        words.add_phrases(&tool.summary);
        for stem in &tool.title {
            words.add(stem, if GENERIC.contains(stem) { IN_GENERIC_NAME } else { IN_NAME });
        }
        words.add_initials(&tool.title, IN_NAME);
        tool.summary.iter().for_each(|stem| words.add(stem, IN_DESCRIPTION));
        for field in &tool.fields {
            field
                .title
                .iter()
                .for_each(|stem| words.add(stem, if GENERIC.contains(stem) { 0.4 } else { IN_PARAMETER }));
            words.add_initials(&field.title, IN_PARAMETER);
            field.summary.iter().for_each(|stem| words.add(stem, IN_DETAIL));
            words.add_phrases(&field.summary);
            words.add_choices(&field.holds);
        }
        words
    }

    fn add(&mut self, stem: &str, weight: f32) {
        if stem.len() < 2 || is_empty_word(stem) {
            return;
        }
        let weight = if GENERIC.contains(stem) { weight.min(IN_GENERIC_NAME) } else { weight };
        let entry = self.weights.entry(stem.to_owned()).or_default();
        *entry = entry.max(weight);
    }

    fn add_choices(&mut self, holds: &Holds) {
        let choices: &[Choice] = match holds {
            Holds::Choice(choices) => choices,
            Holds::List { of, .. } => return self.add_choices(of),
            _ => return,
        };
        let mut seen = HashSet::new();
        for choice in choices {
            choice.title.iter().filter(|stem| seen.insert(stem.as_str())).for_each(|stem| self.add(stem, IN_CHOICE));
            self.add_initials(&choice.title, IN_CHOICE);
        }
    }

    fn add_phrases(&mut self, stems: &[String]) {
        self.phrases.extend(small_phrases(stems.iter().map(String::as_str)));
    }

    /// "victory points" is also called "vp".
    fn add_initials(&mut self, stems: &[String], weight: f32) {
        for length in 2..=4 {
            for run in stems.windows(length) {
                let initials: String = run.iter().filter_map(|stem| stem.chars().next()).collect();
                if !is_empty_word(&initials) {
                    self.initials.insert(initials, weight * BY_INITIALS);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::catalogue::tools_of;
    use super::super::words::words_of;
    use super::*;

    #[test]
    fn a_tools_own_words_weigh_most() {
        let tools = tools_of(&json!({"tools": [
            {"function": {"name": "add_victory_points", "description": "Score points for a side."}},
            {"function": {"name": "play_song", "description": "Play a song on the speaker."}},
        ]}));
        let vocabulary = Vocabulary::of(&tools);
        let weight = |tool: usize, word: &str| vocabulary.weigh(tool, &words_of(word)).first().copied().unwrap_or(0.0);
        for (word, better) in [("song", 1), ("tune", 1), ("VP", 0), ("points", 0), ("speaker", 1)] {
            assert!(weight(better, word) > weight(1 - better, word), "{word}");
        }
        assert_eq!(weight(0, "the"), 0.0);
    }
}
