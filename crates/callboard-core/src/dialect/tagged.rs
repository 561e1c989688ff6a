//! Calls whose parameters are written as tags, in the spelling of any family.
//!
//! Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>`; MiniMax M2 and DSML:
//! `<invoke name="…"><parameter name="…">…`; GLM: pairs of key and value. Every tag may be
//! missing, and a value may hold the very tags that close it: a tag closes only where what follows
//! it makes sense. What stands outside of all parameters is lost: the contract asks again for what it was.

use super::capture::Capture;
use super::objects::JsonArguments;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace, trimmed_length};
use super::tag_key::{Key, bare, read_key};
use super::tag_values::TagValues;
use super::tool_names::{bare_name, is_name};

/// How a family spells its tags.
#[derive(Debug)]
pub(super) struct Spelling {
    /// Opens a call; the name stands between it and the next `>`.
    pub(super) function: &'static str,
    pub(super) function_end: &'static str,
    pub(super) parameter: &'static str,
    /// Stands between a key and its value.
    pub(super) key_end: &'static str,
    /// Stands behind `key_end`, after whitespace.
    pub(super) value: &'static str,
    pub(super) parameter_end: &'static str,
    /// Closes what stands around a call.
    pub(super) outer_end: &'static str,
    /// What can follow a whole call.
    pub(super) outside: &'static [&'static str],
}

#[derive(Debug)]
enum Place {
    Head,
    Between,
    Value {
        start: usize,
        closed_at: Option<usize>,
    },
    /// Text that is no parameter's began at `start`.
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
    /// The end of the name, and whether markup stood before the call.
    head_end: usize,
    opened: bool,
    at: usize,
    place: Place,
}

impl Tagged {
    /// A call whose function tag begins at `at`.
    pub(super) fn new(spelling: &'static Spelling, at: usize) -> Self {
        let (name, values) = (String::new(), TagValues::default());
        Self { spelling, name, values, head_end: at, opened: at > 0, at, place: Place::Head }
    }

    /// A call whose name, which may be missing, ends at `at`.
    pub(super) fn named(spelling: &'static Spelling, name: String, at: usize) -> Self {
        Self { name, place: Place::Between, ..Self::new(spelling, at) }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        loop {
            let step = match self.place {
                Place::Head => self.read_head(sight),
                Place::Between => self.read_between(sight),
                Place::Value { start, closed_at } => self.read_value(sight, start, closed_at),
                Place::Stray { start } => self.read_stray(sight, start),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn read_head(&mut self, sight: &Sight<'_>) -> Option<Step> {
        let start = self.at + self.spelling.function.len();
        match sight.begins(start, self.spelling.function) {
            Begins::Yes if self.at == self.head_end => {
                self.at = start;
                return None;
            }
            Begins::Perhaps if self.at == self.head_end => return Some(Step::Wait),
            _ => {}
        }
        match read_key(sight, start, ">", "") {
            Key::Wait if sight.complete() => Some(self.end_in_head(sight, start)),
            Key::Wait => Some(Step::Wait),
            Key::Read(key) if is_name(key.text) => {
                self.name = bare_name(key.text).to_owned();
                (self.at, self.head_end, self.place) = (key.end, key.end, Place::Between);
                None
            }
            Key::Read(_) | Key::None => self.read_unclosed_head(sight, start),
        }
    }

    /// The sign that ends the function's tag may be missing, if the name is on offer and a line or tag ends it; so may
    /// the name, if markup stands before the call.
    fn read_unclosed_head(&mut self, sight: &Sight<'_>, start: usize) -> Option<Step> {
        let rest = sight.from(start);
        let written = rest.get(..rest.find(['<', '>', '\n']).unwrap_or(rest.len())).unwrap_or_default();
        let name = bare_name(written.trim_matches(['"', '\'', ' ']));
        let missing = name.is_empty() && self.is_opened(sight);
        if !missing && !sight.tools.offer(name) {
            return Some(Step::Text);
        }
        let end = start + written.len() + usize::from(sight.from(start + written.len()).starts_with('>'));
        self.name = name.to_owned();
        (self.at, self.head_end, self.place) = (end, end, Place::Between);
        None
    }

    fn is_opened(&self, sight: &Sight<'_>) -> bool {
        self.opened || sight.surroundings.after_markup()
    }

    /// The answer ends within the name.
    fn end_in_head(&mut self, sight: &Sight<'_>, start: usize) -> Step {
        let name = sight.from(start).trim_matches(['"', '\'', ' ', '\n']);
        let begun = is_name(name) && sight.surroundings.line_start() || name.is_empty() && self.is_opened(sight);
        if !begun {
            return Step::Text;
        }
        self.name = bare_name(name).to_owned();
        self.finish(sight.body.len())
    }

    fn read_between(&mut self, sight: &Sight<'_>) -> Option<Step> {
        self.at = skip_whitespace(sight.body, self.at);
        if sight.ended() && self.tags().any(|tag| tag.starts_with(sight.from(self.at))) {
            return Some(if sight.complete() { self.finish(sight.body.len()) } else { Step::Wait });
        }
        if sight.from(self.at).starts_with('{') && self.values.is_empty() {
            let arguments = JsonArguments::new(std::mem::take(&mut self.name), self.at, None);
            return Some(Step::Become(Capture::JsonArguments(arguments)));
        }
        let Spelling { function_end, parameter, parameter_end, outside, .. } = self.spelling;
        match (sight.begins(self.at, function_end), sight.begins(self.at, parameter)) {
            (Begins::Yes, _) => return Some(self.finish(self.at + function_end.len())),
            (_, Begins::Yes) => return self.read_parameter(sight),
            (Begins::Perhaps, _) | (_, Begins::Perhaps) => return Some(Step::Wait),
            (Begins::No, Begins::No) => {}
        }
        match (sight.begins_any(self.at, outside), sight.begins(self.at, parameter_end)) {
            (Begins::Yes, _) => Some(self.finish(trimmed_length(sight.body, self.at))),
            (Begins::Perhaps, _) | (_, Begins::Perhaps) => Some(Step::Wait),
            (Begins::No, _) if self.is_talked_about(sight) => Some(Step::Text),
            (Begins::No, _) => {
                self.place = Place::Stray { start: self.at };
                None
            }
        }
    }

    /// Whether a sentence, not a call, goes on behind the name.
    fn is_talked_about(&self, sight: &Sight<'_>) -> bool {
        let gap = sight.body.get(self.head_end..self.at).unwrap_or_default();
        let on_line = match sight.from(self.at).chars().next() {
            Some('.' | ',' | ';' | ':') => true,
            Some(sign) => sign != '<' && !gap.is_empty() && !gap.contains('\n'),
            None => false,
        };
        self.values.is_empty() && (on_line || !self.is_opened(sight) && !sight.tools.offer(&self.name))
    }

    /// Text between parameters: a value whose opening tag is missing if a tag of the call follows, else the words behind
    /// a call that was not closed.
    fn read_stray(&mut self, sight: &Sight<'_>, start: usize) -> Option<Step> {
        let Spelling { outside, parameter_end, .. } = self.spelling;
        while let Some(offset) = memchr::memchr(b'<', sight.from(self.at).as_bytes()) {
            self.at += offset;
            let tags: Vec<&str> = self.tags().chain(outside.iter().copied()).collect();
            match sight.begins_any(self.at, &tags) {
                Begins::Perhaps => return Some(Step::Wait),
                Begins::No => self.at += 1,
                Begins::Yes if self.is_outside(sight) => return Some(self.end_before(sight, start)),
                Begins::Yes => {
                    self.at = behind(sight, self.at, parameter_end);
                    self.place = Place::Between;
                    return None;
                }
            }
        }
        self.at = sight.body.len();
        Some(if sight.complete() { self.end_before(sight, start) } else { Step::Wait })
    }

    /// Whether another call begins at the current place.
    fn is_outside(&self, sight: &Sight<'_>) -> bool {
        let rest = sight.from(self.at);
        !rest.starts_with("</") && !rest.starts_with(self.spelling.parameter)
    }

    /// The call ends before the text at `start`, which is no part of it; a call without any parameter is none, unless
    /// its outer mark says so.
    fn end_before(&mut self, sight: &Sight<'_>, start: usize) -> Step {
        match (self.values.is_empty(), self.is_opened(sight)) {
            (false, _) => self.finish(trimmed_length(sight.body, start)),
            (true, true) => self.finish(trimmed_length(sight.body, self.at)),
            (true, false) => Step::Text,
        }
    }

    fn read_parameter(&mut self, sight: &Sight<'_>) -> Option<Step> {
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        match read_key(sight, self.at + parameter.len(), key_end, value) {
            Key::Read(key) if key.ends_answer => Some(self.break_off(sight, key.text)),
            Key::Read(key) => {
                self.values.open(key.text, key.is_json);
                (self.at, self.place) = (key.end, Place::Value { start: key.end, closed_at: None });
                None
            }
            Key::Wait if sight.complete() => Some(self.break_off(sight, sight.from(self.at + parameter.len()))),
            Key::Wait => Some(Step::Wait),
            Key::None if self.values.is_empty() && !sight.tools.offer(&self.name) => Some(Step::Text),
            Key::None => {
                self.at += 1;
                self.place = Place::Stray { start: self.at };
                None
            }
        }
    }

    /// The answer ends before the value of `key`: what the model meant cannot be told, and has to be asked for.
    fn break_off(&mut self, sight: &Sight<'_>, key: &str) -> Step {
        let arguments = self.values.broken_off(bare(key));
        Step::call(sight.body.len(), TextCall { name: std::mem::take(&mut self.name), arguments })
    }

    /// Looks at each `<` in the value until one ends it.
    fn read_value(&mut self, sight: &Sight<'_>, start: usize, mut closed_at: Option<usize>) -> Option<Step> {
        while let Some(offset) = memchr::memchr(b'<', sight.from(self.at).as_bytes()) {
            self.at += offset;
            match self.ends_value(sight) {
                Begins::Yes => return self.take_value(sight, start, self.at),
                Begins::Perhaps => {
                    self.place = Place::Value { start, closed_at };
                    return Some(Step::Wait);
                }
                Begins::No if sight.from(self.at).starts_with(self.spelling.parameter_end) => {
                    closed_at = closed_at.or(Some(self.at));
                }
                Begins::No => {}
            }
            self.at += 1;
        }
        self.at = sight.body.len();
        self.place = Place::Value { start, closed_at };
        if !sight.complete() {
            return Some(Step::Wait);
        }
        self.take_value(sight, start, closed_at.unwrap_or_else(|| self.without_half_tag(sight)))
    }

    /// The end of the text, or the place of the tag that it breaks off in.
    fn without_half_tag(&self, sight: &Sight<'_>) -> usize {
        let last = memchr::memrchr(b'<', sight.body.as_bytes()).unwrap_or(sight.body.len());
        let half = self.tags().any(|tag| tag.starts_with(sight.from(last)));
        if half { last } else { sight.body.len() }
    }

    /// The tags that can stand behind a value.
    fn tags(&self) -> impl Iterator<Item = &'static str> {
        let Spelling { parameter, parameter_end, function_end, outer_end, .. } = self.spelling;
        [*parameter, *parameter_end, *function_end, *outer_end].into_iter()
    }

    fn take_value(&mut self, sight: &Sight<'_>, start: usize, end: usize) -> Option<Step> {
        self.values.close(sight.body.get(start..end).unwrap_or_default());
        self.at = behind(sight, end, self.spelling.parameter_end);
        self.place = Place::Between;
        None
    }

    /// Whether the tag at the current place ends the value.
    fn ends_value(&self, sight: &Sight<'_>) -> Begins {
        let Spelling { parameter, parameter_end, function_end, outer_end, outside, .. } = self.spelling;
        let endings = [
            followed(sight, self.at, parameter_end, &[parameter, function_end]),
            followed(sight, self.at, parameter_end, outside),
            followed(sight, self.at, function_end, outside),
            followed(sight, self.at, outer_end, outside),
            self.opens_parameter(sight),
        ];
        if endings.contains(&Begins::Yes) {
            Begins::Yes
        } else if endings.contains(&Begins::Perhaps) {
            Begins::Perhaps
        } else {
            Begins::No
        }
    }

    /// The next parameter on a line of its own ends a value whose closing tag is missing.
    fn opens_parameter(&self, sight: &Sight<'_>) -> Begins {
        if !sight.body.get(..self.at).unwrap_or_default().ends_with('\n') {
            return Begins::No;
        }
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        match sight.begins(self.at, parameter) {
            Begins::Yes => match read_key(sight, self.at + parameter.len(), key_end, value) {
                Key::Read(_) => Begins::Yes,
                Key::Wait if sight.ended() => Begins::Yes,
                Key::Wait => Begins::Perhaps,
                Key::None => Begins::No,
            },
            other => other,
        }
    }

    fn finish(&mut self, length: usize) -> Step {
        Step::call(length, TextCall { name: std::mem::take(&mut self.name), arguments: self.values.arguments() })
    }
}

/// Whether `tag`, once or twice, stands at `at` and one of `marks`, or the end of the text, behind it.
fn followed(sight: &Sight<'_>, at: usize, tag: &str, marks: &[&str]) -> Begins {
    match sight.begins(at, tag) {
        Begins::Yes => {
            let after = skip_whitespace(sight.body, behind(sight, at, tag));
            let ended = after == sight.body.len() && sight.ended();
            match sight.begins_any(after, marks) {
                _ if ended => Begins::Yes,
                Begins::No if sight.begins(after, tag) == Begins::Perhaps => Begins::Perhaps,
                answer => answer,
            }
        }
        other => other,
    }
}

/// The place behind `tag`, which may stand at `at` once, or twice by mistake.
fn behind(sight: &Sight<'_>, at: usize, tag: &str) -> usize {
    let step = |at: usize| if sight.from(at).starts_with(tag) { at + tag.len() } else { at };
    let once = step(at);
    let next = skip_whitespace(sight.body, once);
    if once > at && sight.from(next).starts_with(tag) { step(next) } else { once }
}
