//! Calls whose parameters are written as tags, in the spelling of any family.
//!
//! Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>`; MiniMax M2 and DSML:
//! `<invoke name="…"><parameter name="…">…`; GLM: pairs of key and value. Every closing tag may be
//! missing, and a value may hold the very tags that close it: a tag closes only where what follows
//! it makes sense. Every value leaves as a JSON string.

use super::capture::Capture;
use super::objects::JsonArguments;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, skip_whitespace, trimmed_length};
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

/// No name or key is longer.
const LONGEST_KEY: usize = 256;

#[derive(Debug)]
enum Place {
    Head,
    Between,
    Value { start: usize, closed_at: Option<usize> },
}

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Tagged {
    spelling: &'static Spelling,
    name: String,
    keys: Vec<String>,
    values: Vec<String>,
    at: usize,
    place: Place,
}

/// A key or name up to the mark that ends it.
enum Key<'a> {
    Read(&'a str, usize),
    Wait,
    None,
}

impl Tagged {
    /// A call whose function tag begins at `at`.
    pub(super) fn new(spelling: &'static Spelling, at: usize) -> Self {
        Self { spelling, name: String::new(), keys: Vec::new(), values: Vec::new(), at, place: Place::Head }
    }

    /// A call whose name is known and whose first parameter begins at `at`.
    pub(super) fn named(spelling: &'static Spelling, name: String, at: usize) -> Self {
        Self { name, place: Place::Between, ..Self::new(spelling, at) }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        loop {
            let step = match self.place {
                Place::Head => self.read_head(sight),
                Place::Between => self.read_between(sight),
                Place::Value { start, closed_at } => self.read_value(sight, start, closed_at),
            };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn read_head(&mut self, sight: &Sight<'_>) -> Option<Step> {
        let start = self.at + self.spelling.function.len();
        match key(sight, start, ">") {
            Key::Wait => Some(Step::Wait),
            Key::Read(name, end) if is_name(name) => {
                self.name = bare_name(name).to_owned();
                (self.at, self.place) = (end, Place::Between);
                None
            }
            Key::Read(..) | Key::None => Some(Step::Text),
        }
    }

    fn read_between(&mut self, sight: &Sight<'_>) -> Option<Step> {
        self.at = skip_whitespace(sight.body, self.at);
        if sight.ended() && self.tags().any(|tag| tag.starts_with(sight.from(self.at))) {
            return Some(if sight.complete() { self.finish(sight.body.len()) } else { Step::Wait });
        }
        if sight.from(self.at).starts_with('{') && self.keys.is_empty() {
            let arguments = JsonArguments::new(std::mem::take(&mut self.name), self.at, None);
            return Some(Step::Become(Capture::JsonArguments(arguments)));
        }
        let Spelling { function_end, parameter, outside, .. } = self.spelling;
        match (sight.begins(self.at, function_end), sight.begins(self.at, parameter)) {
            (Begins::Yes, _) => return Some(self.finish(self.at + function_end.len())),
            (_, Begins::Yes) => return self.read_key(sight),
            (Begins::Perhaps, _) | (_, Begins::Perhaps) => return Some(Step::Wait),
            (Begins::No, Begins::No) => {}
        }
        Some(match sight.begins_any(self.at, outside) {
            Begins::Perhaps => Step::Wait,
            Begins::No if self.keys.is_empty() => Step::Text,
            Begins::No | Begins::Yes => self.finish(trimmed_length(sight.body, self.at)),
        })
    }

    fn read_key(&mut self, sight: &Sight<'_>) -> Option<Step> {
        let start = self.at + self.spelling.parameter.len();
        let (key, end) = match key(sight, start, self.spelling.key_end) {
            Key::Read(key, end) => (key, end),
            Key::Wait => return Some(Step::Wait),
            Key::None if self.keys.is_empty() => return Some(Step::Text),
            Key::None => return Some(self.finish(trimmed_length(sight.body, self.at))),
        };
        let mut value = end;
        if !self.spelling.value.is_empty() {
            let tag = skip_whitespace(sight.body, end);
            match sight.begins(tag, self.spelling.value) {
                Begins::Perhaps => return Some(Step::Wait),
                Begins::Yes => value = tag + self.spelling.value.len(),
                Begins::No => {}
            }
        }
        self.keys.push(key.to_owned());
        (self.at, self.place) = (value, Place::Value { start: value, closed_at: None });
        None
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
        let value = sight.body.get(start..end).unwrap_or_default();
        self.values.push(without_frame(value).to_owned());
        let closing = self.spelling.parameter_end;
        self.at = if sight.from(end).starts_with(closing) { end + closing.len() } else { end };
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
        match sight.begins(self.at, self.spelling.parameter) {
            Begins::Yes => match key(sight, self.at + self.spelling.parameter.len(), self.spelling.key_end) {
                Key::Read(..) => Begins::Yes,
                Key::Wait => Begins::Perhaps,
                Key::None => Begins::No,
            },
            other => other,
        }
    }

    fn finish(&mut self, length: usize) -> Step {
        let members: Vec<String> = self
            .keys
            .iter()
            .zip(&self.values)
            .map(|(key, value)| format!("{}:{}", json_string(key), json_string(value)))
            .collect();
        let arguments = format!("{{{}}}", members.join(","));
        Step::call(length, TextCall { name: std::mem::take(&mut self.name), arguments })
    }
}

/// Whether `tag` stands at `at` and one of `marks`, or the end of the text, behind it.
fn followed(sight: &Sight<'_>, at: usize, tag: &str, marks: &[&str]) -> Begins {
    match sight.begins(at, tag) {
        Begins::Yes => {
            let after = skip_whitespace(sight.body, at + tag.len());
            if after == sight.body.len() && sight.ended() { Begins::Yes } else { sight.begins_any(after, marks) }
        }
        other => other,
    }
}

/// Reads a key: bare, in quotes, or in quotes with further attributes behind it.
fn key<'a>(sight: &Sight<'a>, start: usize, end_mark: &str) -> Key<'a> {
    let rest = sight.from(start);
    let window = rest.get(..rest.floor_char_boundary(LONGEST_KEY)).unwrap_or_default();
    let Some(length) = memchr::memmem::find(window.as_bytes(), end_mark.as_bytes()) else {
        return if window.len() < rest.len() || window.contains('\n') { Key::None } else { Key::Wait };
    };
    let written = window.get(..length).unwrap_or_default();
    if written.contains('\n') {
        return Key::None;
    }
    let key = match written.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => written.trim().trim_matches('\''),
    };
    if key.is_empty() || key.contains('<') { Key::None } else { Key::Read(key, start + length + end_mark.len()) }
}

/// A value without the one newline on each side that sets it off from its tags.
fn without_frame(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value);
    value.strip_suffix("\r\n").or_else(|| value.strip_suffix('\n')).unwrap_or(value)
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
