//! The beginning of a call in a form that no family has: tags, tokens, brackets and keywords in any order, then the name of a
//! tool on offer, then what begins its arguments; or an object that holds both.
//!
//! A head is refused as soon as something else follows: words that are no keyword, a tag that cannot announce a call, a name
//! with nothing behind it that could be arguments.

use super::begins_json_call::begins_call;
use super::call_words::{announces_call, lists_tools};
use super::fence::count_backticks;
use super::input::{Incomplete, Input, ReadResult, leading, skip, skip_whitespace};
use super::tag::Tag;
use super::tool_names::is_distinctive;
use super::unlisted_words::is_word_character;

/// A longer beginning is text.
const LONGEST: usize = 1024;
/// No name or keyword is longer.
pub(super) const LONGEST_WORD: usize = 128;
/// Tags before the arguments.
const MOST_TAGS: usize = 6;

/// How the arguments are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentForm {
    /// Objects, or a list of them, that hold names and arguments.
    Calls,
    Object,
    /// Keyword arguments in parentheses.
    Python,
    /// Elements, or attributes of the tag that names the tool.
    Tags,
    /// Lines of keys and values.
    Lines,
    /// Plain words, which are no arguments.
    Words,
    /// Nothing that can be read.
    Unreadable,
}

/// The beginning of a call.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) form: ArgumentForm,
    /// The arguments begin here.
    pub(super) at: usize,
    /// The name of the tag that encloses the arguments, if any.
    pub(super) enclosing: Option<String>,
    /// A tag, token or bracket opens the call.
    pub(super) marked: bool,
    /// A fence encloses all of it.
    pub(super) fenced: bool,
    /// A word of the head announces a call.
    pub(super) announced: bool,
}

impl Head {
    /// An element alone.
    pub(super) fn of_element(element: &str) -> Self {
        Self {
            name: String::new(),
            form: ArgumentForm::Tags,
            at: 0,
            enclosing: Some(element.to_owned()),
            marked: false,
            fenced: false,
            announced: false,
        }
    }
}

/// What a text begins with.
#[derive(Debug)]
pub(super) enum Beginning {
    Call(Head),
    /// A tag that only encloses the mark of a family, or closes what a call opened, of this length.
    Markup(usize),
    /// Text, which is not searched again up to here.
    Text(usize),
    /// The text has ended within a head, perhaps of a call.
    BrokenOff {
        of_call: bool,
    },
}

/// What an item of a head leads to.
pub(super) enum Step {
    Next,
    Found(ArgumentForm),
    /// Markup that carries nothing ends here.
    Markup,
    Refused,
}

/// A head, read as far as this.
pub(super) struct HeadScan<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) at: usize,
    pub(super) name: Option<String>,
    pub(super) outer: Option<Tag<'a>>,
    pub(super) naming: Option<Tag<'a>>,
    pub(super) open: usize,
    pub(super) tags: usize,
    pub(super) keywords: usize,
    pub(super) labels: usize,
    pub(super) bracketed: bool,
    pub(super) fenced: bool,
    pub(super) announced: bool,
}

/// Reads the head that the text begins with.
pub(super) fn read(input: &Input<'_>) -> ReadResult<Beginning> {
    let mut scan = HeadScan {
        input,
        at: 0,
        name: None,
        outer: None,
        naming: None,
        open: 0,
        tags: 0,
        keywords: 0,
        labels: 0,
        bracketed: false,
        fenced: false,
        announced: false,
    };
    loop {
        if scan.at > LONGEST {
            return Ok(Beginning::Text(scan.at));
        }
        let step = match scan.step() {
            Err(Incomplete) if input.ended() => return Ok(Beginning::BrokenOff { of_call: scan.is_of_call() }),
            step => step?,
        };
        match step {
            Step::Next => {}
            Step::Found(form) => return Ok(Beginning::Call(scan.into_head(form))),
            Step::Markup => return Ok(Beginning::Markup(scan.at)),
            Step::Refused if scan.is_unreadable() => {
                scan.at = scan.outer.map_or(0, |tag| tag.length);
                return Ok(Beginning::Call(scan.into_head(ArgumentForm::Unreadable)));
            }
            Step::Refused => return Ok(Beginning::Text(scan.at)),
        }
    }
}

impl<'a> HeadScan<'a> {
    fn into_head(self, form: ArgumentForm) -> Head {
        let enclosing = self.naming.or(self.outer).filter(|tag| !tag.bracket);
        Head {
            name: self.name.unwrap_or_default(),
            form,
            at: self.at,
            enclosing: enclosing.map(|tag| tag.element().to_owned()),
            marked: self.outer.is_some() || self.bracketed || self.fenced,
            fenced: self.fenced,
            announced: self.announced,
        }
    }

    /// Whether what has been read can only be a call.
    fn is_of_call(&self) -> bool {
        let rest = self.input.from(self.at);
        let begun = self.name.is_some() || rest.starts_with('{') && rest.len() > 1;
        begun && (self.outer.is_some() || self.announced)
    }

    fn step(&mut self) -> ReadResult<Step> {
        self.at = skip_whitespace(self.input.body, self.at);
        let rest = self.input.from(self.at);
        let Some(first) = rest.chars().next() else { return Err(Incomplete) };
        match first {
            '<' | '[' if self.tags == MOST_TAGS => Ok(Step::Refused),
            '<' => self.tag(rest),
            '[' => self.bracket(rest),
            '{' => self.object(rest),
            '(' if self.name.is_some() => self.parenthesis(rest),
            '`' => self.backticks(rest),
            ':' | '=' | ',' if self.may_separate() => self.separator(rest),
            '"' | '\'' | '*' | '#' | '✿' if self.may_separate() => self.pass(first.len_utf8()),
            '"' | '*' | '@' | '#' | '!' | '>' | '✿' if self.at == 0 => self.decoration(rest),
            '"' | '\'' if self.outer.is_some() => self.pass(1),
            _ if first.is_alphabetic() || first == '_' => self.word(rest),
            _ => Ok(Step::Refused),
        }
    }

    /// Whether nothing but decoration precedes this position.
    pub(super) fn is_first(&self) -> bool {
        self.outer.is_none() && self.name.is_none() && self.keywords == 0 && !self.bracketed && !self.fenced
    }

    pub(super) fn may_separate(&self) -> bool {
        self.name.is_some() || self.keywords > 0
    }

    /// One sign between words; two are an operator.
    fn separator(&mut self, rest: &str) -> ReadResult<Step> {
        let is_key =
            self.outer.is_none() && !self.announced && self.name.as_deref().is_some_and(|name| !is_distinctive(name));
        match rest.chars().nth(1) {
            _ if is_key => Ok(Step::Refused),
            None => Err(Incomplete),
            Some(':' | '=' | '>' | ',' | '-') => Ok(Step::Refused),
            Some(_) => self.pass(1),
        }
    }

    pub(super) fn pass(&mut self, length: usize) -> ReadResult<Step> {
        self.at += length;
        Ok(Step::Next)
    }

    fn object(&mut self, rest: &str) -> ReadResult<Step> {
        if let Some(name) = &self.name {
            let inside = rest.get(1..).unwrap_or_default().trim_ascii_start();
            let key = leading(inside, is_word_character);
            let behind = inside.get(key.len()..).unwrap_or_default().trim_ascii_start();
            return match (inside.chars().next(), behind.chars().next()) {
                (None, _) | (_, None) if key.len() < LONGEST_WORD => Err(Incomplete),
                (Some('"' | '\'' | '}'), _) => Ok(Step::Found(ArgumentForm::Object)),
                (_, Some(':')) if self.input.tools.may_take(name, key) => Ok(Step::Found(ArgumentForm::Object)),
                _ => Ok(Step::Refused),
            };
        }
        // A tag that announces calls may hold one of a tool that is not on offer.
        let any = self.outer.is_some_and(|tag| announces_call(tag.name()) && !lists_tools(tag.name()));
        let is_call = begins_call(rest, self.input.tools, any)?;
        Ok(if is_call { Step::Found(ArgumentForm::Calls) } else { Step::Refused })
    }

    /// An object, keyword arguments, or nothing.
    fn parenthesis(&mut self, rest: &str) -> ReadResult<Step> {
        let inside = rest.get(1..).unwrap_or_default().trim_ascii_start();
        let Some(first) = inside.chars().next() else { return Err(Incomplete) };
        if first == '{' {
            self.at += rest.len() - inside.len();
            return Ok(Step::Found(ArgumentForm::Object));
        }
        let key = leading(inside, is_word_character);
        let behind = inside.get(key.len()..).unwrap_or_default().trim_ascii_start();
        match behind.chars().next() {
            None if key.len() < LONGEST_WORD => Err(Incomplete),
            Some('=') if !key.is_empty() && !behind.starts_with("==") => Ok(Step::Found(ArgumentForm::Python)),
            Some('"' | '\'') if key.is_empty() && self.announced => Ok(Step::Found(ArgumentForm::Python)),
            _ if self.outer.is_some() && self.announced => Ok(Step::Found(ArgumentForm::Python)),
            _ => Ok(Step::Refused),
        }
    }

    /// A fence inside of the form.
    fn backticks(&mut self, rest: &str) -> ReadResult<Step> {
        let count = count_backticks(rest);
        if count == rest.len() && !self.input.ended() {
            return Err(Incomplete);
        }
        if self.at == 0 {
            return self.fence(rest, count);
        }
        match count {
            1 if self.keywords > 0 => self.pass(1),
            3.. if self.name.is_some() || self.outer.is_some() || self.announced => {
                let info = skip(rest, count, |character| character.is_ascii_alphanumeric() || character == '_');
                if info == rest.len() { Err(Incomplete) } else { self.pass(info) }
            }
            _ => Ok(Step::Refused),
        }
    }

    /// A fence whose word announces a call, or is the name of a tool.
    fn fence(&mut self, rest: &str, count: usize) -> ReadResult<Step> {
        let info = leading(rest.get(count..).unwrap_or_default(), is_word_character);
        self.announced = announces_call(info);
        self.name = self.input.tools.resolve(info).map(str::to_owned);
        self.fenced = true;
        if self.announced || self.name.is_some() { self.pass(count + info.len()) } else { Ok(Step::Refused) }
    }

    /// Whether a tag that announces a call, on its own line, holds a text that is no sentence about it.
    fn is_unreadable(&self) -> bool {
        let Some(tag) = self.outer else { return false };
        let behind = self.input.from(tag.length);
        let sentence = behind.starts_with([' ', '\t', '.', ',', ')', '"', '\'']);
        announces_call(tag.name())
            && !lists_tools(tag.name())
            && !tag.barred
            && !tag.bracket
            && !tag.empty
            && self.input.context.line_start
            && !sentence
    }
}
