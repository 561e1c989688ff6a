//! The mood of a clause: command, question, statement, or idle talk.
//!
//! Doubts, conditions, wishes, opinions and accounts of the past trigger no call. The rules look at function words only,
//! never at the subject matter.

use super::lexicon::FILLERS;
use super::noun_phrases::acts;
use super::stem::stem;
use super::words::Word;

/// The mood of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mood {
    /// It asks for information.
    pub(super) question: bool,
    /// It has a subject and requests nothing.
    pub(super) statement: bool,
    /// Doubt, condition, wish or opinion: triggers no call.
    pub(super) idle: bool,
    /// It is about an earlier day.
    pub(super) past: bool,
    /// It contains a negation.
    pub(super) negated: bool,
    /// It asks to undo something.
    pub(super) undoing: bool,
}

const DOUBTS: &str = "maybe|perhaps|do not know|not sure|unsure|dunno|i guess|i think|i suppose|might|possibly|probably|wondering|\
    thinking of|thinking about|considering|planning|plan to|almost|nearly|wanted to|tried to|unless|suppose|imagine|\
    pretend|what if|in case|would have|could have|should have|would be|could be|if only|i wish|i hope|hopefully|\
    let us hope|let me think|next time|next game|someday|for example";

const OPINIONS: &[&str] = &[
    "love", "like", "liked", "loved", "hate", "hated", "enjoy", "enjoyed", "prefer", "believe", "heard", "wonder",
    "remember", "feel", "felt", "bet", "miss", "agree", "doubt", "dreamed", "wondered", "dislike", "forgot",
];

const PAST: &str = "last week|last game|last time|last year|last month|last night|last match|last tournament|last summer|other day|\
    used to|remember when|back when|back in|years ago|weeks ago|days ago|another game|previous game|a while ago|\
    yesterday|once upon";

const WH_WORDS: &[&str] = &["what", "who", "whose", "which", "where", "when", "why", "how", "whom"];
const OPENING_AUXILIARIES: &[&str] = &[
    "do", "does", "did", "is", "are", "am", "was", "were", "can", "could", "should", "will", "would", "have", "has",
    "had", "may", "shall", "any",
];
const SUBJECTS: &[&str] = &["i", "we", "you", "he", "she", "they", "it", "that", "this", "there", "these", "those"];

/// The mood of a span; `sentence` is the whole sentence around it.
pub(super) fn mood_of(part: &[Word], sentence: &[Word]) -> Mood {
    let body = opened(part);
    let request = is_request(body);
    let question = !request && (asks(body) || sentence.last().is_some_and(|word| word.is("?")) && !is_order(body));
    Mood {
        question,
        statement: !question && !request && is_statement(body),
        idle: is_idle(body, sentence, question),
        past: holds_any(sentence, PAST),
        undoing: takes_back(body),
        negated: negation_in(part).is_some() && !holds(part, &["not", "forget"]),
    }
}

/// "undo", "revert", "take that back", "roll back".
fn takes_back(body: &[Word]) -> bool {
    let back = |verb: &str| {
        let verb = body.iter().take(4).position(|word| word.stem == stem(verb));
        verb.is_some_and(|at| body.iter().skip(at + 1).take(4).any(|word| word.is("back")))
    };
    body.iter().take(5).any(|word| word.is_any(&["undo", "revert", "rollback"])) || back("take") || back("roll")
}

/// The position of the negation.
pub(super) fn negation_in(words: &[Word]) -> Option<usize> {
    words.iter().enumerate().position(|(at, word)| {
        let next = |offset: usize| words.get(at + offset);
        match word.lower.as_str() {
            "not" => !next(1).is_some_and(|word| word.is("only")),
            "never" => !next(1).is_some_and(|word| word.is("mind")),
            "neither" | "nor" | "cannot" => true,
            "no" if word.capital && at > 0 => false,
            "no" => next(1).is_some_and(|word| {
                !word.is_mark() && !word.is_any(&["one", "i", "we", "it", "that", "wait", "problem"])
            }),
            "failed" | "refuse" | "refused" | "stopped" => next(1).is_some_and(|word| word.is("to")),
            _ => false,
        }
    })
}

/// The words after greetings and fillers.
pub(super) fn opened(words: &[Word]) -> &[Word] {
    let opening = |word: &Word| {
        word.is_mark()
            || FILLERS.contains(&word.lower)
                && !word.is_any(&[
                    "not", "no", "never", "if", "unless", "go", "maybe", "perhaps", "next", "last", "new", "need",
                    "want",
                ])
    };
    let start = words.iter().position(|word| !opening(word)).unwrap_or(words.len());
    words.get(start..).unwrap_or_default()
}

fn lower(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.lower.as_str())
}

/// "can you …", "could I get …", "I would like to …", "I want to …": a polite command.
fn is_request(body: &[Word]) -> bool {
    let (first, second, third, fourth) = (lower(body, 0), lower(body, 1), lower(body, 2), lower(body, 3));
    match (first, second) {
        ("can" | "could" | "would" | "will", "you") => true,
        ("can" | "could" | "may", "i" | "we") => {
            ["get", "have", "book", "order", "buy", "reserve", "hear", "see"].contains(&third)
        }
        ("i" | "we", "would") => third == "like" || third == "love",
        ("i" | "we", "want" | "need") => true,
        ("i" | "we", "am" | "are") => third == "looking" && ["for", "to"].contains(&fourth) || third == "trying",
        ("would", "love") | ("make", "sure") | ("let", "us" | "me") => true,
        ("do" | "would", _) => second == "mind" || third == "mind",
        _ => false,
    }
}

fn asks(body: &[Word]) -> bool {
    let (first, second) = (lower(body, 0), lower(body, 1));
    if first == "let" {
        return false;
    }
    let wh = WH_WORDS.contains(&first)
        || (["in", "at", "for", "on", "to", "with", "by"].contains(&first) && WH_WORDS.contains(&second));
    wh || OPENING_AUXILIARIES.contains(&first)
        && !(["do", "have"].contains(&first) && !SUBJECTS.contains(&second) && second != "any" && second != "the")
        && !did_alone(body)
}

/// "Did 9 damage" states; "did he …" asks.
fn did_alone(body: &[Word]) -> bool {
    lower(body, 0) == "did"
        && body
            .get(1)
            .is_some_and(|word| super::numbers::written(&word.lower).is_some() || word.is_any(&["some", "no"]))
}

/// A command with a question mark is still a command: "play some jazz?".
fn is_order(body: &[Word]) -> bool {
    body.first().is_some_and(|word| {
        super::lexicon::VERBS.contains(&word.stem) && !word.is_any(&["want", "fancy", "got", "ready"])
    })
}

/// A subject precedes the verb, and it is not a command.
fn is_statement(body: &[Word]) -> bool {
    if SUBJECTS.contains(&lower(body, 0)) {
        return true;
    }
    let verb = (0..body.len().min(10)).find(|at| acts(body, *at, false));
    verb.is_some_and(|at| at > 0 && body.iter().take(at).all(|word| !word.is_mark()))
}

/// "that is a nice …": a comment on something.
fn is_comment(body: &[Word]) -> bool {
    let (first, second, third) = (lower(body, 0), lower(body, 1), lower(body, 2));
    ["that", "this", "it"].contains(&first)
        && ["is", "was", "looks", "sounds", "seems"].contains(&second)
        && ["a", "an", "so", "such", "really", "very", "nice", "great", "cool", "like", "good", "bad"].contains(&third)
}

fn is_idle(body: &[Word], sentence: &[Word], question: bool) -> bool {
    holds_any(sentence, DOUBTS) && !(question && holds(sentence, &["should"]))
        || has_condition(sentence)
        || has_opinion(body)
        || is_comment(body)
        || !question && has_ability(body)
}

/// "if" at the start of a clause; "check if" and "see if" ask.
fn has_condition(sentence: &[Word]) -> bool {
    sentence.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).and_then(|before| sentence.get(before));
        word.is("if")
            && !before.is_some_and(|word| super::lexicon::VERBS.contains(&word.stem) || word.is_any(&["know", "me"]))
    })
}

fn has_opinion(body: &[Word]) -> bool {
    let at = if body.get(1).is_some_and(|word| word.lower.ends_with("ly")) { 2 } else { 1 };
    ["i", "we"].contains(&lower(body, 0)) && OPINIONS.contains(&lower(body, at))
}

/// "I could …", "they should …", "it can …" state a possibility, not an action.
fn has_ability(body: &[Word]) -> bool {
    let possible = ["could", "should", "can", "may", "would", "cannot"];
    let at = body
        .iter()
        .take(6)
        .position(|word| possible.contains(&word.lower.as_str()) && !(word.is("may") && word.capital));
    at.is_some_and(|at| {
        let next = lower(body, at + 1);
        at > 0 && next != "you" && next != "like" && next != "love" && !is_request(body.get(at..).unwrap_or_default())
    }) && ["i", "we", "he", "she", "they", "it", "that", "you", "my", "your", "his", "her", "their", "the", "this"]
        .contains(&lower(body, 0))
}

/// Whether the words contain one of the phrases, separated by `|`.
fn holds_any(words: &[Word], phrases: &str) -> bool {
    phrases.split('|').any(|phrase| holds(words, &phrase.split(' ').collect::<Vec<_>>()))
}

/// Whether the words contain `parts` in sequence; a single capitalised word is a name and does not match.
pub(super) fn holds(words: &[Word], parts: &[&str]) -> bool {
    let matches = |(word, part): (&Word, &&str)| word.is(part) && (!word.capital || parts.len() > 1 || word.is("i"));
    let opens =
        words.get(..parts.len()).is_some_and(|window| window.iter().zip(parts).all(|(word, part)| word.is(part)));
    opens || words.windows(parts.len()).skip(1).any(|window| window.iter().zip(parts).all(matches))
}

#[cfg(test)]
mod tests {
    use super::super::words::words_of;
    use super::*;

    fn mood(text: &str) -> Mood {
        let words = words_of(text);
        let part: Vec<Word> = words.iter().filter(|word| !word.is("?")).cloned().collect();
        mood_of(&part, &words)
    }

    #[test]
    fn idle_talk_is_distinguished_from_commands() {
        for (text, idle) in [
            ("maybe I should charge", true),
            ("umm I don't know", true),
            ("if he moves I shoot", true),
            ("I love the old songs", true),
            ("I could play a card", true),
            ("I would like to hear jazz", false),
            ("check if the door is open", false),
            ("play some jazz", false),
            ("I lost two units", false),
        ] {
            assert_eq!(mood(text).idle, idle, "{text}");
        }
    }

    #[test]
    fn questions_and_denials_are_seen() {
        for (text, question, negated) in [
            ("how many points do I have?", true, false),
            ("what time is it", true, false),
            ("can you play jazz?", false, false),
            ("could I get a pizza?", false, false),
            ("play some jazz?", false, false),
            ("want to grab pizza after?", true, false),
            ("Did 9 damage", false, false),
            ("do not send it", false, true),
            ("he took no damage", false, true),
            ("no one has it", false, false),
            ("don't forget to buy milk", false, false),
        ] {
            let mood = mood(text);
            assert_eq!((mood.question, mood.negated), (question, negated), "{text}");
        }
    }
}
