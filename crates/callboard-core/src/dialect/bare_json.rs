//! Calls without a mark: a bare JSON object, several of them, a list, or the same in a code fence.
//!
//! Only its content distinguishes such a call from an answer in JSON, so it is buffered only while it
//! can become a call: its keys are those of a call, its name is an offered tool, and, without a fence,
//! the answer ends with it.

use super::active_reader::MarkupReader;
use super::begins_json_call::begins_call;
use super::call_words::{KeyRole, key_role};
use super::fence::count_backticks;
use super::input::{Decision, Incomplete, Input, ReadResult, skip};
use super::json_call::{ReadCall, members, read_calls};
use super::json_scan::{Extent, ObjectScan};
use super::marked_json::is_json;
use super::opening_marks;
use super::piece::{TextCall, TextEnd};
use super::pythonic::Pythonic;
use super::tool_names::{ToolNames, is_distinctive};

/// Where a call without a mark must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    EndOfAnswer,
    Fence,
}

/// Objects without a mark, read as far as their text has arrived.
#[derive(Debug)]
pub(super) struct BareJson {
    closing: Closing,
    /// Where the current object, or the gap before the next, begins.
    at: usize,
    /// The gap has been read to here.
    gap_end: usize,
    scan: Option<ObjectScan>,
    /// The current object has the head of a call.
    likely: bool,
    calls: Vec<TextCall>,
    /// Whole objects, and the gaps around them, have been read to here.
    examined: usize,
}

impl BareJson {
    /// An object or a list begins at `at`.
    pub(super) fn new(at: usize, closing: Closing) -> Self {
        Self { closing, at, gap_end: at, scan: None, likely: false, calls: Vec::new(), examined: 0 }
    }

    /// How many bytes have been read completely and are not retried.
    pub(super) fn examined(&self) -> usize {
        self.examined
    }

    pub(super) fn resumes_at(&self) -> usize {
        match &self.scan {
            Some(scan) if self.likely => scan.at(),
            Some(_) => self.at,
            None => self.gap_end,
        }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        loop {
            let step = if self.scan.is_none() { self.find_object(input) } else { self.read_object(input) };
            if let Some(decision) = step? {
                return Ok(decision);
            }
        }
    }

    fn find_object(&mut self, input: &Input<'_>) -> ReadResult<Option<Decision>> {
        let between = |character: char| character.is_ascii_whitespace() || matches!(character, '[' | ']' | ',' | ';');
        self.gap_end = skip(input.body, self.gap_end, between);
        let at = self.gap_end;
        let decision = match input.from(at).chars().next() {
            Some('{') => {
                (self.at, self.scan, self.likely) = (at, Some(ObjectScan::new(at)), false);
                return Ok(None);
            }
            Some(character) if self.calls.is_empty() => self.pythonic(input, character),
            None if self.calls.is_empty() => input.wait_or(Decision::Text)?,
            _ => end_of_calls(self.closing, input, at, &mut self.calls)?,
        };
        if matches!(decision, Decision::Text) {
            self.examine_gap(input);
        }
        Ok(Some(decision))
    }

    /// The only bracket before a name may open a list of Python calls.
    fn pythonic(&self, input: &Input<'_>, next: char) -> Decision {
        let inside = input.between(self.at, self.gap_end).strip_prefix('[');
        let begins = inside.is_some_and(|inside| inside.trim_ascii().is_empty());
        if begins && (next.is_alphabetic() || next == '_') {
            Decision::Become(MarkupReader::Pythonic(Pythonic::bare(self.at, self.closing)))
        } else {
            Decision::Text
        }
    }

    /// From any bracket of a gap the same text follows, so they are not tried again; but a list of Python calls may begin
    /// with the last one.
    fn examine_gap(&mut self, input: &Input<'_>) {
        let gap = input.between(self.at, self.gap_end);
        let last = memchr::memrchr(b'[', gap.as_bytes()).map_or(self.gap_end, |offset| self.at + offset);
        self.examined = self.examined.max(last);
    }

    fn read_object(&mut self, input: &Input<'_>) -> ReadResult<Option<Decision>> {
        if !self.likely {
            match begins_call(input.from(self.at), input.tools, false) {
                Ok(false) => {
                    self.examined = self.examined.max(self.at);
                    return Ok(Some(Decision::Text));
                }
                head => self.likely = head.is_ok(),
            }
        }
        let scan = self.scan.get_or_insert_with(|| ObjectScan::new(self.at));
        match scan.advance(input.body, input.ended()) {
            Extent::Closed(end) => Ok(self.take(input, end)),
            Extent::BrokenOff(end) => self.take_unclosed(input, end).map(Some),
            Extent::Open if input.ended() => self.take_unclosed(input, input.body.len()).map(Some),
            Extent::Open => Err(Incomplete),
        }
    }

    fn take(&mut self, input: &Input<'_>, end: usize) -> Option<Decision> {
        let object = input.between(self.at, end);
        self.examined = end;
        if is_keyed_answer(object, input.tools) {
            return Some(Decision::Text);
        }
        for call in read_calls(object, input.tools) {
            match offered(call, input.tools) {
                Some(call) => self.calls.push(call),
                None => return Some(Decision::Text),
            }
        }
        (self.at, self.gap_end, self.scan) = (end, end, None);
        None
    }

    /// The last brace may be missing, but not a part of the arguments.
    fn take_unclosed(&mut self, input: &Input<'_>, end: usize) -> ReadResult {
        let object = input.between(self.at, end);
        self.examined = end;
        let whole =
            members(object).iter().any(|(key, value)| key_role(key) == Some(KeyRole::Arguments) && is_json(value));
        match input.end {
            Some(TextEnd::CutByLimit) if self.likely => Err(Incomplete),
            None | Some(TextEnd::Complete) if whole => match self.take(input, end) {
                Some(decision) => Ok(decision),
                None => end_of_calls(self.closing, input, end, &mut self.calls),
            },
            _ => Ok(Decision::Text),
        }
    }
}

/// The text after the last of `calls` decides whether they are calls.
pub(super) fn end_of_calls(closing: Closing, input: &Input<'_>, at: usize, calls: &mut Vec<TextCall>) -> ReadResult {
    let calls_to =
        |length, calls: &mut Vec<TextCall>| Ok(Decision::Calls { length, calls: std::mem::take(calls), then: None });
    let rest = input.from(at);
    if rest.is_empty() {
        return match input.end {
            None => Err(Incomplete),
            Some(TextEnd::CallsBeside) => Ok(Decision::Text),
            Some(TextEnd::Complete | TextEnd::CutByLimit) => calls_to(at, calls),
        };
    }
    let backticks = count_backticks(rest);
    match closing {
        Closing::Fence if backticks == rest.len() && !input.ended() => Err(Incomplete),
        Closing::Fence if backticks >= 3 || backticks == rest.len() => calls_to(at + backticks, calls),
        Closing::Fence => Ok(Decision::Text),
        Closing::EndOfAnswer if opening_marks::markup_begins(rest, input.ended())? => calls_to(at, calls),
        Closing::EndOfAnswer => Ok(Decision::Text),
    }
}

/// The call, if it is one of a tool on offer and not the definition of that tool.
fn offered(call: ReadCall, tools: &ToolNames) -> Option<TextCall> {
    call.arguments.as_ref()?;
    let call = call.into_call()?;
    let name = tools.resolve(&call.name)?;
    (!is_schema(name, &call.arguments, tools)).then(|| TextCall::new(name, &call.arguments))
}

/// Whether an object whose only key is the name of a tool is an answer: what it holds is not made of that tool's arguments.
fn is_keyed_answer(object: &str, tools: &ToolNames) -> bool {
    match members(object).as_slice() {
        [(key, value)] if tools.offer(key) => {
            let keys = members(value);
            keys.is_empty() || !is_distinctive(key) || !keys.iter().all(|(parameter, _)| tools.takes(key, parameter))
        }
        _ => false,
    }
}

/// Whether `arguments` are the schema of the tool's arguments.
pub(super) fn is_schema(name: &str, arguments: &str, tools: &ToolNames) -> bool {
    let members = members(arguments);
    let declares = |key: &str, value: &str| match key {
        "properties" => true,
        "type" => value == "\"object\"",
        _ => false,
    };
    let is_declared = |value: &str| value.starts_with('{') && self::members(value).iter().any(|(key, _)| key == "type");
    members.iter().any(|(key, value)| declares(key, value) && !tools.takes(name, key))
        || !members.is_empty() && members.iter().all(|(_, value)| is_declared(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::table_runner::{check, complete, cut, unchanged};

    const PARIS: &str = r#"call get_weather {"city": "Paris"}"#;
    const ROME: &str = r#"call get_weather {"city": "Rome"}"#;
    const OBJECT: &str = r#"{"name": "get_weather", "arguments": {"city": "Paris"}}"#;
    const OTHER: &str = r#"{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}"#;

    #[test]
    fn bare_objects_that_end_the_answer() {
        complete(&[
            (OBJECT, &[PARIS]),
            (&format!("\n{OBJECT}\n"), &[PARIS]),
            (&format!("{OBJECT}\n{OTHER}"), &[PARIS, ROME]),
            (&format!("{OBJECT}; {OTHER}<|eot_id|>"), &[PARIS, ROME]),
            (&format!("[{OBJECT}, {OTHER}]"), &[PARIS, ROME]),
            (&format!("I will look.\n\n{OBJECT}"), &["text I will look.", PARIS]),
            (&format!("<think>Hm.</think>{OBJECT}"), &["reasoning Hm.", PARIS]),
            (&format!("{{\"tool_calls\": [{OBJECT}, {OTHER}]}}"), &[PARIS, ROME]),
            (
                r#"{"type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}"#,
                &[PARIS],
            ),
            (r#"{"name": "get_weather", "arguments": {"city": "Paris"}"#, &[PARIS]),
            (&format!("{OBJECT}</tool_call>"), &[PARIS]),
        ]);
    }

    #[test]
    fn answers_in_json_are_text() {
        unchanged(&[
            r#"{"name": "Ada Lovelace", "born": 1815}"#,
            r#"{"name": "get_weather", "born": 1815}"#,
            r#"{"name": "get_weather"}"#,
            r#"{"name": "unknown", "arguments": {}}"#,
            "{}",
            "{",
            "[]",
            "[1, 2]",
            "[{\"a\": 1}]",
            r#"{"arguments": {"city": "Paris"}}"#,
            r#"{"tool_calls": []}"#,
            r#"{"tool_calls": [{"name": "unknown", "arguments": {}}]}"#,
            r#"{"name": "get_weather", "arguments": {"city": "Par"#,
            &format!("{OBJECT}\nis how one calls it."),
            &format!("Send {OBJECT}"),
            &format!("{OBJECT}\n{{\"x\": 1}}\n{OBJECT} ends it"),
            "{\n  \"a\": [\n    {\"name\": \"get_weather\", \"arguments\": {}}\n  ]\n}",
        ]);
    }

    #[test]
    fn fences() {
        complete(&[
            (&format!("```json\n{OBJECT}\n```"), &[PARIS]),
            (&format!("```\n{OBJECT}\n```\n"), &[PARIS]),
            (
                &format!("I call:\n```json\n{OBJECT}\n{OTHER}\n```\nSoon more."),
                &["text I call:", PARIS, ROME, "text \nSoon more."],
            ),
            (&format!("```tool_call\n[{OBJECT}]\n```\n\n```json\n{OTHER}```"), &[PARIS, ROME]),
            (&format!("So: ```json\n{OBJECT}\n```"), &["text So:", PARIS]),
            (&format!("```json\n{OBJECT}"), &[PARIS]),
            (&format!("```json\n{{\"tool_calls\": [{OBJECT}]}}\n```"), &[PARIS]),
            (
                "```json\n{\"name\": \"write_file\", \"arguments\": {\"content\": \"```\\nx\\n```\"}}\n```",
                &["call write_file {\"content\": \"```\\nx\\n```\"}"],
            ),
            (&format!("```xml\n<tool_call>\n{OBJECT}\n</tool_call>\n```"), &[PARIS]),
            ("```tool_code\nget_weather(city=\"Paris\")\n```", &[PARIS]),
            (&format!("```python\nx = 1\n```\n{OBJECT}"), &["text ```python\nx = 1\n```", PARIS]),
        ]);
    }

    #[test]
    fn other_fences_are_text() {
        unchanged(&[
            "```json\n{\"x\": 1}\n```",
            "```json\n{\"name\": \"unknown\", \"arguments\": {}}\n```",
            "```rust\nfn f() { x[0] < 1 }\n// <tool_call>{\"name\": \"get_weather\"}</tool_call>\n```\nSo.",
            "Say ```<tool_call>``` here, or ``<tool_call>{\"name\": \"x\"}``.",
            "```",
            "``",
            "```json\n{\"name\": \"get_weather\", \"arguments\": {}}\nand so on\n```",
        ]);
    }

    #[test]
    fn what_the_limit_cut_is_not_delivered() {
        let likely = OBJECT.find("{\"city").unwrap() + 1;
        for at in likely..OBJECT.len() {
            cut(&[(&OBJECT[..at], &[]), (&format!("Ok.\n```json\n{}", &OBJECT[..at]), &["text Ok."])]);
        }
        cut(&[(OBJECT, &[PARIS]), (&format!("```json\n{OBJECT}\n``"), &[PARIS])]);
        check(TextEnd::CallsBeside, &[(OBJECT, &[&format!("text {OBJECT}")])]);
    }
}
