//! Calls without a mark: a bare JSON object, several of them, a list, or the same in a code fence.
//!
//! Nothing but the content tells such a call from an answer in JSON, so it is held back only as long
//! as it can become a call: its keys are those of a call, its name is on offer, and, without a fence,
//! the answer ends with it.

use super::call_head::{Head, head};
use super::capture::Capture;
use super::fence::count_backticks;
use super::json_call::{ARGUMENT_KEYS, ReadCall, members, read_calls};
use super::json_scan::{Extent, ObjectScan};
use super::objects::is_json;
use super::opener;
use super::piece::{End, TextCall};
use super::pythonic::Pythonic;
use super::sight::{Begins, Sight, Step};
use super::tool_names::ToolNames;

/// Where a call without a mark must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    EndOfAnswer,
    Fence,
}

/// Objects without a mark, read as far as their text has arrived.
#[derive(Debug)]
pub(super) struct Plain {
    closing: Closing,
    /// Where the current object, or what stands before the next, begins.
    at: usize,
    scan: Option<ObjectScan>,
    /// The current object has the head of a call.
    likely: bool,
    calls: Vec<TextCall>,
    /// Whole objects have been read to here.
    examined: usize,
}

impl Plain {
    /// An object or a list begins at `at`.
    pub(super) fn new(at: usize, closing: Closing) -> Self {
        Self { closing, at, scan: None, likely: false, calls: Vec::new(), examined: 0 }
    }

    /// How much of the text has been read to its end and need not be tried again.
    pub(super) fn examined(&self) -> usize {
        self.examined
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        loop {
            let step = if self.scan.is_none() { self.find_object(sight) } else { self.read_object(sight) };
            if let Some(step) = step {
                return step;
            }
        }
    }

    fn find_object(&mut self, sight: &Sight<'_>) -> Option<Step> {
        let rest = sight.from(self.at);
        let between = |character: char| character.is_ascii_whitespace() || matches!(character, '[' | ']' | ',' | ';');
        let at = self.at + (rest.len() - rest.trim_start_matches(between).len());
        match sight.from(at).chars().next() {
            Some('{') => {
                (self.at, self.scan, self.likely) = (at, Some(ObjectScan::new(at)), false);
                None
            }
            Some(character) if self.calls.is_empty() => {
                let pythonic = rest.starts_with('[') && (character.is_alphabetic() || character == '_');
                Some(if pythonic {
                    Step::Become(Capture::Pythonic(Pythonic::plain(self.at, self.closing)))
                } else {
                    Step::Text
                })
            }
            None if self.calls.is_empty() => Some(sight.wait_or(Step::Text)),
            _ => Some(end_of_calls(self.closing, sight, at, &mut self.calls)),
        }
    }

    fn read_object(&mut self, sight: &Sight<'_>) -> Option<Step> {
        if !self.likely {
            match head(sight.from(self.at), sight.tools) {
                Head::OfAnswer => return Some(Step::Text),
                Head::OfCall => self.likely = true,
                Head::Undecided => {}
            }
        }
        match self.scan.as_mut()?.advance(sight.body, sight.ended()) {
            Extent::Closed(end) => self.take(sight, end),
            Extent::BrokenOff(end) => Some(self.take_unclosed(sight, end)),
            Extent::Open if sight.ended() => Some(self.take_unclosed(sight, sight.body.len())),
            Extent::Open => Some(Step::Wait),
        }
    }

    fn take(&mut self, sight: &Sight<'_>, end: usize) -> Option<Step> {
        let object = sight.body.get(self.at..end).unwrap_or_default();
        self.examined = end;
        for call in read_calls(object, sight.tools) {
            match offered(call, sight.tools) {
                Some(call) => self.calls.push(call),
                None => return Some(Step::Text),
            }
        }
        (self.at, self.scan) = (end, None);
        None
    }

    /// The last brace may be missing, but not a part of the arguments.
    fn take_unclosed(&mut self, sight: &Sight<'_>, end: usize) -> Step {
        let object = sight.body.get(self.at..end).unwrap_or_default();
        self.examined = end;
        let whole = members(object).iter().any(|(key, value)| ARGUMENT_KEYS.contains(&key.as_str()) && is_json(value));
        match sight.end {
            Some(End::CutByLimit) if self.likely => Step::Wait,
            None | Some(End::Complete) if whole => match self.take(sight, end) {
                Some(step) => step,
                None => end_of_calls(self.closing, sight, end, &mut self.calls),
            },
            _ => Step::Text,
        }
    }
}

/// What stands behind the last of `calls` decides whether they are calls.
pub(super) fn end_of_calls(closing: Closing, sight: &Sight<'_>, at: usize, calls: &mut Vec<TextCall>) -> Step {
    let calls_to = |length, calls: &mut Vec<TextCall>| Step::Calls { length, calls: std::mem::take(calls), then: None };
    let rest = sight.from(at);
    if rest.is_empty() {
        return match sight.end {
            None => Step::Wait,
            Some(End::CallsBeside) => Step::Text,
            Some(End::Complete | End::CutByLimit) => calls_to(at, calls),
        };
    }
    let backticks = count_backticks(rest);
    match closing {
        Closing::Fence if backticks == rest.len() && !sight.ended() => Step::Wait,
        Closing::Fence if backticks >= 3 || backticks == rest.len() => calls_to(at + backticks, calls),
        Closing::Fence => Step::Text,
        Closing::EndOfAnswer => match opener::markup_begins(rest, sight.ended()) {
            Begins::Yes => calls_to(at, calls),
            Begins::Perhaps => Step::Wait,
            Begins::No => Step::Text,
        },
    }
}

fn offered(call: ReadCall, tools: &ToolNames) -> Option<TextCall> {
    call.arguments.as_ref()?;
    call.into_call().filter(|call| tools.offer(&call.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::check::{check, complete, cut, unchanged};

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
        check(End::CallsBeside, &[(OBJECT, &[&format!("text {OBJECT}")])]);
    }
}
