//! Calls in Python's syntax: `[get_weather(city="Paris"), …]` of Llama 4 and LFM2, the same without
//! brackets of Olmo 3, and Gemma 3's fence `tool_code`.
//!
//! The name must be on offer and every argument a keyword's: a list in an answer is no call. Values
//! leave as Python wrote them.

use super::capture::Capture;
use super::json_call::value;
use super::json_scan::{Extent, ObjectScan};
use super::piece::{End, TextCall};
use super::plain::{Closing, end_of_calls};
use super::sight::{Sight, Step, skip_whitespace};
use super::tool_names::{ToolNames, is_name_character};

/// What stands around the calls.
#[derive(Debug, Clone, Copy)]
pub(super) enum Frame {
    Plain(Closing),
    /// A mark of this length stands before them.
    Marked(usize),
}

/// Calls in Python's syntax, read as far as their text has arrived.
#[derive(Debug)]
pub(super) struct Pythonic {
    at: usize,
    frame: Frame,
    scan: Option<ObjectScan>,
    /// How far the list, or the call, reaches.
    extent: Extent,
}

impl Pythonic {
    /// A list, or a bare call, begins at `at`.
    pub(super) fn new(at: usize, frame: Frame) -> Self {
        Self { at, frame, scan: None, extent: Extent::Open }
    }

    /// Reads on behind a mark if a name on offer stands, or may come to stand, at `at`.
    pub(super) fn behind_mark(length: usize, at: usize, sight: &Sight<'_>) -> Option<Step> {
        let name = name(sight.from(at));
        let likely = !name.is_empty() && sight.tools.may_offer(name);
        likely.then(|| Step::Become(Capture::Pythonic(Self::new(at, Frame::Marked(length)))))
    }

    /// How much of the text has been read to its end and need not be tried again.
    pub(super) fn examined(&self) -> usize {
        match self.extent {
            Extent::Closed(end) | Extent::BrokenOff(end) => end,
            Extent::Open => 0,
        }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        if self.scan.is_none() {
            match self.begins_call(sight) {
                Some(true) => self.scan = Some(ObjectScan::new(self.at)),
                Some(false) => return self.refuse(),
                None if sight.end == Some(End::Complete) => return self.refuse(),
                None => return Step::Wait,
            }
        }
        if let (Extent::Open, Some(scan)) = (self.extent, &mut self.scan) {
            self.extent = scan.advance(sight.body, sight.ended());
        }
        match self.extent {
            Extent::Closed(end) => self.take(sight, end),
            Extent::Open if !sight.ended() || sight.end == Some(End::CutByLimit) => Step::Wait,
            Extent::Open => {
                self.extent = Extent::BrokenOff(sight.body.len());
                self.refuse()
            }
            Extent::BrokenOff(_) => self.refuse(),
        }
    }

    /// Whether a name on offer and its parenthesis stand here; `None` while it cannot be told.
    fn begins_call(&self, sight: &Sight<'_>) -> Option<bool> {
        let rest = sight.from(self.at);
        let inside = rest.strip_prefix('[').unwrap_or(rest).trim_ascii_start();
        let name = name(inside);
        match inside.get(name.len()..).and_then(|after| after.chars().next()) {
            None if sight.tools.may_offer(name) => None,
            Some('(') => Some(sight.tools.offer(name)),
            _ => Some(false),
        }
    }

    fn take(&mut self, sight: &Sight<'_>, end: usize) -> Step {
        let text = sight.body.get(self.at..end).unwrap_or_default();
        let Some(mut calls) = read_calls(text, sight.tools) else {
            return self.refuse();
        };
        match self.frame {
            Frame::Plain(closing) => end_of_calls(closing, sight, skip_whitespace(sight.body, end), &mut calls),
            Frame::Marked(_) => {
                let then = Some(Capture::Pythonic(Self::new(0, Frame::Marked(0))));
                Step::Calls { length: skip_whitespace(sight.body, end), calls, then }
            }
        }
    }

    fn refuse(&self) -> Step {
        match self.frame {
            Frame::Plain(_) => Step::Text,
            Frame::Marked(length) => Step::Markup(length),
        }
    }
}

fn name(text: &str) -> &str {
    let length = text.find(|character| !is_name_character(character)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
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
        let name = name(rest);
        let arguments = rest.get(name.len()..).filter(|after| tools.offer(name) && after.starts_with('('))?;
        let Extent::Closed(end) = ObjectScan::new(0).advance(arguments, true) else {
            return None;
        };
        calls.push(TextCall { name: name.to_owned(), arguments: read_arguments(arguments.get(1..end - 1)?)? });
        rest = arguments.get(end..)?;
    }
}

fn read_arguments(text: &str) -> Option<String> {
    let mut members = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == ',');
        if rest.is_empty() {
            return Some(format!("{{{}}}", members.join(", ")));
        }
        let key = name(rest);
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
    use crate::dialect::check::{complete, cut, unchanged};

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
