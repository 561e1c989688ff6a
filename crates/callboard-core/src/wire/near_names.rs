//! Unknown names in errors, with the known ones that are nearest.

use std::collections::HashSet;

use strsim::damerau_levenshtein;

/// Longer names are cut in errors, and near no other.
const LONGEST: usize = 128;
/// The most near names in an error.
const MOST_NEAR: usize = 3;
/// The most known names in an error. Some servers list hundreds.
const MOST_KNOWN: usize = 20;

/// That there is no such name, which ones are near, and which ones there are.
pub(super) fn unknown_name(what: &str, unknown: &str, known: &[String]) -> String {
    let mut seen = HashSet::with_capacity(known.len());
    let known: Vec<&str> = known.iter().map(String::as_str).filter(|name| seen.insert(*name)).collect();
    message(what, unknown, &known)
}

fn message(what: &str, unknown: &str, known: &[&str]) -> String {
    let shown = unknown.get(..unknown.floor_char_boundary(LONGEST)).unwrap_or_default();
    let near = near_names(unknown, known);
    let hint = match near.as_slice() {
        [] => String::new(),
        [one] => format!("; did you mean {one:?}?"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|name| format!("{name:?}")).collect();
            format!("; did you mean {} or {last:?}?", first.join(", "))
        }
    };
    let there_are = if hint.is_empty() { "; there are" } else { " There are" };
    format!("{what} {shown:?} does not exist{hint}{there_are}: {}", list(known))
}

fn list(known: &[&str]) -> String {
    match known.get(..MOST_KNOWN) {
        Some(shown) if shown.len() < known.len() => {
            format!("{} and {} more", shown.join(", "), known.len() - shown.len())
        }
        _ if known.is_empty() => "none".to_owned(),
        _ => known.join(", "),
    }
}

/// The known names that may have been meant, the nearest first.
fn near_names<'a>(unknown: &str, known: &[&'a str]) -> Vec<&'a str> {
    if unknown.len() > LONGEST {
        return Vec::new();
    }
    let unknown = unknown.to_lowercase();
    let short = known.iter().filter(|name| name.len() <= LONGEST);
    let near = short.filter_map(|name| distance(&unknown, &name.to_lowercase()).map(|far| (far, *name)));
    let mut near: Vec<(usize, &str)> = near.collect();
    near.sort_by_key(|(far, _)| *far);
    near.into_iter().take(MOST_NEAR).map(|(_, name)| name).collect()
}

/// How far a name is from a known one: zero where one is a part of the other, as `qwen3` is of `qwen3:8b` and of `org/Qwen3-8B`; at most one
/// letter in three may differ.
fn distance(unknown: &str, name: &str) -> Option<usize> {
    let least = unknown.len().min(name.len());
    if least >= 3 && (name.contains(unknown) || unknown.contains(name)) {
        return Some(0);
    }
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let far = damerau_levenshtein(unknown, name).min(damerau_levenshtein(&last(unknown), &last(name)));
    (far <= unknown.chars().count().max(name.chars().count()) / 3).then_some(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first() {
        let known = ["narrator", "qwen3:8b", "org/Llama-3.1-8B-Instruct", "llama3.1", "m"];
        for (unknown, near) in [
            ("narator", &["narrator"][..]),
            ("Qwen3", &["qwen3:8b"]),
            ("llama-3.1-8b-instruct", &["org/Llama-3.1-8B-Instruct"]),
            ("llama3", &["llama3.1"]),
            ("gpt-4o", &[]),
            ("x", &[]),
            ("", &[]),
        ] {
            assert_eq!(near_names(unknown, &known), near, "{unknown}");
        }
    }

    #[test]
    fn the_message_stays_short() {
        let known: Vec<String> = (0..300).chain(0..300).map(|number| format!("model-{number}")).collect();
        let message = unknown_name("the model", "mode-7", &known);
        assert!(message.starts_with("the model \"mode-7\" does not exist; did you mean \"model-7\""), "{message}");
        assert!(message.ends_with("model-19 and 280 more") && message.len() < 400, "{message}");
        let long = unknown_name("the model", &"x".repeat(1_000_000), &known);
        assert!(long.len() < 400, "{long}");
        assert_eq!(unknown_name("the model", "x", &[]), "the model \"x\" does not exist; there are: none");
        let one = unknown_name("the model", "abd", &["abc".to_owned()]);
        assert_eq!(one, "the model \"abd\" does not exist; did you mean \"abc\"? There are: abc");
    }
}
