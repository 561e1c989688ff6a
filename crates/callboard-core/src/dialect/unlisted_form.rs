//! A call in a form that no family has: the head announces it, the arguments are read as they are written.
//!
//! What is read without guessing is a call. What names a tool and begins like its arguments, but cannot be read, is passed on
//! unchanged as a call, for a re-ask. Everything else is text, as it came.

use super::active_reader::MarkupReader;
use super::bare_json::{BareJson, Closing, is_schema};
use super::call_words::{KeyRole, announces_call, key_role};
use super::dropped_tokens;
use super::fence::count_backticks;
use super::input::{Decision, Incomplete, Input, ReadResult, begins_any, skip, skip_whitespace, trimmed_length};
use super::json_call::{members, read_calls};
use super::json_scan::{Extent, ObjectScan};
use super::opening_marks;
use super::piece::{TextCall, TextEnd};
use super::pythonic;
use super::tag::Tag;
use super::tool_names::{is_distinctive, leading_name};
use super::unknown_form::unreadable_call;
use super::unlisted_head::{self, ArgumentForm, Beginning, Head};
use super::written_arguments::{from_attributes, from_elements, from_lines, from_object};

/// A text between tags that cannot be read is no longer than this.
const LONGEST_UNREADABLE: usize = 2000;

/// With these another call of gpt-oss begins, whose tokens are gone.
const HEADER_BEGINNINGS: [&str; 4] = ["commentary to=", "analysis to=", "assistant to=", "assistantcommentary to="];

/// One call, or a list of them, read as far as its text has arrived.
#[derive(Debug, Default)]
pub(super) struct UnlistedForm {
    /// The token that the text begins with is dropped if no call follows it.
    token: usize,
    /// The token is one of those that carry nothing themselves.
    special: bool,
    head: Option<Head>,
    scan: Option<ObjectScan>,
    /// The end of the last whole object.
    closed: Option<usize>,
    /// Everything before it has been searched for the end of the arguments.
    searched: usize,
    /// The end of the arguments.
    end: Option<usize>,
    calls: Vec<TextCall>,
    examined: usize,
}

impl UnlistedForm {
    /// A form that begins with a control token of this length, which may be a `special` one of a family.
    pub(super) fn with_token(length: usize, special: bool) -> Self {
        Self { token: length, special, ..Self::default() }
    }

    /// How many bytes have been read completely and are not retried.
    pub(super) fn examined(&self) -> usize {
        self.examined
    }

    pub(super) fn resumes_at(&self) -> usize {
        match (&self.head, self.end.or(self.closed), &self.scan) {
            (None, ..) => 0,
            (_, Some(end), _) => end,
            (_, _, Some(scan)) => scan.at(),
            _ => self.searched,
        }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        if self.head.is_none() {
            if input.context.indented() {
                return self.refuse(input, 0);
            }
            match unlisted_head::read(input) {
                Ok(Beginning::Call(head)) => (self.searched, self.head) = (head.at, Some(head)),
                Ok(Beginning::Markup(length)) => return Ok(Decision::Markup(length)),
                Ok(Beginning::Text(at)) => return self.refuse(input, at),
                Ok(Beginning::BrokenOff { of_call: true }) if input.end == Some(TextEnd::CutByLimit) => {
                    return Err(Incomplete);
                }
                Ok(Beginning::BrokenOff { .. }) => return self.refuse(input, input.body.len()),
                Err(Incomplete) => return Err(Incomplete),
            }
        }
        let Some(head) = self.head.clone() else { return Ok(Decision::Text) };
        if self.end.is_none() {
            let Some(end) = self.find_end(&head, input)? else { return self.refuse(input, self.searched) };
            let Some(calls) = read(&head, input, end) else {
                return self.refuse(input, end.max(self.searched));
            };
            (self.calls, self.end) = (calls, Some(end));
        }
        self.close(&head, input, self.end.unwrap_or_default())
    }

    /// The end of the arguments; none where the text is no call.
    fn find_end(&mut self, head: &Head, input: &Input<'_>) -> ReadResult<Option<usize>> {
        match head.form {
            ArgumentForm::Calls | ArgumentForm::Object | ArgumentForm::Python => self.find_end_of_object(head, input),
            ArgumentForm::Unreadable => match self.find_closing_tag(head, input) {
                Ok(found) => Ok(found.filter(|end| input.tools.are_meant_in(input.between(head.at, *end)))),
                Err(Incomplete) if self.searched > head.at + LONGEST_UNREADABLE || input.complete() => Ok(None),
                Err(Incomplete) if input.ended() && !input.tools.are_meant_in(input.from(head.at)) => Ok(None),
                Err(Incomplete) => Err(Incomplete),
            },
            ArgumentForm::Tags if is_empty_tag(input.from(head.at)) => Ok(Some(end_of_tag(input, head.at))),
            ArgumentForm::Tags | ArgumentForm::Lines if head.enclosing.is_some() => self.find_closing_tag(head, input),
            ArgumentForm::Tags => self.find_end_of_elements(input),
            ArgumentForm::Words => self.find_end_of_line(input),
            ArgumentForm::Lines => {
                let blank = memchr::memmem::find(input.from(self.searched).as_bytes(), b"\n\n");
                self.searched =
                    blank.map_or(input.body.len().saturating_sub(1).max(self.searched), |at| self.searched + at);
                match blank {
                    Some(_) => Ok(Some(self.searched)),
                    None if input.complete() => Ok(Some(input.body.len())),
                    None => Err(Incomplete),
                }
            }
        }
    }

    fn find_end_of_object(&mut self, head: &Head, input: &Input<'_>) -> ReadResult<Option<usize>> {
        loop {
            if self.closed.is_none() {
                let scan = self.scan.get_or_insert_with(|| ObjectScan::new(head.at));
                self.closed = match scan.advance(input.body, input.ended()) {
                    Extent::Closed(end) => Some(end),
                    Extent::BrokenOff(end) => return Ok(Some(end)),
                    Extent::Open if input.complete() => return Ok(Some(input.body.len())),
                    Extent::Open => return Err(Incomplete),
                };
            }
            let end = self.closed.unwrap_or_default();
            // Another object of the same list may follow.
            let next = skip(input.body, end, |between| between.is_ascii_whitespace() || matches!(between, ',' | ';'));
            match input.from(next).chars().next() {
                None if head.form == ArgumentForm::Calls && !input.ended() => return Err(Incomplete),
                Some('{') if head.form == ArgumentForm::Calls => {
                    (self.scan, self.closed) = (Some(ObjectScan::new(next)), None);
                }
                _ => return Ok(Some(end)),
            }
        }
    }

    /// The closing tag of the element that encloses the arguments; without it, the end of the answer.
    fn find_closing_tag(&mut self, head: &Head, input: &Input<'_>) -> ReadResult<Option<usize>> {
        let element = head.enclosing.as_deref().unwrap_or_default();
        while let Some(offset) = memchr::memchr(b'<', input.from(self.searched).as_bytes()) {
            self.searched += offset;
            if let Some(tag) = Tag::read(input.from(self.searched), input.ended())?
                && tag.closing
                && tag.element() == element
            {
                return Ok(Some(self.searched));
            }
            self.searched += 1;
        }
        self.searched = input.body.len();
        if input.complete() && is_naming_tag(head, input.from(head.at), input) {
            return Ok(Some(end_of_tag(input, head.at)));
        }
        let unclosed = input.complete() && head.form != ArgumentForm::Unreadable;
        if unclosed { Ok(Some(self.searched)) } else { Err(Incomplete) }
    }

    fn find_end_of_line(&mut self, input: &Input<'_>) -> ReadResult<Option<usize>> {
        match memchr::memchr(b'\n', input.from(self.searched).as_bytes()) {
            Some(length) => Ok(Some(self.searched + length)),
            None if input.complete() => Ok(Some(input.body.len())),
            None => Err(Incomplete),
        }
    }

    /// The end of elements that nothing encloses.
    fn find_end_of_elements(&mut self, input: &Input<'_>) -> ReadResult<Option<usize>> {
        loop {
            let at = skip_whitespace(input.body, self.searched);
            match input.from(at).chars().next() {
                Some('<') => {}
                None if !input.ended() => return Err(Incomplete),
                _ => return Ok(Some(self.searched)),
            }
            let Some(tag) = Tag::read(input.from(at), input.ended())? else { return Ok(Some(self.searched)) };
            if tag.closing || tag.is_token() {
                return Ok(Some(self.searched));
            }
            let mut closing = UnlistedForm { searched: at + tag.length, ..Self::default() };
            let head = Head::of_element(tag.element());
            let Some(end) = closing.find_closing_tag(&head, input)? else { return Ok(None) };
            self.searched = end + Tag::read(input.from(end), true).ok().flatten().map_or(0, |tag| tag.length);
        }
    }

    /// What follows the arguments closes the form, and decides whether a sentence is about it.
    fn close(&mut self, head: &Head, input: &Input<'_>, end: usize) -> ReadResult {
        let (closed, tags) = skip_closing(head, input, end)?;
        let length = trimmed_length(input.body, closed);
        let rest = input.from(length);
        let line = rest.trim_start_matches([' ', '\t', '\r']);
        let is_marked = head.marked || tags > 0;
        // An element may be named like a tool.
        let is_certain = head.announced || head.form == ArgumentForm::Calls || is_distinctive(&head.name);
        let open_fence = head.fenced && !input.between(end, closed).contains("```");
        let ends = match line.chars().next() {
            None if !input.ended() => return Err(Incomplete),
            Some(_) if open_fence => false,
            None => is_marked || input.end != Some(TextEnd::CallsBeside),
            Some('\n') if is_marked && input.context.line_start && is_certain => true,
            // Another sentence begins, and none goes on.
            Some(first) if tags > 0 && input.context.line_start && line.len() < rest.len() && first.is_uppercase() => {
                true
            }
            Some(_) => {
                let behind = input.from(skip_whitespace(input.body, length));
                if behind.is_empty() && !input.ended() {
                    return Err(Incomplete);
                }
                behind.is_empty()
                    || opening_marks::markup_begins(behind, input.ended())?
                    || is_form(behind, input)?
                    || head.announced && !is_marked && line.starts_with('\n')
            }
        };
        if !ends {
            return self.refuse(input, length.max(self.searched));
        }
        Ok(Decision::Calls { length, calls: std::mem::take(&mut self.calls), then: None })
    }

    /// Whether only markup, or nothing, is beside the token.
    fn is_alone(&self, input: &Input<'_>) -> ReadResult<bool> {
        let behind = input.from(skip_whitespace(input.body, self.token));
        Ok(input.context.after_markup || behind.is_empty() || opening_marks::markup_begins(behind, input.ended())?)
    }

    /// Whether the text begins with a token, which may have another one to close it.
    pub(super) fn is_marked(&self) -> bool {
        self.token > 0
    }

    /// The text is no call up to `at`.
    fn refuse(&mut self, input: &Input<'_>, at: usize) -> ReadResult {
        let body = input.body;
        if self.token > 0 && (self.special || self.is_alone(input)?) {
            return dropped_tokens::drop(input, body.get(..self.token).unwrap_or_default(), self.token);
        }
        if body.starts_with('[') && input.context.line_start && input.without_mark {
            return Ok(Decision::Become(MarkupReader::BareJson(BareJson::new(0, Closing::EndOfAnswer))));
        }
        let cut_within = input.end == Some(TextEnd::CutByLimit) && self.head.is_some() && self.end.is_none();
        if cut_within {
            return Err(Incomplete);
        }
        self.examined = at.min(body.len());
        Ok(Decision::Text)
    }
}

/// Whether another call in such a form begins.
fn is_form(text: &str, input: &Input<'_>) -> ReadResult<bool> {
    if !text.starts_with(['<', '[']) {
        return begins_any(text, &HEADER_BEGINNINGS, input.ended());
    }
    let tag = Tag::read(text, input.ended())?;
    Ok(tag.is_some_and(|tag| announces_call(tag.name()) || tag.words().any(|word| input.tools.resolve(word).is_some())))
}

fn is_empty_tag(text: &str) -> bool {
    Tag::read(text, true).ok().flatten().is_some_and(|tag| tag.empty)
}

fn end_of_tag(input: &Input<'_>, at: usize) -> usize {
    at + Tag::read(input.from(at), true).ok().flatten().map_or(0, |tag| tag.length)
}

/// Skips what closes a form: brackets, the end of a fence, closing tags and tokens. Returns how many tags there were.
fn skip_closing(head: &Head, input: &Input<'_>, end: usize) -> ReadResult<(usize, usize)> {
    let (mut at, mut tags) = (end, 0);
    loop {
        let next = skip_whitespace(input.body, at);
        let rest = input.from(next);
        match rest.chars().next() {
            None if !input.ended() => return Err(Incomplete),
            Some(']' | ')' | '}' | ';') => at = next + 1,
            Some('#') => match rest.split_once('\n') {
                None if !input.ended() => return Err(Incomplete),
                line if is_end_line(line.map_or(rest, |(line, _)| line)) => {
                    (at, tags) = (next + line.map_or(rest.len(), |(line, _)| line.len()), tags + 1);
                }
                _ => return Ok((at, tags)),
            },
            Some('`') if count_backticks(rest) == rest.len() && !input.ended() => return Err(Incomplete),
            Some('`') if count_backticks(rest) >= 3 && opens_fence(head, input) => at = next + count_backticks(rest),
            Some('<' | '[') => match Tag::read(rest, input.ended())? {
                Some(tag) if tag.closing || is_end_token(&tag) => (at, tags) = (next + tag.length, tags + 1),
                _ => return Ok((at, tags)),
            },
            _ => return Ok((at, tags)),
        }
    }
}

fn opens_fence(head: &Head, input: &Input<'_>) -> bool {
    input.between(0, head.at).contains("```")
}

/// Whether a heading ends a call: `### TOOL_CALL_END ###`.
fn is_end_line(line: &str) -> bool {
    announces_call(line)
        && line.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("end"))
}

/// Whether a token or bracket ends something.
fn is_end_token(tag: &Tag<'_>) -> bool {
    let ends = tag.name().split(|letter: char| !letter.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("end"));
    ends && (tag.barred || tag.bracket || announces_call(tag.name()))
}

/// The calls that end at `end`; none where they are not meant for a tool on offer.
fn read(head: &Head, input: &Input<'_>, end: usize) -> Option<Vec<TextCall>> {
    let text = input.between(head.at, end);
    let (name, tools) = (head.name.as_str(), input.tools);
    let arguments = match head.form {
        ArgumentForm::Calls => return read_list(head, text, input),
        ArgumentForm::Unreadable => return Some(vec![unreadable_call(None, text.trim_ascii(), input)]),
        ArgumentForm::Object => {
            let object = from_object(text, name, tools).trim_ascii_end();
            let keys = members(object);
            let fits = tools.fit(name, keys.iter().map(|(key, _)| key.as_str()));
            return ((fits || is_distinctive(name) || head.announced) && !is_schema(name, object, tools))
                .then(|| vec![TextCall::new(name, object)]);
        }
        ArgumentForm::Python => {
            let inside = text.strip_prefix('(').and_then(|inside| inside.strip_suffix(')'));
            match inside.and_then(pythonic::read_arguments) {
                Some(arguments) => Some(arguments),
                None => return Some(vec![TextCall::new(name, text.trim_ascii())]),
            }
        }
        // Attributes, and no other content.
        ArgumentForm::Tags if is_naming_tag(head, text, input) => {
            let content = text.get(end_of_tag(input, head.at) - head.at..).unwrap_or_default();
            from_attributes(text, name, tools).filter(|_| content.trim_ascii().is_empty())
        }
        ArgumentForm::Tags => from_elements(text, name, tools),
        ArgumentForm::Lines => from_lines(text),
        ArgumentForm::Words => return Some(vec![TextCall::new(name, text.trim_ascii())]),
    };
    let Some(arguments) = arguments else {
        let is_meant = head.marked && (head.announced || is_distinctive(name));
        return is_meant.then(|| vec![TextCall::new(name, text.trim_ascii())]);
    };
    let keys = members(&arguments);
    if tools.fit(name, keys.iter().map(|(key, _)| key.as_str())) {
        return Some(vec![TextCall::new(name, &arguments)]);
    }
    // An element that may hold arguments holds something else.
    let unread = head.announced && keys.iter().any(|(key, _)| key_role(key) == Some(KeyRole::Arguments));
    unread.then(|| vec![TextCall::new(name, text.trim_ascii())])
}

/// Whether `text` begins with the tag that names the tool.
fn is_naming_tag(head: &Head, text: &str, input: &Input<'_>) -> bool {
    let tag = Tag::read(text, true).ok().flatten();
    tag.is_some_and(|tag| tag.words().any(|word| input.tools.resolve(word) == Some(head.name.as_str())))
}

/// Objects with names and arguments. All must be calls of tools on offer, unless the form announces calls.
fn read_list(head: &Head, text: &str, input: &Input<'_>) -> Option<Vec<TextCall>> {
    let mut calls = Vec::new();
    for object in super::json_call::elements(text) {
        for call in read_calls(object, input.tools) {
            call.arguments.as_ref()?;
            let call = call.into_call()?;
            match input.tools.resolve(&call.name) {
                Some(name) if is_schema(name, &call.arguments, input.tools) => return None,
                Some(name) => calls.push(TextCall::new(name, &call.arguments)),
                None if head.announced && head.marked && leading_name(&call.name) == call.name => calls.push(call),
                None => return None,
            }
        }
    }
    (!calls.is_empty()).then_some(calls)
}
