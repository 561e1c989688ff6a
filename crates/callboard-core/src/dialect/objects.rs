//! Calls whose arguments are JSON, read behind the opening mark of any family.
//!
//! `JsonCalls` reads objects that carry name and arguments, one after another or in a list;
//! `JsonArguments` reads one object of arguments whose name stood before it.

use super::capture::Capture;
use super::json_call::read_calls;
use super::json_scan::{Extent, ObjectScan};
use super::piece::{End, TextCall};
use super::sight::{Sight, Step, skip_whitespace, trimmed_length};

/// What stands behind a mark and names no tool is prose about the mark, if it is no longer than this.
/// Longer texts are not read anew, which bounds the work on hostile ones.
const LONGEST_PROSE: usize = 2000;

/// Objects with name and arguments.
#[derive(Debug)]
pub(super) struct JsonCalls {
    scan: Option<ObjectScan>,
    start: usize,
    /// An object was read before, so that what follows may be something else.
    further: bool,
    /// The objects stand in a code fence behind the mark.
    fenced: bool,
}

impl JsonCalls {
    /// The first object, or the list that holds it, begins at `start` behind the opening mark.
    pub(super) fn new(start: usize) -> Self {
        Self { scan: None, start, further: false, fenced: false }
    }

    pub(super) fn in_fence(start: usize) -> Self {
        Self { fenced: true, ..Self::new(start) }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        if self.scan.is_none() {
            self.start = self.skip_between(sight.body);
            match sight.body.as_bytes().get(self.start) {
                Some(b'{') => {}
                None if !sight.ended() => return Step::Wait,
                _ => return Step::Markup(trimmed_length(sight.body, self.start)),
            }
        }
        let scan = self.scan.get_or_insert_with(|| ObjectScan::new(self.start));
        match scan.advance(sight.body, sight.ended()) {
            Extent::Closed(end) | Extent::BrokenOff(end) => self.read(sight, end),
            Extent::Open if sight.complete() => self.read(sight, sight.body.len()),
            Extent::Open => Step::Wait,
        }
    }

    fn read(&self, sight: &Sight<'_>, end: usize) -> Step {
        let object = sight.body.get(self.start..end).unwrap_or_default();
        let mut calls: Vec<TextCall> =
            read_calls(object, sight.tools).into_iter().filter_map(|call| call.into_call()).collect();
        if calls.is_empty() {
            if (self.further || !is_json(object)) && !is_meant(object, sight) {
                return if object.len() > LONGEST_PROSE { Step::Markup(end) } else { Step::Text };
            }
            calls.push(TextCall { name: String::new(), arguments: object.to_owned() });
        }
        let then = Self { further: true, fenced: self.fenced, ..Self::new(0) };
        Step::Calls { length: end, calls, then: Some(Capture::JsonCalls(then)) }
    }

    /// Skips what stands between two objects: whitespace, the list's own signs, braces too many.
    fn skip_between(&self, body: &str) -> usize {
        let rest = body.get(self.start..).unwrap_or_default();
        let between = |character: char| match character {
            '[' => !self.further,
            '`' => self.fenced,
            ']' | '}' | ',' | ';' => true,
            _ => character.is_ascii_whitespace(),
        };
        self.start + (rest.len() - rest.trim_start_matches(between).len())
    }
}

/// One object of arguments.
#[derive(Debug)]
pub(super) struct JsonArguments {
    name: String,
    start: usize,
    scan: ObjectScan,
    /// Reads on behind the call.
    then: Option<fn() -> Capture>,
}

impl JsonArguments {
    /// The object begins at `start`.
    pub(super) fn new(name: String, start: usize, then: Option<fn() -> Capture>) -> Self {
        Self { name, start, scan: ObjectScan::new(start), then }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        match self.scan.advance(sight.body, sight.ended()) {
            Extent::Closed(end) | Extent::BrokenOff(end) => self.read(sight, end),
            Extent::Open if sight.complete() => self.read(sight, sight.body.len()),
            Extent::Open => Step::Wait,
        }
    }

    fn read(&mut self, sight: &Sight<'_>, end: usize) -> Step {
        let arguments = sight.body.get(self.start..end).unwrap_or_default().trim_ascii_end().to_owned();
        let call = TextCall { name: std::mem::take(&mut self.name), arguments };
        Step::Calls { length: end, calls: vec![call], then: self.then.map(|make| make()) }
    }
}

/// Whether damaged JSON behind a mark is a call all the same: no sentence goes on around it, and it names a tool on offer.
fn is_meant(object: &str, sight: &Sight<'_>) -> bool {
    sight.surroundings.line_start() && sight.tools.are_named_in(object)
}

/// Whether arguments that no mark closes may be delivered: always when the model stopped by itself,
/// and after a cut only when nothing can be missing.
pub(super) fn deliverable(arguments: &str, end: Option<End>) -> bool {
    match end {
        Some(End::Complete) | None => true,
        Some(End::CutByLimit) => is_json(arguments),
        Some(End::CallsBeside) => false,
    }
}

/// The place of the value behind whitespace and the head of a code fence.
pub(super) fn skip_fence_head(body: &str, from: usize) -> usize {
    let at = skip_whitespace(body, from);
    let rest = body.get(at..).unwrap_or_default();
    let Some(info) = rest.strip_prefix("```") else {
        return at;
    };
    let text = info.trim_start_matches(|character: char| character.is_ascii_alphanumeric() || character == '_');
    skip_whitespace(body, at + (rest.len() - text.len()))
}

/// Whether `text` is whole, undamaged JSON.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}
