//! Words in the head of a call in a form that no family has: keywords before the name, labels behind it.

use super::call_words::{KeyRole, announces_arguments, announces_call, key_role};
use super::input::{Incomplete, ReadResult, leading};
use super::tool_names::{NAMESPACE, bare_name};
use super::unlisted_head::{ArgumentForm, HeadScan, LONGEST_WORD, Step};

/// What precedes the name of a tool that a message is addressed to.
pub(super) const ADDRESS: &str = "to=";

/// A plain value between tags, before the name.
const LONGEST_VALUE: usize = 64;
/// Keywords before a name, or between a name and its arguments.
const MOST_WORDS: usize = 4;

impl<'a> HeadScan<'a> {
    pub(super) fn word(&mut self, rest: &'a str) -> ReadResult<Step> {
        let word = leading(rest, is_word_character);
        if word.len() > LONGEST_WORD {
            return Ok(Step::Refused);
        }
        if self.name.is_some() {
            return self.word_behind_name(rest, word);
        }
        let is_whole = word.len() < rest.len() || self.input.ended();
        if !is_whole {
            return if !self.is_first() || self.may_begin(word) { Err(Incomplete) } else { Ok(Step::Refused) };
        }
        if self.is_first() && !self.may_begin(word) {
            return Ok(Step::Refused);
        }
        let behind = rest.get(word.len()..).unwrap_or_default();
        if self.input.between(0, self.at).ends_with(ADDRESS) && word.starts_with(NAMESPACE) {
            self.name = Some(self.input.tools.resolve(word).unwrap_or(bare_name(word)).to_owned());
            return self.pass(word.len());
        }
        if let Some(name) = self.input.tools.resolve(word) {
            self.name = Some(name.to_owned());
            let number = leading(behind.strip_prefix(':').unwrap_or_default(), |character| character.is_ascii_digit());
            return self.pass(word.len() + if number.is_empty() { 0 } else { number.len() + 1 });
        }
        if word == "to" && behind.starts_with('=') && self.keywords < MOST_WORDS {
            self.announced = true;
            self.keywords += 1;
            return self.pass(word.len() + 1);
        }
        self.keyword(word, behind)
    }

    /// A word before the name: a keyword, a function that takes the call, or a value of another tag.
    fn keyword(&mut self, word: &str, behind: &str) -> ReadResult<Step> {
        let announces = announces_call(word);
        let is_key = self.announced && key_role(word) == Some(KeyRole::Name);
        if (announces || is_key || is_header(word)) && self.keywords < MOST_WORDS {
            let next = behind.trim_start_matches([' ', '\t']);
            let Some(first) = next.chars().next() else {
                return if self.input.ended() { Ok(Step::Refused) } else { Err(Incomplete) };
            };
            let spaced = next.len() < behind.len();
            let goes_on = matches!(first, ':' | '[' | '{' | '<' | '\n' | '#' | '✿' | '"')
                || first == '(' && !spaced
                || spaced && (first.is_alphabetic() || first == '`');
            if goes_on {
                self.announced |= announces;
                self.keywords += 1;
                return self.pass(word.len() + usize::from(first == '('));
            }
        }
        if behind.starts_with('(') && (self.outer.is_some() || self.announced) && self.keywords < MOST_WORDS {
            self.keywords += 1;
            return self.pass(word.len() + 1);
        }
        self.value_of_tag()
    }

    /// Between the second tag and its end, inside of a tag that announces a call, there may be a plain value.
    fn value_of_tag(&mut self) -> ReadResult<Step> {
        let rest = self.input.from(self.at);
        if self.open < 2 || !self.announced {
            return Ok(Step::Refused);
        }
        let value = leading(rest, |character| !matches!(character, '<' | '\n' | '{' | '['));
        if value.len() > LONGEST_VALUE {
            return Ok(Step::Refused);
        }
        match rest.get(value.len()..).and_then(|behind| behind.chars().next()) {
            None => Err(Incomplete),
            Some('<') => self.pass(value.len()),
            Some(_) => Ok(Step::Refused),
        }
    }

    /// A word between the name and its arguments, or the first key of lines.
    fn word_behind_name(&mut self, rest: &str, word: &str) -> ReadResult<Step> {
        let behind = rest.get(word.len()..).unwrap_or_default().trim_start_matches([' ', '\t']);
        if behind.is_empty() && !self.input.ended() {
            return Err(Incomplete);
        }
        let name = self.name.as_deref().unwrap_or_default();
        let introduced = self.announced || self.outer.is_some_and(|tag| !tag.bracket);
        if introduced && behind.starts_with([':', '=']) && self.input.tools.takes(name, word) {
            return Ok(Step::Found(if self.bracketed { ArgumentForm::Words } else { ArgumentForm::Lines }));
        }
        let introduces = self.input.between(0, self.at).trim_ascii_end().ends_with("Input:");
        if self.announced && introduces && self.labels > 0 {
            return Ok(Step::Found(ArgumentForm::Words));
        }
        if (announces_arguments(word) || announces_call(word)) && self.labels < MOST_WORDS {
            self.labels += 1;
            return self.pass(word.len());
        }
        let unknown = introduced && behind.starts_with([':', '=']) && self.input.tools.may_take(name, word);
        Ok(if unknown { Step::Found(ArgumentForm::Lines) } else { Step::Refused })
    }

    /// Whether a line may begin with this word, or with one that it grows into.
    pub(super) fn may_begin(&self, word: &str) -> bool {
        begins_keyword(word) || self.input.tools.may_resolve(word)
    }

    /// Signs before a keyword: `**Tool call:**`, `"tool_calls":`.
    pub(super) fn decoration(&mut self, rest: &'a str) -> ReadResult<Step> {
        let bare = undecorated(rest);
        match bare.chars().next() {
            None => Err(Incomplete),
            Some(_) if is_decoration(rest) => Err(Incomplete),
            Some(first) if first.is_alphabetic() || first == '_' => {
                self.at = rest.len() - bare.len();
                self.word(bare)
            }
            Some(_) => Ok(Step::Refused),
        }
    }
}

pub(super) fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/')
}

/// The words of a header that may be left of gpt-oss's tokens.
const HEADERS: [&str; 5] = ["commentary", "analysis", "assistant", "assistantcommentary", "final"];

fn is_header(word: &str) -> bool {
    HEADERS.contains(&word)
}

/// Beginnings of the words with which a line may begin that announces a call.
const KEYWORDS: [&str; 8] = ["func", "tool", "call", "action", "plugin", "api", "invo", "to="];

/// What may precede a keyword, or a name, on its line; the longer ones first.
const DECORATIONS: [&str; 11] = ["**", "*", "\"", "@", "### ", "## ", "# ", "###", "!", ">>>", "✿"];

/// Beginnings of them that are none themselves.
const HALF_DECORATIONS: [&str; 4] = ["##", "#", ">>", ">"];

/// Whether a text is only a decoration, or the beginning of one.
pub(super) fn is_decoration(text: &str) -> bool {
    DECORATIONS.contains(&text) || HALF_DECORATIONS.contains(&text)
}

/// A text without the signs that may precede a keyword on its line.
pub(super) fn undecorated(text: &str) -> &str {
    let bare = DECORATIONS.iter().find_map(|sign| text.strip_prefix(sign));
    bare.unwrap_or(text)
}

/// Whether a line that begins with `beginning` may announce a call.
pub(super) fn begins_keyword(beginning: &str) -> bool {
    let starts = |known: &str| {
        let compared = known.len().min(beginning.len());
        known
            .as_bytes()
            .get(..compared)
            .zip(beginning.as_bytes().get(..compared))
            .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    KEYWORDS.into_iter().any(starts) || HEADERS.iter().any(|known| known.starts_with(beginning))
}
