//! Numbers in names: "squad one" and "Squad 1" are the same, "Squad 1" and "Squad 2" never are.

use super::words::Word;

/// The index of a word is its value.
const CARDINALS: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen \
                         seventeen eighteen nineteen twenty";
const ORDINALS: &str = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth";
/// The index is the value; `i`, `v` and `x` are omitted because they are more often letters.
const ROMAN: &str = "- - ii iii iv - vi vii viii ix - xi xii";
/// The index of a word is a tenth of its value.
const TENS: &str = "- - twenty thirty forty fifty sixty seventy eighty ninety hundred";

/// Homophones of numbers; they count as numbers only at the end of a name.
const SOUND_ALIKE: &[(&str, u32)] = &[("won", 1), ("to", 2), ("too", 2), ("for", 4), ("fore", 4), ("ate", 8)];

/// The value of a number in digits, as a word, as an ordinal or in Roman numerals.
pub(super) fn value_of(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    match digits.parse() {
        Ok(number) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(number),
        _ => [CARDINALS, ORDINALS, ROMAN]
            .iter()
            .find_map(|list| place_in(list, word))
            .or_else(|| Some(place_in(TENS, word)? * 10)),
    }
}

fn place_in(list: &str, word: &str) -> Option<u32> {
    list.split(' ').zip(0..).find(|(text, _)| *text == word).map(|(_, place)| place)
}

/// The number that the last word sounds like.
pub(super) fn sounds_like(word: &str) -> Option<u32> {
    SOUND_ALIKE.iter().find(|(text, _)| *text == word).map(|(_, number)| *number)
}

/// "twenty" "one" becomes one word that means 21, "two" "hundred" one that means 200.
pub(super) fn join(words: &mut Vec<Word>) {
    let mut place = 1;
    while place < words.len() {
        match joined(words.get(place - 1), words.get(place)) {
            Some(number) => drop(words.splice(place - 1..=place, [Word::new(number.to_string(), false)])),
            None => place += 1,
        }
    }
}

fn joined(before: Option<&Word>, after: Option<&Word>) -> Option<u32> {
    let (before, after) = (before?, after?);
    let (many, few) = (before.number?, after.number?);
    let is_spelt = |word: &Word| word.text.bytes().all(|b| b.is_ascii_lowercase());
    match after.text.as_str() {
        "hundred" if (1..=9).contains(&many) => Some(many * 100),
        _ if is_spelt(before)
            && is_spelt(after)
            && many % 10 == 0
            && (20..=90).contains(&many)
            && (1..=9).contains(&few) =>
        {
            Some(many + few)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words_of;

    #[test]
    fn numbers_are_read_in_every_spelling() {
        let table: [(&str, &[Option<u32>]); 9] = [
            ("squad one", &[None, Some(1)]),
            ("Squad 1", &[None, Some(1)]),
            ("1st squad", &[Some(1), None]),
            ("second squad", &[Some(2), None]),
            ("Mark III", &[None, Some(3)]),
            ("platform twenty one", &[None, Some(21)]),
            ("twenty twenty", &[Some(20), Some(20)]),
            ("room two hundred", &[None, Some(200)]),
            ("99999999999 x1", &[None, None]),
        ];
        for (text, expected) in table {
            let numbers: Vec<_> = words_of(text, 24).into_iter().map(|word| word.number).collect();
            assert_eq!(numbers, expected, "{text}");
        }
    }
}
