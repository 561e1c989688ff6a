//! English stemming: "moving", "moved" and "move" become one string.
//!
//! Suffixes are stripped without a dictionary; only irregular forms are listed. A stem is for comparison, never for
//! display. Words with other than ASCII letters are only lower-cased.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Base forms, each followed by its irregular forms.
const IRREGULAR: &str = "eat ate|begin began begun|buy bought|break broke broken|bring brought|come came|child children|\
    choose chose chosen|deal dealt|do did does|done done|draw drawn drew|drive drove|die dying died dies dead|\
    fall fell fallen|fly flew flown|fight fought|find found|give gave given|go goes went|gone gone|get got gotten|\
    have had has|hold held|keep kept|kill killed|know knew|leave left|light lit|lose lost losing loss losses|\
    make made|man men|meet met|mouse mice|moment moment|news news|pay paid payment|person people|run ran|ride rode|\
    say said|sing sang|sit sat|see saw seen|send sent|shoot shot|slay slain|sleep slept|sell sold|spend spent|\
    steal stole|stand stood|swim swam|take taken took|think thought|throw threw|tell told|use used using|\
    woman women|win won|wake woke|write wrote written";

static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = IRREGULAR.split('|').filter_map(|row| row.split_once(' '));
    rows.flat_map(|(base, forms)| forms.split(' ').map(move |form| (form, base))).collect()
});

/// The stem of a lower-case word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    match BASES.get(word) {
        Some(base) if *base == word => word.to_owned(),
        Some(base) => ending_removed(base),
        None => ending_removed(word),
    }
}

fn ending_removed(word: &str) -> String {
    let singular = plural_removed(word);
    let plain = verb_form_removed(&singular);
    let plain = derived_removed(&plain);
    tail_normalised(plain)
}

fn plural_removed(word: &str) -> String {
    if word.len() > 4 && word.ends_with("ies") {
        return replaced(word, 3, "y");
    }
    if ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending)) && word.len() > 4 {
        return replaced(word, 2, "");
    }
    let keeps = ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    if word.len() > 3 && word.ends_with('s') && !keeps { replaced(word, 1, "") } else { word.to_owned() }
}

fn verb_form_removed(word: &str) -> String {
    if word.len() > 4 && word.ends_with("ied") {
        return replaced(word, 3, "y");
    }
    for ending in ["ing", "ed"] {
        if let Some(base) = word.strip_suffix(ending)
            && base.len() >= 2
            && has_vowel(base)
            && !base.ends_with("eth")
        {
            return if is_short(base) { format!("{base}e") } else { base.to_owned() };
        }
    }
    word.to_owned()
}

/// One vowel between single consonants, as in "mov" or "scor": the stem keeps or regains its "e".
fn is_short(word: &str) -> bool {
    let vowel = |byte: &u8| b"aeiou".contains(byte);
    let bytes = word.as_bytes();
    let [.., before, middle, last] = bytes else { return false };
    let one_vowel = bytes.iter().filter(|byte| vowel(byte)).count() == 1;
    one_vowel && !vowel(before) && vowel(middle) && !vowel(last) && !b"wxy".contains(last)
}

fn derived_removed(word: &str) -> String {
    for (ending, least) in [("ness", 7), ("ly", 6), ("ion", 8)] {
        if let Some(base) = word.strip_suffix(ending)
            && word.len() >= least
            && (ending != "ion" || base.ends_with('t') || base.ends_with('s'))
        {
            return base.to_owned();
        }
    }
    word.to_owned()
}

fn tail_normalised(mut word: String) -> String {
    if word.len() > 3 && word.strip_suffix('e').is_some_and(|base| !is_short(base)) {
        word.pop();
    }
    let mut tail = word.bytes().rev();
    let (last, before) = (tail.next(), tail.next());
    if word.len() > 3 && last == before && last.is_some_and(|byte| !b"aeiou".contains(&byte)) {
        word.pop();
    }
    if word.len() > 2 && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    word
}

fn has_vowel(word: &str) -> bool {
    word.bytes().any(|byte| b"aeiouy".contains(&byte))
}

fn replaced(word: &str, cut: usize, ending: &str) -> String {
    let kept = word.get(..word.len().saturating_sub(cut)).unwrap_or(word);
    format!("{kept}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for forms in [
            &["move", "moved", "moves", "moving"][..],
            &["lose", "lost", "losing", "loss"],
            &["create", "creates", "creating", "creation"],
            &["control", "controls", "controlled", "controlling"],
            &["roll", "rolls", "rolled", "rolling"],
            &["try", "tries", "tried", "trying"],
            &["city", "cities"],
            &["wound", "wounds", "wounded"],
            &["note", "notes", "noted", "noting"],
            &["plan", "plans", "planned", "planning"],
            &["score", "scores", "scored", "scoring"],
            &["charge", "charges", "charged", "charging"],
            &["update", "updates", "updated", "updating"],
            &["pass", "passes", "passed"],
            &["die", "died", "dying", "dead"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{forms:?} -> {stems:?}");
        }
    }

    #[test]
    fn different_words_keep_different_stems() {
        for (one, other) in [
            ("note", "not"),
            ("plane", "plan"),
            ("wine", "win"),
            ("movement", "move"),
            ("news", "new"),
            ("player", "play"),
            ("mission", "miss"),
            ("bus", "but"),
        ] {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
    }
}
