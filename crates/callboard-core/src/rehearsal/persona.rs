//! Who a system prompt says that the model is, in the first person: "You are Ada, a guide" gives "I am Ada".
//!
//! Only the opening words that name the role are read; what the prompt says about it is for a real model.

const LONGEST: usize = 100;

/// How prompts open, how the answer opens, and the greeting in that language.
const OPENINGS: &[(&str, &str, &str)] = &[
    ("You are ", "I am ", "Hello"),
    ("You're ", "I am ", "Hello"),
    ("Tu es ", "Je suis ", "Bonjour"),
    ("Vous êtes ", "Je suis ", "Bonjour"),
];

/// A role of the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Persona {
    /// "I am Ada".
    pub(super) introduction: String,
    /// "Hello".
    pub(super) greeting: &'static str,
}

/// The first role that the prompt names.
pub(super) fn persona_of(system: &str) -> Option<Persona> {
    let text = system.split_whitespace().collect::<Vec<_>>().join(" ");
    let opened = |(opening, own, greeting): &(&str, &'static str, &'static str)| {
        let at = text.match_indices(opening).map(|(at, _)| at).find(|at| begins_sentence(&text, *at))?;
        Some((at, text.get(at + opening.len()..)?, *own, *greeting))
    };
    let (_, rest, own, greeting) = OPENINGS.iter().filter_map(opened).min_by_key(|(at, ..)| *at)?;
    let role = role_in(rest);
    (!role.is_empty()).then(|| Persona { introduction: format!("{own}{role}"), greeting })
}

fn begins_sentence(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.is_empty() || before.trim_end().ends_with(['.', '!', '?', ':']))
}

/// The words up to the end of the phrase, with the listener's words for the speaker's.
fn role_in(rest: &str) -> String {
    const ENDS: &[&str] =
        &[",", ".", ":", ";", "!", "?", " (", " who ", " that ", " which ", " and you ", " qui ", " et tu "];
    let end = ENDS.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    let role = rest.get(..end).unwrap_or_default().replace(" your ", " my ").replace(" you ", " I ");
    if role.len() > LONGEST { String::new() } else { role.trim().to_owned() }
}

/// Whether a message only greets.
pub(super) fn is_greeting(message: &str) -> bool {
    const GREETINGS: &[&str] =
        &["hello", "hi", "hey", "hiya", "greetings", "bonjour", "salut", "bonsoir", "coucou", "allo", "hallo"];
    const DAYTIMES: &[&str] = &["morning", "afternoon", "evening", "day"];
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["good", time, rest @ ..] => DAYTIMES.contains(time) && rest.len() <= 2,
        [first, rest @ ..] => GREETINGS.contains(first) && rest.len() <= 2,
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_of_a_prompt_is_taken_over() {
        for (system, expected) in [
            ("\nYou are Gertrude, eighty-one, a retired nurse.", Some("I am Gertrude")),
            (
                "You are the DJ of a small\nlate-night show. You are warm.",
                Some("I am the DJ of a small late-night show"),
            ),
            ("Tu es développeuse dans une petite équipe, et", Some("Je suis développeuse dans une petite équipe")),
            ("Keep score. You are the referee who decides.", Some("I am the referee")),
            ("You are the guide of your guests.", Some("I am the guide of my guests")),
            ("When you are asked, answer.", None),
            ("", None),
        ] {
            let found = persona_of(system).map(|persona| persona.introduction);
            assert_eq!(found.as_deref(), expected, "{system}");
        }
    }

    #[test]
    fn greetings_are_told_from_requests() {
        for (message, greets) in [
            ("Hello", true),
            ("hi there!", true),
            ("Good morning, Dev", true),
            ("Bonjour !", true),
            ("Hello, add three eggs to the list", false),
            ("good luck", false),
            ("", false),
        ] {
            assert_eq!(is_greeting(message), greets, "{message}");
        }
    }
}
