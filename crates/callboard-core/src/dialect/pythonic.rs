//! Calls in Python's syntax: `[get_weather(city="Paris"), …]` of Llama 4 and LFM2, the same without
//! brackets of Olmo 3, and Gemma 3's fence `tool_code`.
//!
//! Without a mark the name must be on offer and every argument a keyword's: a list in an answer is no call. Behind a
//! mark calls are read one by one, whatever became of the brackets around them. Values leave as Python wrote them.

use super::capture::Capture;
use super::json_call::value;
use super::json_scan::{Extent, ObjectScan};
use super::piece::{End, TextCall};
use super::plain::{Closing, end_of_calls};
use super::sight::{Begins, Sight, Step, skip_whitespace, trimmed_length};
use super::special;
use super::tool_names::{ToolNames, bare_name, is_name_character};
use super::unreadable::{Frame, Unreadable};

/// Which names behind a mark are those of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tools {
    /// The mark may also stand before code that is no call.
    OnOffer,
    Any,
}

/// What stands around the calls.
#[derive(Debug, Clone, Copy)]
enum Place {
    Plain(Closing),
    Marked {
        /// Of the mark; 0 behind the first call.
        length: usize,
        tools: Tools,
    },
}

/// Calls in Python's syntax, read as far as their text has arrived.
#[derive(Debug)]
pub(super) struct Pythonic {
    at: usize,
    place: Place,
    scan: Option<ObjectScan>,
    /// How far the list, or the call, reaches.
    extent: Extent,
}

/// How far a list or a call reaches, if one begins here.
enum Reach {
    Known(Extent),
    /// Too little has arrived to tell whether one begins.
    Undecided,
    None,
}

impl Pythonic {
    /// A list, or a bare call, begins at `at`.
    pub(super) fn plain(at: usize, closing: Closing) -> Self {
        Self::new(at, Place::Plain(closing))
    }

    /// Calls begin at `at`, behind a mark of this length.
    pub(super) fn marked(at: usize, length: usize, tools: Tools) -> Self {
        Self::new(at, Place::Marked { length, tools })
    }

    fn new(at: usize, place: Place) -> Self {
        Self { at, place, scan: None, extent: Extent::Open }
    }

    /// Whether a call, or a list of them, begins at `at`, behind a mark of this length.
    pub(super) fn behind_mark(length: usize, at: usize, tools: Tools, sight: &Sight<'_>) -> Begins {
        match Self::marked(at, length, tools).begins_call(sight, false) {
            Some(true) => Begins::Yes,
            Some(false) => Begins::No,
            None if sight.complete() => Begins::No,
            None => Begins::Perhaps,
        }
    }

    /// How much of the text has been read to its end and need not be tried again.
    pub(super) fn examined(&self) -> usize {
        match self.extent {
            Extent::Closed(end) | Extent::BrokenOff(end) => end,
            Extent::Open => 0,
        }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        match self.place {
            Place::Plain(closing) => self.next_list(sight, closing),
            Place::Marked { length, tools } => self.next_call(sight, length, tools),
        }
    }

    fn next_list(&mut self, sight: &Sight<'_>, closing: Closing) -> Step {
        match self.reach(sight, false) {
            Reach::Known(Extent::Closed(end)) => {
                match read_calls(sight.body.get(self.at..end).unwrap_or_default(), sight.tools) {
                    Some(mut calls) => end_of_calls(closing, sight, skip_whitespace(sight.body, end), &mut calls),
                    None => Step::Text,
                }
            }
            Reach::Known(Extent::Open) if !sight.ended() || sight.end == Some(End::CutByLimit) => Step::Wait,
            Reach::Known(Extent::Open) => {
                self.extent = Extent::BrokenOff(sight.body.len());
                Step::Text
            }
            Reach::Undecided if !sight.complete() => Step::Wait,
            Reach::Known(Extent::BrokenOff(_)) | Reach::Undecided | Reach::None => Step::Text,
        }
    }

    /// One call behind a mark. One whose arguments cannot be read leaves as it is, to be asked for again.
    fn next_call(&mut self, sight: &Sight<'_>, length: usize, tools: Tools) -> Step {
        let (end, closed) = match self.reach(sight, length == 0) {
            Reach::Known(Extent::Closed(end)) => (end, true),
            Reach::Known(Extent::BrokenOff(end)) => (end, false),
            Reach::Known(Extent::Open) if sight.complete() => (sight.body.len(), false),
            Reach::Undecided if sight.complete() => return self.end_undecided(sight, length),
            Reach::Known(Extent::Open) | Reach::Undecided => return Step::Wait,
            Reach::None => return self.end_marked(sight, length),
        };
        let call = read_call(sight.body.get(self.at..end).unwrap_or_default(), closed);
        let then = Some(Capture::Pythonic(Self::marked(0, 0, tools)));
        Step::Calls { length: end, calls: vec![call], then }
    }

    /// The answer ends with a name.
    fn end_undecided(&self, sight: &Sight<'_>, length: usize) -> Step {
        let name = tool(sight.from(skip_between(sight.body, self.at, length == 0)).trim_ascii());
        if sight.tools.offer(name) {
            return Step::call(sight.body.len(), TextCall { name: name.to_owned(), arguments: "{}".to_owned() });
        }
        self.end_marked(sight, length)
    }

    /// What stands here is no call: brackets behind the last one belong to it.
    fn end_marked(&self, sight: &Sight<'_>, length: usize) -> Step {
        if length > 0 {
            return special::drop(sight, "", length);
        }
        let at = skip_between(sight.body, self.at, true);
        if sight.tools.begin(sight.from(at)) {
            return Step::Become(Capture::Unreadable(Unreadable::new(Frame::Tokens, at)));
        }
        Step::Markup(trimmed_length(sight.body, at))
    }

    fn reach(&mut self, sight: &Sight<'_>, further: bool) -> Reach {
        if self.scan.is_none() {
            match self.begins_call(sight, further) {
                Some(true) => {}
                Some(false) => return Reach::None,
                None => return Reach::Undecided,
            }
            if let Place::Marked { .. } = self.place {
                self.at = skip_between(sight.body, self.at, further);
            }
            self.scan = Some(ObjectScan::new(self.at));
        }
        if let (Extent::Open, Some(scan)) = (self.extent, &mut self.scan) {
            self.extent = scan.advance(sight.body, sight.ended());
        }
        Reach::Known(self.extent)
    }

    /// Whether a tool's name and its parenthesis stand here; `None` while it cannot be told.
    fn begins_call(&self, sight: &Sight<'_>, further: bool) -> Option<bool> {
        let rest = sight.from(self.at);
        let (inside, any) = match self.place {
            Place::Plain(_) => (rest.strip_prefix('[').unwrap_or(rest).trim_ascii_start(), false),
            Place::Marked { tools, .. } => {
                (sight.from(skip_between(sight.body, self.at, further)), tools == Tools::Any)
            }
        };
        let name = name(inside);
        match inside.get(name.len()..).and_then(|after| after.chars().next()) {
            None if any || sight.tools.may_offer_decorated(name) => None,
            Some('(') => Some(any || !name.is_empty() && sight.tools.offer(tool(name))),
            _ => Some(false),
        }
    }
}

/// Skips the brackets of a list, and what stands between two calls.
fn skip_between(body: &str, at: usize, further: bool) -> usize {
    let rest = body.get(at..).unwrap_or_default();
    let between = |sign: char| match sign {
        '[' => !further,
        ']' | ')' | ',' | ';' => further,
        _ => sign.is_ascii_whitespace(),
    };
    at + (rest.len() - rest.trim_start_matches(between).len())
}

fn name(text: &str) -> &str {
    let length = text.find(|character| !is_name_character(character)).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
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
        let name = name(rest);
        let arguments = rest.get(name.len()..).filter(|after| tools.offer(name) && after.starts_with('('))?;
        let Extent::Closed(end) = ObjectScan::new(0).advance(arguments, true) else {
            return None;
        };
        calls.push(TextCall { name: name.to_owned(), arguments: read_arguments(arguments.get(1..end - 1)?)? });
        rest = arguments.get(end..)?;
    }
}

/// Reads `name(…)` behind a mark; the last bracket may be missing, or be of another kind.
fn read_call(text: &str, closed: bool) -> TextCall {
    let name = name(text);
    let written = text.get(name.len()..).unwrap_or_default();
    let inside = written.strip_prefix('(').unwrap_or(written);
    let inside = inside.strip_suffix([')', ']', '}']).filter(|_| closed).unwrap_or(inside);
    let arguments = read_arguments(inside).unwrap_or_else(|| written.to_owned());
    TextCall { name: tool(name).to_owned(), arguments }
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
