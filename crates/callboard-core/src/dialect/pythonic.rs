//! Calls in Python's syntax: `[get_weather(city="Paris"), …]` of Llama 4 and LFM2, the same without
//! brackets of Olmo 3, and Gemma 3's fence `tool_code`.
//!
//! Without a mark the name must be on offer and every argument a keyword argument: a list in an answer is not a call. After
//! a mark calls are read one by one, with or without brackets around them. Values stay in Python's syntax.

use super::active_reader::MarkupReader;
use super::bare_json::{Closing, end_of_calls};
use super::dropped_tokens;
use super::input::{Decision, Incomplete, Input, ReadResult, skip, skip_whitespace, trimmed_length};
use super::json_call::value;
use super::json_scan::{Extent, ObjectScan};
use super::piece::{TextCall, TextEnd};
use super::tool_names::{ToolNames, bare_name, leading_name};
use super::unknown_form::{CallEnd, Unreadable};

/// Which names after a mark are those of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamesAccepted {
    /// The mark may also precede code that is no call.
    OnOffer,
    Any,
}

/// What encloses the calls.
#[derive(Debug, Clone, Copy)]
enum Enclosure {
    Bare(Closing),
    Marked {
        /// Length of the mark; 0 after the first call.
        length: usize,
        names: NamesAccepted,
    },
}

/// Calls in Python's syntax, read as far as their text has arrived.
#[derive(Debug)]
pub(super) struct Pythonic {
    at: usize,
    enclosure: Enclosure,
    scan: Option<ObjectScan>,
    /// How far the list, or the call, reaches.
    extent: Extent,
    /// The calls of a list that has ended.
    calls: Option<Vec<TextCall>>,
}

impl Pythonic {
    /// A list, or a bare call, begins at `at`.
    pub(super) fn bare(at: usize, closing: Closing) -> Self {
        Self::new(at, Enclosure::Bare(closing))
    }

    fn new(at: usize, enclosure: Enclosure) -> Self {
        Self { at, enclosure, scan: None, extent: Extent::Open, calls: None }
    }

    /// Reads a call, or a list of them, after a mark of this length; `None` if none begins there.
    pub(super) fn open(length: usize, names: NamesAccepted, input: &Input<'_>) -> ReadResult<Option<Decision>> {
        let calls = Self::new(skip_whitespace(input.body, length), Enclosure::Marked { length, names });
        match calls.begins_call(input, false) {
            Err(Incomplete) if input.complete() => Ok(None),
            begins => Ok(begins?.then_some(Decision::Become(MarkupReader::Pythonic(calls)))),
        }
    }

    /// How many bytes have been read completely and are not retried.
    pub(super) fn examined(&self) -> usize {
        match self.extent {
            Extent::Closed(end) | Extent::BrokenOff(end) => end,
            Extent::Open => 0,
        }
    }

    pub(super) fn resumes_at(&self) -> usize {
        match self.extent {
            Extent::Closed(end) | Extent::BrokenOff(end) => end,
            Extent::Open => self.scan.as_ref().map_or(0, ObjectScan::at),
        }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        match self.enclosure {
            Enclosure::Bare(closing) => self.next_list(input, closing),
            Enclosure::Marked { length, names } => self.next_call(input, length, names),
        }
    }

    fn next_list(&mut self, input: &Input<'_>, closing: Closing) -> ReadResult {
        match self.reach(input, false) {
            Ok(Some(Extent::Closed(end))) => self.end_list(input, closing, end),
            Ok(Some(Extent::Open)) if !input.ended() || input.end == Some(TextEnd::CutByLimit) => Err(Incomplete),
            Ok(Some(Extent::Open)) => {
                self.extent = Extent::BrokenOff(input.body.len());
                Ok(Decision::Text)
            }
            Err(Incomplete) if !input.complete() => Err(Incomplete),
            Ok(Some(Extent::BrokenOff(_)) | None) | Err(Incomplete) => Ok(Decision::Text),
        }
    }

    fn end_list(&mut self, input: &Input<'_>, closing: Closing, end: usize) -> ReadResult {
        if self.calls.is_none() {
            self.calls = read_calls(input.between(self.at, end), input.tools);
        }
        match &mut self.calls {
            Some(calls) => end_of_calls(closing, input, skip_whitespace(input.body, end), calls),
            None => Ok(Decision::Text),
        }
    }

    /// One call after a mark. Unreadable arguments are passed on unchanged, for a re-ask.
    fn next_call(&mut self, input: &Input<'_>, length: usize, names: NamesAccepted) -> ReadResult {
        let (end, closed) = match self.reach(input, length == 0) {
            Ok(Some(Extent::Closed(end))) => (end, true),
            Ok(Some(Extent::BrokenOff(end))) => (end, false),
            Ok(Some(Extent::Open)) if input.complete() => (input.body.len(), false),
            Err(Incomplete) if input.complete() => return self.end_undecided(input, length),
            Ok(Some(Extent::Open)) | Err(Incomplete) => return Err(Incomplete),
            Ok(None) => return self.end_marked(input, length),
        };
        let call = read_call(input.between(self.at, end), closed);
        let then = Self::new(0, Enclosure::Marked { length: 0, names });
        Ok(Decision::Calls { length: end, calls: vec![call], then: Some(MarkupReader::Pythonic(then)) })
    }

    /// The answer ends with a name.
    fn end_undecided(&self, input: &Input<'_>, length: usize) -> ReadResult {
        let name = tool(input.from(skip_between(input.body, self.at, length == 0)).trim_ascii());
        if input.tools.offer(name) {
            return Ok(Decision::call(input.body.len(), TextCall::without_arguments(name)));
        }
        self.end_marked(input, length)
    }

    /// No call begins here: brackets after the last one belong to it.
    fn end_marked(&self, input: &Input<'_>, length: usize) -> ReadResult {
        if length > 0 {
            return dropped_tokens::drop(input, "", length);
        }
        let at = skip_between(input.body, self.at, true);
        if input.tools.begin(input.from(at)) {
            return Ok(Decision::Become(MarkupReader::Unreadable(Unreadable::new(CallEnd::Token, at))));
        }
        Ok(Decision::Markup(trimmed_length(input.body, at)))
    }

    /// How far the list or the call that begins here reaches.
    fn reach(&mut self, input: &Input<'_>, further: bool) -> ReadResult<Option<Extent>> {
        if self.scan.is_none() {
            if !self.begins_call(input, further)? {
                return Ok(None);
            }
            if let Enclosure::Marked { .. } = self.enclosure {
                self.at = skip_between(input.body, self.at, further);
            }
            self.scan = Some(ObjectScan::new(self.at));
        }
        if let (Extent::Open, Some(scan)) = (self.extent, &mut self.scan) {
            self.extent = scan.advance(input.body, input.ended());
        }
        Ok(Some(self.extent))
    }

    /// Whether a tool's name and its parenthesis begin here. The end of the text decides nothing.
    fn begins_call(&self, input: &Input<'_>, further: bool) -> ReadResult<bool> {
        let rest = input.from(self.at);
        let (inside, any) = match self.enclosure {
            Enclosure::Bare(_) => (rest.strip_prefix('[').unwrap_or(rest).trim_ascii_start(), false),
            Enclosure::Marked { names, .. } => {
                (input.from(skip_between(input.body, self.at, further)), names == NamesAccepted::Any)
            }
        };
        let name = leading_name(inside);
        match inside.get(name.len()..).and_then(|after| after.chars().next()) {
            None if any || input.tools.may_offer_decorated(name) => Err(Incomplete),
            Some('(') if any || !name.is_empty() && input.tools.offer(tool(name)) => Ok(true),
            _ => Ok(false),
        }
    }
}

/// Skips the brackets of a list, and the gap between two calls.
fn skip_between(body: &str, at: usize, further: bool) -> usize {
    skip(body, at, |character| match character {
        '[' => !further,
        ']' | ')' | ',' | ';' => further,
        _ => character.is_ascii_whitespace(),
    })
}

/// Llama writes `name.call(…)` for tools that are built in.
fn tool(name: &str) -> &str {
    let name = bare_name(name);
    name.strip_suffix(".call").unwrap_or(name)
}

/// Reads calls to tools on offer; `None` if there is anything else among them.
fn read_calls(text: &str, tools: &ToolNames) -> Option<Vec<TextCall>> {
    let mut rest = text.strip_prefix('[').and_then(|inside| inside.strip_suffix(']')).unwrap_or(text);
    let mut calls = Vec::new();
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == ',');
        if rest.is_empty() {
            return Some(calls);
        }
        let name = leading_name(rest);
        let arguments = rest.get(name.len()..).filter(|after| tools.offer(name) && after.starts_with('('))?;
        let Extent::Closed(end) = ObjectScan::new(0).advance(arguments, true) else {
            return None;
        };
        calls.push(TextCall { name: name.to_owned(), arguments: read_arguments(arguments.get(1..end - 1)?)? });
        rest = arguments.get(end..)?;
    }
}

/// Reads `name(…)` after a mark; the last bracket may be missing, or be of another kind.
fn read_call(text: &str, closed: bool) -> TextCall {
    let name = leading_name(text);
    let written = text.get(name.len()..).unwrap_or_default();
    let inside = written.strip_prefix('(').unwrap_or(written);
    let inside = inside.strip_suffix([')', ']', '}']).filter(|_| closed).unwrap_or(inside);
    let arguments = read_arguments(inside).unwrap_or_else(|| written.to_owned());
    TextCall { name: tool(name).to_owned(), arguments }
}

/// Keyword arguments as the text of an object.
pub(super) fn read_arguments(text: &str) -> Option<String> {
    let mut members = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == ',');
        if rest.is_empty() {
            return Some(format!("{{{}}}", members.join(", ")));
        }
        let key = leading_name(rest);
        let after = rest.get(key.len()..)?.trim_ascii_start().strip_prefix('=')?.trim_ascii_start();
        let value = value(after);
        if key.is_empty() || value.is_empty() {
            return None;
        }
        members.push(format!("\"{key}\": {}", value.trim_ascii_end()));
        rest = after.get(value.len()..)?;
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    #[test]
    fn calls() {
        let paris = r#"call get_weather {"city": "Paris", "days": 3}"#;
        complete(&[
            (r#"[get_weather(city="Paris", days=3)]"#, &[paris]),
            (r#"[get_weather(city="Paris", days=3), list_files()]"#, &[paris, "call list_files {}"]),
            ("Ok.\n[list_files()]\n", &["text Ok.", "call list_files {}"]),
            (r#"<|tool_call_start|>[get_weather(city="Paris", days=3)]<|tool_call_end|>"#, &[paris]),
            (
                r#"<|python_start|>[write_file(content='a ] b)', tags=["x"])]<|python_end|>"#,
                &[r#"call write_file {"content": 'a ] b)', "tags": ["x"]}"#],
            ),
            (
                "<function_calls>\nget_weather(city=\"Paris\", days=3)\nlist_files()\n</function_calls>",
                &[paris, "call list_files {}"],
            ),
        ]);
        cut(&[("Ok.\n[get_weather(city=\"Par", &["text Ok."])]);
    }

    #[test]
    fn lists_in_answers_are_text() {
        unchanged(&[
            "[a, b]",
            "[link](http://x)",
            "[get_weather] is a tool",
            "[get_weather(\"Paris\")]",
            "[get_weather(city=\"Paris\")] is how to call it",
            "[unknown(a=1)]",
            "[get_weather(city=\"Paris\"",
            "[x] done\n[ ] open",
        ]);
    }
}
