//! Calls whose arguments are JSON, read after the opening mark of any family.
//!
//! `JsonCalls` reads objects that hold name and arguments, one after another or in a list;
//! `JsonArguments` reads one object of arguments whose name precedes it.

use super::active_reader::MarkupReader;
use super::input::{Decision, Incomplete, Input, ReadResult, skip, skip_whitespace, trimmed_length};
use super::json_call::read_calls;
use super::json_scan::{Extent, ObjectScan};
use super::piece::{TextCall, TextEnd};

/// Text after a mark that names no tool is prose about the mark, if it is no longer than this.
/// Longer texts are not reread, which bounds the work on hostile ones.
pub(super) const LONGEST_PROSE: usize = 2000;

/// Objects with name and arguments.
#[derive(Debug)]
pub(super) struct JsonCalls {
    scan: Option<ObjectScan>,
    start: usize,
    /// An object was read before, so that what follows may be something else.
    further: bool,
    /// The objects are in a code fence after the mark.
    fenced: bool,
}

impl JsonCalls {
    /// The first object, or the list that holds it, begins at `start` after the opening mark.
    pub(super) fn new(start: usize) -> Self {
        Self { scan: None, start, further: false, fenced: false }
    }

    pub(super) fn in_fence(start: usize) -> Self {
        Self { fenced: true, ..Self::new(start) }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        if self.scan.is_none() {
            self.start = self.skip_between(input.body);
            match input.body.as_bytes().get(self.start) {
                Some(b'{') => {}
                None if !input.ended() => return Err(Incomplete),
                _ => return Ok(Decision::Markup(trimmed_length(input.body, self.start))),
            }
        }
        let scan = self.scan.get_or_insert_with(|| ObjectScan::new(self.start));
        let end = end_of(scan, input)?;
        Ok(self.read(input, end))
    }

    pub(super) fn resumes_at(&self) -> usize {
        self.scan.as_ref().map_or(self.start, ObjectScan::at)
    }

    fn read(&self, input: &Input<'_>, end: usize) -> Decision {
        let object = input.between(self.start, end);
        let mut calls: Vec<TextCall> =
            read_calls(object, input.tools).into_iter().filter_map(|call| call.into_call()).collect();
        if calls.is_empty() {
            if (self.further || !is_json(object)) && !is_meant(object, input) {
                return if object.len() > LONGEST_PROSE { Decision::Markup(end) } else { Decision::Text };
            }
            calls.push(TextCall::new("", object));
        }
        let then = Self { further: true, fenced: self.fenced, ..Self::new(0) };
        Decision::Calls { length: end, calls, then: Some(MarkupReader::JsonCalls(then)) }
    }

    /// Skips the gap between two objects: whitespace, list punctuation, surplus braces.
    fn skip_between(&self, body: &str) -> usize {
        skip(body, self.start, |character| match character {
            '[' => !self.further,
            '`' => self.fenced,
            ']' | '}' | ',' | ';' => true,
            _ => character.is_ascii_whitespace(),
        })
    }
}

/// One object of arguments.
#[derive(Debug)]
pub(super) struct JsonArguments {
    name: String,
    start: usize,
    scan: ObjectScan,
    /// Reads on after the call.
    then: Option<fn() -> MarkupReader>,
}

impl JsonArguments {
    /// The object begins at `start`.
    pub(super) fn new(name: &str, start: usize, then: Option<fn() -> MarkupReader>) -> Self {
        Self { name: name.to_owned(), start, scan: ObjectScan::new(start), then }
    }

    pub(super) fn resumes_at(&self) -> usize {
        self.scan.at()
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        let end = end_of(&mut self.scan, input)?;
        let call = TextCall::new(&self.name, input.between(self.start, end).trim_ascii_end());
        Ok(Decision::Calls { length: end, calls: vec![call], then: self.then.map(|make| make()) })
    }
}

/// The end of the object, if it has arrived or the model stopped within it.
fn end_of(scan: &mut ObjectScan, input: &Input<'_>) -> ReadResult<usize> {
    match scan.advance(input.body, input.ended()) {
        Extent::Closed(end) | Extent::BrokenOff(end) => Ok(end),
        Extent::Open if input.complete() => Ok(input.body.len()),
        Extent::Open => Err(Incomplete),
    }
}

/// Whether damaged JSON after a mark is still a call: no sentence surrounds it, and it names a tool on offer.
fn is_meant(object: &str, input: &Input<'_>) -> bool {
    input.context.line_start && input.tools.are_named_in(object)
}

/// Whether arguments that no mark closes may be delivered: always when the model stopped, after a cut only when
/// nothing can be missing.
pub(super) fn deliverable(arguments: &str, end: Option<TextEnd>) -> bool {
    match end {
        Some(TextEnd::Complete) | None => true,
        Some(TextEnd::CutByLimit) => is_json(arguments),
        Some(TextEnd::CallsBeside) => false,
    }
}

/// The position of the value after whitespace and the head of a code fence.
pub(super) fn skip_fence_head(body: &str, from: usize) -> usize {
    let at = skip_whitespace(body, from);
    if !body.get(at..).is_some_and(|rest| rest.starts_with("```")) {
        return at;
    }
    let info_end = skip(body, at + 3, |character| character.is_ascii_alphanumeric() || character == '_');
    skip_whitespace(body, info_end)
}

/// Whether `text` is whole, undamaged JSON.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}
