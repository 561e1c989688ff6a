//! Bipartite matching of made calls with expected calls.

/// True when each `left` item can be paired with a different `right` item.
pub(super) fn all_get_a_partner(left: usize, right: usize, fits: impl Fn(usize, usize) -> bool) -> bool {
    let mut taken_by = vec![None; right];
    (0..left).all(|one| find_partner(one, &fits, &mut taken_by, &mut vec![false; right]))
}

/// Finds an augmenting path from this item.
fn find_partner(
    one: usize,
    fits: &impl Fn(usize, usize) -> bool,
    taken_by: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for partner in 0..taken_by.len() {
        if tried[partner] || !fits(one, partner) {
            continue;
        }
        tried[partner] = true;
        if taken_by[partner].is_none_or(|holder| find_partner(holder, fits, taken_by, tried)) {
            taken_by[partner] = Some(one);
            return true;
        }
    }
    false
}

/// True when all made calls are expected and all expected calls that are not optional are made, in any order.
pub(super) fn match_in_any_order(optional: &[bool], made: usize, fits: impl Fn(usize, usize) -> bool) -> bool {
    let required: Vec<usize> = (0..optional.len()).filter(|place| !optional[*place]).collect();
    // A matching of all made calls and one of all required calls can always be combined into one of both.
    all_get_a_partner(made, optional.len(), |made, expected| fits(expected, made))
        && all_get_a_partner(required.len(), made, |one, made| fits(required[one], made))
}

/// The same, with the calls in the expected order.
pub(super) fn match_in_order(optional: &[bool], made: usize, fits: &impl Fn(usize, usize) -> bool) -> bool {
    let [earlier @ .., may_be_missing] = optional else { return made == 0 };
    *may_be_missing && match_in_order(earlier, made, fits)
        || made > 0 && fits(earlier.len(), made - 1) && match_in_order(earlier, made - 1, fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected calls are letters, with `?` behind one that may be missing; `*` is met by any call.
    fn pairs(expected: &str, made: &str) -> (bool, bool) {
        let mut letters = Vec::new();
        for letter in expected.chars() {
            match (letter, letters.last_mut()) {
                ('?', Some((_, optional))) => *optional = true,
                _ => letters.push((letter, false)),
            }
        }
        let made: Vec<char> = made.chars().collect();
        let optional: Vec<bool> = letters.iter().map(|(_, optional)| *optional).collect();
        let fits = |expected: usize, place: usize| {
            let (letter, made) = (letters[expected].0, made[place]);
            letter == made || letter == '*'
        };
        (match_in_any_order(&optional, made.len(), fits), match_in_order(&optional, made.len(), &fits))
    }

    #[test]
    fn calls_are_matched() {
        let table = [
            ("", "", (true, true)),
            ("", "a", (false, false)),
            ("a", "", (false, false)),
            ("ab", "ab", (true, true)),
            ("ab", "ba", (true, false)),
            ("ab", "aab", (false, false)),
            ("aab", "aab", (true, true)),
            ("ab?", "a", (true, true)),
            ("a?b", "b", (true, true)),
            ("ab?", "ba", (true, false)),
            ("a?", "aa", (false, false)),
            ("*a", "ab", (true, false)),
            ("*a", "ba", (true, true)),
            ("*?a?b", "ab", (true, true)),
        ];
        for (expected, made, result) in table {
            assert_eq!(pairs(expected, made), result, "{expected} {made}");
        }
    }
}
