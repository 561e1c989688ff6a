//! Parameters that name a side: the owner of a thing, the actor, or whose turn it is.
//!
//! The speaker is the own side. The owner of a named thing comes from its possessive; a thing that the speaker harms is the
//! other side's. Otherwise the subject of the sentence decides, and by default the speaker.

use serde_json::Value;

use super::super::catalogue::{Choice, Field, Holds};
use super::super::lexicon::HARMING;
use super::super::noun_phrases::{Chunk, acts};
use super::super::own_or_other::{Side, side_of_noun, side_of_speech, sided};
use super::super::role::Role;
use super::super::text_sort::TextSort;
use super::super::vocabulary::is_content;
use super::super::words::Word;
use super::draft::{Draft, Origin};

/// Fills parameters whose values are the two sides.
pub(super) fn fill_sides(draft: &mut Draft<'_>) {
    for (index, field) in draft.fields() {
        let Holds::Choice(choices) = &field.holds else { continue };
        if !draft.is_open(index) || sided(choices).is_none() {
            continue;
        }
        if let Some((side, origin)) = side_for(draft, field)
            && let Some(value) = value_of(choices, side)
        {
            draft.put(index, value, origin);
        }
    }
}

fn value_of(choices: &[Choice], side: Side) -> Option<Value> {
    let (own, other) = sided(choices)?;
    Some(if side == Side::Own { own.value.clone() } else { other.value.clone() })
}

fn side_for(draft: &Draft<'_>, field: &Field) -> Option<(Side, Origin)> {
    if field.is(Role::Turn) {
        return turn(draft, field);
    }
    if let Some(chunk) = owned_phrase(draft, field) {
        return Some(side_of_phrase(draft, chunk));
    }
    let words = draft.reading.words;
    if let Some(side) = receiver(words).or_else(|| subject(words)).or_else(|| spoken_of(words)) {
        let named = words.iter().any(|word| side_of_noun(&word.lower).is_some());
        let lost = field.is(Role::Holder) && words.iter().any(|word| word.is_any(&["lose", "loses", "lost", "losing"]));
        let side = if lost { side.opposite() } else { side };
        return Some((side, if named { Origin::Explicit } else { Origin::Guessed }));
    }
    field.required.then_some((Side::Own, Origin::Implied))
}

/// The phrase whose owner this parameter names: by a shared stem in the parameter names, or the main phrase.
fn owned_phrase<'d>(draft: &'d Draft<'_>, field: &Field) -> Option<&'d Chunk> {
    let owner = field.is(Role::Owner);
    let partner = draft.fields().find(|(_, other)| {
        matches!(other.holds, Holds::Text(TextSort::Name))
            && (other.distinctive_stems().any(|own| field.title.contains(own) && side_of_noun(own).is_none())
                || owner && other.required)
    });
    partner.and_then(|(index, _)| draft.phrases.get(index)?.as_ref())
}

fn side_of_phrase(draft: &Draft<'_>, chunk: &Chunk) -> (Side, Origin) {
    if let Some(side) = chunk.owner.as_deref().and_then(side_of_speech) {
        return (side, Origin::Explicit);
    }
    let words = draft.reading.words;
    let own = words.get(chunk.words.clone()).unwrap_or_default();
    let stems: Vec<&str> = own.iter().map(|word| word.stem.as_str()).filter(|stem| stem.len() > 2).collect();
    if let Some(side) = draft.reading.context.side_of(&stems) {
        return (side, Origin::Implied);
    }
    let doer = subject(words);
    let side = if chunk.subject {
        Side::Own
    } else if chunk.verb.as_deref().is_some_and(|verb| HARMING.contains(verb)) {
        doer.unwrap_or(Side::Own).opposite()
    } else {
        doer.unwrap_or(Side::Own)
    };
    (side, Origin::Implied)
}

/// Whose turn it is: stated in the words (inverted where a turn ends), or from the context.
fn turn(draft: &Draft<'_>, field: &Field) -> Option<(Side, Origin)> {
    let words = draft.reading.words;
    let turn = words.iter().position(|word| word.stem == "turn");
    let whose =
        turn.and_then(|turn| words.iter().take(turn).rev().take(3).find_map(|word| side_of_speech(&word.lower)));
    if let Some(side) = whose {
        return Some((if ends(words, turn) { side.opposite() } else { side }, Origin::Explicit));
    }
    let turn_ended = turn.is_some() && ends(words, turn);
    let now = field.title.iter().rev().find_map(|own| draft.reading.context.side_about(own));
    if turn_ended {
        return Some((now.unwrap_or(Side::Own).opposite(), Origin::Implied));
    }
    let owns = |word: &Word| word.is_any(&["my", "our", "your", "his", "her", "their"]) || word.possessive;
    let noun_follows = |at: usize| words.get(at + 1).is_some_and(|next| side_of_noun(&next.lower).is_some());
    let mut owners = words.iter().enumerate().filter(|(at, word)| owns(word) && !noun_follows(*at));
    let stated = owners
        .find_map(|(_, word)| side_of_speech(&word.lower))
        .or_else(|| words.iter().find_map(|word| side_of_noun(&word.lower)).filter(|side| *side == Side::Other));
    let side = stated.or(now).or_else(|| subject(words));
    Some(side.map_or((Side::Own, Origin::Implied), |side| {
        (side, if stated.is_some() { Origin::Explicit } else { Origin::Implied })
    }))
}

fn ends(words: &[Word], turn: Option<usize>) -> bool {
    const ENDING: &str = "end ends ending ended finish finished over done pass passing finishing complete";
    words.iter().enumerate().any(|(at, word)| {
        // In "I'm done, your turn" the turn that ends is not the one that is named.
        let before_comma = turn.is_some_and(|turn| words.iter().take(turn).skip(at).any(Word::is_mark));
        word.is_in(ENDING) && !before_comma
    })
}

/// "… to the opponent", "give him …".
fn receiver(words: &[Word]) -> Option<Side> {
    let led = words.iter().enumerate().filter(|(_, word)| word.is_any(&["to", "for"]));
    let named = |at: usize| {
        let word = words.get(at)?;
        let noun = side_of_noun(&word.lower).filter(|_| !is_adjective(words, at));
        noun.or(word.is_any(&["him", "her", "you"]).then_some(Side::Other))
    };
    led.flat_map(|(at, _)| [at + 1, at + 2]).find_map(named)
}

/// The actor's side: the first pronoun or side noun before the verb.
fn subject(words: &[Word]) -> Option<Side> {
    let verb = (0..words.len()).find(|at| acts(words, *at, false) && *at > 0).unwrap_or(words.len());
    sides_in(words.get(..verb).unwrap_or(words)).next()
}

/// The sides mentioned, in order; in "my opponent" the noun wins.
fn sides_in(words: &[Word]) -> impl Iterator<Item = Side> {
    words.iter().enumerate().filter_map(|(at, word)| {
        let noun_follows = words.get(at + 1).is_some_and(|next| side_of_noun(&next.lower).is_some());
        side_of_speech(&word.lower).filter(|_| !noun_follows && !is_adjective(words, at))
    })
}

fn spoken_of(words: &[Word]) -> Option<Side> {
    sides_in(words).next()
}

/// "enemy" in "behind enemy lines" names no side; in "enemy's" and "the enemy scores" it does.
fn is_adjective(words: &[Word], at: usize) -> bool {
    let side = words.get(at).is_some_and(|word| side_of_noun(&word.lower).is_some() && !word.possessive);
    side && words.get(at + 1).is_some_and(is_content) && !acts(words, at + 1, false)
}
