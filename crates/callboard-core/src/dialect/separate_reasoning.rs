//! Takes the reasoning out of a complete answer that is not streamed.

use super::reasoning_tags::NAMES;
use super::{TextEnd, TextPiece, TextReader};

/// An answer in two parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SeparatedAnswer {
    /// The text without its reasoning.
    pub answer: String,
    /// The reasoning.
    pub reasoning: String,
}

/// Separates reasoning and control tokens from an answer; none where it contains neither. Where only the closing tag is there,
/// because the prompt ended with the opening one, all text before it is reasoning.
#[must_use]
pub fn separate_reasoning(text: &str) -> Option<SeparatedAnswer> {
    let mut pieces = Vec::new();
    let mut reader = TextReader::new(&[]);
    if let Some(opening) = missing_opening(text) {
        reader.feed(opening, &mut pieces);
    }
    reader.feed(text, &mut pieces);
    reader.finish(TextEnd::Complete, &mut pieces);
    let mut separated = SeparatedAnswer::default();
    for piece in pieces {
        match piece {
            TextPiece::Text(text) => separated.answer.push_str(&text),
            TextPiece::Reasoning(text) => separated.reasoning.push_str(&text),
            TextPiece::Call(_) | TextPiece::CutOffCall => {}
        }
    }
    (separated.answer != text).then_some(separated)
}

/// An opening tag for reasoning of which only the closing one is there.
fn missing_opening(text: &str) -> Option<&'static str> {
    let is_missing = |opening: &str, closing: &str| {
        text.find(closing).is_some_and(|end| !text.get(..end).unwrap_or_default().contains(opening))
    };
    if is_missing("[THINK]", "[/THINK]") {
        return Some("[THINK]");
    }
    NAMES.iter().any(|name| is_missing(&format!("<{name}>"), &format!("</{name}>"))).then_some("<think>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_taken_out_wherever_its_tags_are() {
        for (text, expected) in [
            ("{\"a\": 1}", None),
            ("", None),
            ("<think>Hm.</think>\n\n{\"a\": 1}", Some(("Hm.", "{\"a\": 1}"))),
            ("Hm.\n</think>{\"a\": 1}", Some(("Hm.", "{\"a\": 1}"))),
            ("Hm.\n</thinking>{\"a\": 1}", Some(("Hm.", "{\"a\": 1}"))),
            ("<thinking>Hm.</thinking>{\"a\": 1}", Some(("Hm.", "{\"a\": 1}"))),
            ("[THINK]Hm.[/THINK]{\"a\": 1}", Some(("Hm.", "{\"a\": 1}"))),
            ("<think>Hm. I am not done", Some(("Hm. I am not done", ""))),
            ("{\"a\": 1}<|im_end|>", Some(("", "{\"a\": 1}"))),
        ] {
            let expected = expected.map(|(reasoning, answer)| (reasoning.to_owned(), answer.to_owned()));
            let separated = separate_reasoning(text).map(|separated| (separated.reasoning, separated.answer));
            assert_eq!(separated, expected, "{text}");
        }
    }
}
