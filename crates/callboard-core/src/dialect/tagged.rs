//! Calls whose parameters are written as tags, in the spelling of any family.
//!
//! Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>`; MiniMax M2 and DSML:
//! `<invoke name="…"><parameter name="…">…`; GLM: pairs of key and value. Every tag may be
//! missing, and a value may hold the very tags that close it: a tag closes only where what follows
//! it makes sense. Text outside of all parameters is lost; the contract asks for it again.

use super::input::{Decision, Found, Input, PrefixMatch, leading, skip_whitespace, trimmed_length};
use super::marked_json::JsonArguments;
use super::markup_reader::MarkupReader;
use super::piece::TextCall;
use super::tag_key::{bare, read_key};
use super::tag_values::TagValues;
use super::tool_names::{bare_name, is_name};

/// How a family spells its tags.
#[derive(Debug)]
pub(super) struct Spelling {
    /// Opens a call; the name is between it and the next `>`.
    pub(super) function: &'static str,
    pub(super) function_end: &'static str,
    pub(super) parameter: &'static str,
    /// Separates a key from its value.
    pub(super) key_end: &'static str,
    /// Follows `key_end`, after whitespace.
    pub(super) value: &'static str,
    pub(super) parameter_end: &'static str,
    /// Closes what encloses a call.
    pub(super) outer_end: &'static str,
    /// What can follow a whole call.
    pub(super) outside: &'static [&'static str],
}

/// The part of a call being read.
#[derive(Debug)]
enum TagState {
    Head,
    Between,
    Value {
        start: usize,
        closed_at: Option<usize>,
    },
    /// Text outside of any parameter began at `start`.
    Stray {
        start: usize,
    },
}

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Tagged {
    spelling: &'static Spelling,
    name: String,
    values: TagValues,
    /// The end of the name, and whether markup preceded the call.
    head_end: usize,
    opened: bool,
    at: usize,
    state: TagState,
}

impl Tagged {
    /// A call whose function tag begins at `at`.
    pub(super) fn new(spelling: &'static Spelling, at: usize) -> Self {
        let (name, values) = (String::new(), TagValues::default());
        Self { spelling, name, values, head_end: at, opened: at > 0, at, state: TagState::Head }
    }

    /// A call whose name, which may be missing, ends at `at`.
    pub(super) fn named(spelling: &'static Spelling, name: String, at: usize) -> Self {
        Self { name, state: TagState::Between, ..Self::new(spelling, at) }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> Decision {
        loop {
            let step = match self.state {
                TagState::Head => self.read_head(input),
                TagState::Between => self.read_between(input),
                TagState::Value { start, closed_at } => self.read_value(input, start, closed_at),
                TagState::Stray { start } => self.read_stray(input, start),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn read_head(&mut self, input: &Input<'_>) -> Option<Decision> {
        let start = self.at + self.spelling.function.len();
        match input.begins(start, self.spelling.function) {
            PrefixMatch::Yes if self.at == self.head_end => {
                self.at = start;
                return None;
            }
            PrefixMatch::Partial if self.at == self.head_end => return Some(Decision::Wait),
            _ => {}
        }
        match read_key(input, start, ">", "") {
            Found::Partial if input.complete() => Some(self.end_in_head(input, start)),
            Found::Partial => Some(Decision::Wait),
            Found::Whole(key) if is_name(key.text) => {
                self.name = bare_name(key.text).to_owned();
                (self.at, self.head_end, self.state) = (key.end, key.end, TagState::Between);
                None
            }
            Found::Whole(_) | Found::None => self.read_unclosed_head(input, start),
        }
    }

    /// The `>` that ends the function's tag may be missing, if the name is on offer and a line or tag ends it; so may
    /// the name, if markup precedes the call.
    fn read_unclosed_head(&mut self, input: &Input<'_>, start: usize) -> Option<Decision> {
        let rest = input.from(start);
        let written = leading(rest, |character| !matches!(character, '<' | '>' | '\n'));
        let name = bare_name(written.trim_matches(['"', '\'', ' ']));
        let missing = name.is_empty() && self.is_opened(input);
        if !missing && !input.tools.offer(name) {
            return Some(Decision::Text);
        }
        let end = start + written.len() + usize::from(input.from(start + written.len()).starts_with('>'));
        self.name = name.to_owned();
        (self.at, self.head_end, self.state) = (end, end, TagState::Between);
        None
    }

    fn is_opened(&self, input: &Input<'_>) -> bool {
        self.opened || input.context.after_markup
    }

    /// The answer ends within the name.
    fn end_in_head(&mut self, input: &Input<'_>, start: usize) -> Decision {
        let name = input.from(start).trim_matches(['"', '\'', ' ', '\n']);
        let begun = is_name(name) && input.context.line_start || name.is_empty() && self.is_opened(input);
        if !begun {
            return Decision::Text;
        }
        self.name = bare_name(name).to_owned();
        self.finish(input.body.len())
    }

    fn read_between(&mut self, input: &Input<'_>) -> Option<Decision> {
        self.at = skip_whitespace(input.body, self.at);
        if input.ended() && self.tags().any(|tag| tag.starts_with(input.from(self.at))) {
            return Some(if input.complete() { self.finish(input.body.len()) } else { Decision::Wait });
        }
        if input.from(self.at).starts_with('{') && self.values.is_empty() {
            let arguments = JsonArguments::new(std::mem::take(&mut self.name), self.at, None);
            return Some(Decision::Become(MarkupReader::JsonArguments(arguments)));
        }
        let Spelling { function_end, parameter, parameter_end, outside, .. } = self.spelling;
        match (input.begins(self.at, function_end), input.begins(self.at, parameter)) {
            (PrefixMatch::Yes, _) => return Some(self.finish(self.at + function_end.len())),
            (_, PrefixMatch::Yes) => return self.read_parameter(input),
            (PrefixMatch::Partial, _) | (_, PrefixMatch::Partial) => return Some(Decision::Wait),
            (PrefixMatch::No, PrefixMatch::No) => {}
        }
        match (input.begins_any(self.at, outside), input.begins(self.at, parameter_end)) {
            (PrefixMatch::Yes, _) => Some(self.finish(trimmed_length(input.body, self.at))),
            (PrefixMatch::Partial, _) | (_, PrefixMatch::Partial) => Some(Decision::Wait),
            (PrefixMatch::No, _) if self.is_talked_about(input) => Some(Decision::Text),
            (PrefixMatch::No, _) => {
                self.state = TagState::Stray { start: self.at };
                None
            }
        }
    }

    /// Whether a sentence, not a call, continues behind the name.
    fn is_talked_about(&self, input: &Input<'_>) -> bool {
        let gap = input.between(self.head_end, self.at);
        let on_line = match input.from(self.at).chars().next() {
            Some('.' | ',' | ';' | ':') => true,
            Some(sign) => sign != '<' && !gap.is_empty() && !gap.contains('\n'),
            None => false,
        };
        self.values.is_empty() && (on_line || !self.is_opened(input) && !input.tools.offer(&self.name))
    }

    /// Text between parameters: a value whose opening tag is missing if a tag of the call follows, else the words behind
    /// a call that was not closed.
    fn read_stray(&mut self, input: &Input<'_>, start: usize) -> Option<Decision> {
        let Spelling { outside, parameter_end, .. } = self.spelling;
        let tags: Vec<&str> = self.tags().chain(outside.iter().copied()).collect();
        match input.find_any(&mut self.at, &tags) {
            PrefixMatch::Yes if self.is_outside(input) => Some(self.end_before(input, start)),
            PrefixMatch::Yes => {
                self.at = behind(input, self.at, parameter_end);
                self.state = TagState::Between;
                None
            }
            PrefixMatch::No if input.complete() => Some(self.end_before(input, start)),
            PrefixMatch::Partial | PrefixMatch::No => Some(Decision::Wait),
        }
    }

    /// Whether another call begins at the current position.
    fn is_outside(&self, input: &Input<'_>) -> bool {
        let rest = input.from(self.at);
        !rest.starts_with("</") && !rest.starts_with(self.spelling.parameter)
    }

    /// The call ends before the text at `start`, which is no part of it; a call without any parameter is none, unless
    /// its outer mark says so.
    fn end_before(&mut self, input: &Input<'_>, start: usize) -> Decision {
        match (self.values.is_empty(), self.is_opened(input)) {
            (false, _) => self.finish(trimmed_length(input.body, start)),
            (true, true) => self.finish(trimmed_length(input.body, self.at)),
            (true, false) => Decision::Text,
        }
    }

    fn read_parameter(&mut self, input: &Input<'_>) -> Option<Decision> {
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        match read_key(input, self.at + parameter.len(), key_end, value) {
            Found::Whole(key) if key.ends_answer => Some(self.break_off(input, key.text)),
            Found::Whole(key) => {
                self.values.open(key.text, key.is_json);
                (self.at, self.state) = (key.end, TagState::Value { start: key.end, closed_at: None });
                None
            }
            Found::Partial if input.complete() => Some(self.break_off(input, input.from(self.at + parameter.len()))),
            Found::Partial => Some(Decision::Wait),
            Found::None if self.values.is_empty() && !input.tools.offer(&self.name) => Some(Decision::Text),
            Found::None => {
                self.at += 1;
                self.state = TagState::Stray { start: self.at };
                None
            }
        }
    }

    /// The answer ends before the value of `key`: what the model meant is unknown, and has to be asked for.
    fn break_off(&mut self, input: &Input<'_>, key: &str) -> Decision {
        let arguments = self.values.broken_off(bare(key));
        Decision::call(input.body.len(), TextCall { name: std::mem::take(&mut self.name), arguments })
    }

    /// Looks at each `<` in the value until one ends it.
    fn read_value(&mut self, input: &Input<'_>, start: usize, mut closed_at: Option<usize>) -> Option<Decision> {
        while let Some(offset) = memchr::memchr(b'<', input.from(self.at).as_bytes()) {
            self.at += offset;
            match self.ends_value(input) {
                PrefixMatch::Yes => return self.take_value(input, start, self.at),
                PrefixMatch::Partial => {
                    self.state = TagState::Value { start, closed_at };
                    return Some(Decision::Wait);
                }
                PrefixMatch::No if input.from(self.at).starts_with(self.spelling.parameter_end) => {
                    closed_at = closed_at.or(Some(self.at));
                }
                PrefixMatch::No => {}
            }
            self.at += 1;
        }
        self.at = input.body.len();
        self.state = TagState::Value { start, closed_at };
        if !input.complete() {
            return Some(Decision::Wait);
        }
        self.take_value(input, start, closed_at.unwrap_or_else(|| self.without_half_tag(input)))
    }

    /// The end of the text, or the position of the tag that it breaks off in.
    fn without_half_tag(&self, input: &Input<'_>) -> usize {
        let last = memchr::memrchr(b'<', input.body.as_bytes()).unwrap_or(input.body.len());
        let half = self.tags().any(|tag| tag.starts_with(input.from(last)));
        if half { last } else { input.body.len() }
    }

    /// The tags that can follow a value.
    fn tags(&self) -> impl Iterator<Item = &'static str> {
        let Spelling { parameter, parameter_end, function_end, outer_end, .. } = self.spelling;
        [*parameter, *parameter_end, *function_end, *outer_end].into_iter()
    }

    fn take_value(&mut self, input: &Input<'_>, start: usize, end: usize) -> Option<Decision> {
        self.values.close(input.between(start, end));
        self.at = behind(input, end, self.spelling.parameter_end);
        self.state = TagState::Between;
        None
    }

    /// Whether the tag at the current position ends the value.
    fn ends_value(&self, input: &Input<'_>) -> PrefixMatch {
        let Spelling { parameter, parameter_end, function_end, outer_end, outside, .. } = self.spelling;
        let endings = [
            followed(input, self.at, parameter_end, &[parameter, function_end]),
            followed(input, self.at, parameter_end, outside),
            followed(input, self.at, function_end, outside),
            followed(input, self.at, outer_end, outside),
            self.opens_parameter(input),
        ];
        endings.into_iter().max().unwrap_or(PrefixMatch::No)
    }

    /// The next parameter on a line of its own ends a value whose closing tag is missing.
    fn opens_parameter(&self, input: &Input<'_>) -> PrefixMatch {
        if !input.between(0, self.at).ends_with('\n') {
            return PrefixMatch::No;
        }
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        match input.begins(self.at, parameter) {
            PrefixMatch::Yes => match read_key(input, self.at + parameter.len(), key_end, value) {
                Found::Whole(_) => PrefixMatch::Yes,
                Found::Partial if input.ended() => PrefixMatch::Yes,
                Found::Partial => PrefixMatch::Partial,
                Found::None => PrefixMatch::No,
            },
            other => other,
        }
    }

    fn finish(&mut self, length: usize) -> Decision {
        Decision::call(length, TextCall { name: std::mem::take(&mut self.name), arguments: self.values.arguments() })
    }
}

/// Whether `tag` is at `at`, once or twice, and one of `marks`, or the end of the text, behind it.
fn followed(input: &Input<'_>, at: usize, tag: &str, marks: &[&str]) -> PrefixMatch {
    match input.begins(at, tag) {
        PrefixMatch::Yes => {
            let after = skip_whitespace(input.body, behind(input, at, tag));
            let ended = after == input.body.len() && input.ended();
            match input.begins_any(after, marks) {
                _ if ended => PrefixMatch::Yes,
                PrefixMatch::No if input.begins(after, tag) == PrefixMatch::Partial => PrefixMatch::Partial,
                answer => answer,
            }
        }
        other => other,
    }
}

/// The position behind `tag`, which may be at `at` once, or twice by mistake.
fn behind(input: &Input<'_>, at: usize, tag: &str) -> usize {
    let step = |at: usize| if input.from(at).starts_with(tag) { at + tag.len() } else { at };
    let once = step(at);
    let next = skip_whitespace(input.body, once);
    if once > at && input.from(next).starts_with(tag) { step(next) } else { once }
}
