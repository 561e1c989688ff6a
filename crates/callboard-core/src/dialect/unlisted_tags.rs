//! Tags, tokens and words in brackets in the head of a call in a form that no family has.

use super::active_reader::MarkupReader;
use super::bar_tokens;
use super::call_words::announces_call;
use super::input::{Incomplete, ReadResult, leading, skip_whitespace};
use super::opening_marks::{self, MarkMatch, MarkRole, MarkSearch};
use super::tag::{Tag, may_be_tag};
use super::tool_names::is_distinctive;
use super::unlisted_head::{ArgumentForm, HeadScan, Step};
use super::unlisted_words::is_word_character;

impl<'a> HeadScan<'a> {
    pub(super) fn tag(&mut self, rest: &'a str) -> ReadResult<Step> {
        self.tags += 1;
        if self.at > 0 {
            let known = if Tag::read(rest, self.input.ended())?.is_some_and(|tag| !tag.barred) && rest.starts_with("<|")
            {
                None
            } else {
                self.known_mark(rest)?
            };
            match known {
                Some(Step::Next) | None => {}
                Some(step) => return Ok(step),
            }
        }
        if self.at == 0 && !self.input.context.line_start && !may_be_tag(rest) {
            return Ok(Step::Refused);
        }
        let Some(tag) = Tag::read(rest, self.input.ended())? else {
            return if self.at > 0 && Tag::breaks_off(rest) { Err(Incomplete) } else { Ok(Step::Refused) };
        };
        if tag.closing {
            return self.closing_tag(&tag);
        }
        if self.name.is_some() {
            return self.tag_behind_name(rest, &tag);
        }
        self.take_tag(tag)
    }

    fn closing_tag(&mut self, tag: &Tag<'a>) -> ReadResult<Step> {
        if self.at == 0 && self.input.context.after_markup && announces_call(tag.name()) {
            self.at = tag.length;
            return Ok(Step::Markup);
        }
        let is_last = self.open <= 1 && (self.announced || self.naming.is_some()) && !tag.element().ends_with("name");
        match &self.name {
            Some(name)
                if is_last
                    && self.input.tools.fit(name, [].into_iter())
                    && (self.announced || is_distinctive(name)) =>
            {
                Ok(Step::Found(ArgumentForm::Tags))
            }
            None if self.open <= 1 => Ok(Step::Refused),
            _ => {
                self.open = self.open.saturating_sub(1);
                self.pass(tag.length)
            }
        }
    }

    /// A tag before the name, which may itself name the tool.
    fn take_tag(&mut self, tag: Tag<'a>) -> ReadResult<Step> {
        let announces = announces_call(tag.name());
        if self.at == 0 && !self.input.context.line_start && !(announces || tag.barred || self.named_by(&tag).is_some())
        {
            return Ok(Step::Refused);
        }
        self.announced |= announces;
        self.outer = self.outer.or(Some(tag));
        self.open += usize::from(!tag.empty);
        if let Some(name) = self.named_by(&tag) {
            let fits = |(key, _): &(&str, &str)| self.input.tools.takes(&name, key);
            let has_arguments = tag.attributes().iter().any(fits);
            (self.name, self.naming) = (Some(name), Some(tag));
            if has_arguments || tag.empty {
                return Ok(Step::Found(ArgumentForm::Tags));
            }
        }
        if tag.empty { Ok(Step::Refused) } else { self.pass(tag.length) }
    }

    /// The only tool that a word of the tag names.
    fn named_by(&self, tag: &Tag<'_>) -> Option<String> {
        let mut names = tag.words().filter_map(|word| self.input.tools.resolve(word));
        let name = names.next()?;
        names.all(|other| other == name).then(|| name.to_owned())
    }

    /// A tag behind the name is a parameter, or encloses all arguments.
    fn tag_behind_name(&mut self, rest: &'a str, tag: &Tag<'a>) -> ReadResult<Step> {
        let name = self.name.as_deref().unwrap_or_default();
        let behind = self.input.from(skip_whitespace(self.input.body, self.at + tag.length)).chars().next();
        let is_parameter = self.input.tools.takes(name, tag.element());
        match behind {
            None if !self.input.ended() => Err(Incomplete),
            Some('{' | '`') if !is_parameter => {
                self.open += usize::from(!rest.starts_with("<|"));
                self.pass(tag.length)
            }
            _ if tag.is_token() => self.pass(tag.length),
            _ if self.outer.is_some() || self.keywords > 0 || is_parameter => Ok(Step::Found(ArgumentForm::Tags)),
            _ => Ok(Step::Refused),
        }
    }

    /// The mark of a family, or a token that encloses calls.
    fn known_mark(&self, rest: &str) -> ReadResult<Option<Step>> {
        let search = MarkSearch { ended: self.input.ended(), with_tools: true, after_markup: false };
        let MarkMatch::Whole(MarkupReader::Marked(kind, _)) = opening_marks::find(rest, search)? else {
            return Ok(None);
        };
        if kind.role == MarkRole::Token && Tag::read(rest, self.input.ended())?.is_none() {
            return Ok(None);
        }
        let opens = kind.opens_call() || kind.role == MarkRole::Token && bar_tokens::opens_call(rest);
        Ok(match kind.role {
            MarkRole::Token if self.name.is_some() || !opens => None,
            MarkRole::CallPart => None,
            _ if opens && self.name.is_none() && self.announced => Some(Step::Markup),
            _ if opens && self.name.is_none() && self.outer.is_some_and(|tag| tag.barred) => Some(Step::Markup),
            MarkRole::Call | MarkRole::Group if self.outer.is_some() => None,
            _ => Some(Step::Refused),
        })
    }

    pub(super) fn bracket(&mut self, rest: &'a str) -> ReadResult<Step> {
        self.tags += 1;
        let inside = rest.get(1..).unwrap_or_default().trim_ascii_start();
        match inside.chars().next() {
            None => return Err(Incomplete),
            Some('{' | '[') if self.at > 0 => return self.pass(1),
            Some(_) if self.at == 0 && !self.may_announce(inside) => return Ok(Step::Refused),
            Some(_) => {}
        }
        let tag = Tag::read(rest, self.input.ended())?;
        if let Some(tag) = &tag {
            match rest.get(tag.length..).and_then(|behind| behind.chars().next()) {
                None => return Err(Incomplete),
                // A link.
                Some('(') if self.name.is_none() && !announces_call(tag.name()) => return Ok(Step::Refused),
                Some(_) => {}
            }
        }
        match tag {
            Some(tag) if tag.closing && self.name.is_none() => Ok(Step::Refused),
            Some(tag) if self.name.is_some() => self.pass(tag.length),
            Some(tag)
                if self.named_by(&tag).is_some() && (tag.words().nth(1).is_none() || announces_call(tag.name())) =>
            {
                self.announced |= announces_call(tag.name());
                (self.name, self.outer) = (self.named_by(&tag), self.outer.or(Some(tag)));
                self.pass(tag.length)
            }
            Some(tag) if announces_call(tag.name()) => {
                (self.announced, self.outer) = (true, self.outer.or(Some(tag)));
                self.pass(tag.length)
            }
            Some(_) => Ok(Step::Refused),
            None if self.name.is_none() && inside.starts_with(|first: char| first.is_alphabetic() || first == '_') => {
                // A list of calls without a mark has its own reader.
                let name = leading(inside, is_word_character);
                let behind = inside.get(name.len()..).and_then(|behind| behind.chars().next());
                if self.at == 0 && behind == Some('(') {
                    return Ok(Step::Refused);
                }
                self.bracketed = true;
                self.pass(1)
            }
            None => Ok(Step::Refused),
        }
    }

    /// Whether a text in brackets may begin with a keyword or a name.
    fn may_announce(&self, inside: &str) -> bool {
        let word = leading(inside, is_word_character);
        let is_token = !word.is_empty() && !word.contains(|letter: char| letter.is_lowercase() || letter.is_numeric());
        is_token || !word.is_empty() && self.may_begin(word)
    }
}
