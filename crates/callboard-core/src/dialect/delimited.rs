//! Calls between control tokens, in the form of any family that writes them so.
//!
//! A control token cannot be part of a value, so the payload ends at the next one that ends calls. A payload that
//! does not begin like a call is refused early: the text is about the token.

use super::input::{Decision, Incomplete, Input, ReadResult, begins_any, without_half};
use super::json_scan::{Extent, ObjectScan};
use super::marked_json::deliverable;
use super::piece::TextCall;
use super::tool_names::{NAMESPACE, ToolNames, bare_name, leading_name};
use super::unknown_form::unreadable_call;
use super::{dropped_tokens, gemma};

const LONGEST_HEAD: usize = 256;

/// How a family writes a call between tokens.
#[derive(Debug)]
pub(super) struct DelimitedForm {
    /// Tokens that end a call.
    pub(super) ends: &'static [&'static str],
    /// Tokens before arguments, or values.
    pub(super) separators: &'static [&'static str],
    pub(super) read: fn(Payload<'_>) -> Option<TextCall>,
}

/// The text between the tokens of one call.
#[derive(Clone, Copy)]
pub(super) struct Payload<'a> {
    /// The name, where it was read before the payload.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) tools: &'a ToolNames,
}

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Delimited {
    form: &'static DelimitedForm,
    name: String,
    start: usize,
    /// Everything before it has been searched for the end.
    searched: usize,
    /// The payload begins like a call.
    likely: bool,
}

impl Delimited {
    /// A call whose payload begins at `start`, after its opening token.
    pub(super) fn new(form: &'static DelimitedForm, start: usize) -> Self {
        Self { form, name: String::new(), start, searched: start, likely: false }
    }

    /// A call of which the name is known and the arguments begin at `start`.
    pub(super) fn named(form: &'static DelimitedForm, name: &str, start: usize) -> Self {
        Self { name: name.to_owned(), likely: true, ..Self::new(form, start) }
    }

    pub(super) fn resumes_at(&self) -> usize {
        if self.likely { self.searched } else { self.start }
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        if !self.likely {
            match self.head(input) {
                Ok(false) => return self.refuse(input),
                head => self.likely = head.is_ok(),
            }
        }
        if input.find_any(&mut self.searched, self.form.ends)? {
            return Ok(self.take(input, self.searched));
        }
        if input.ended() { self.take_unclosed(input) } else { Err(Incomplete) }
    }

    /// Whether the payload begins with a name, or part of one, and then with what separates it from arguments.
    fn head(&self, input: &Input<'_>) -> ReadResult<bool> {
        let payload = input.from(self.start).trim_ascii_start();
        let name = leading_name(payload);
        let behind = payload.get(name.len()..).unwrap_or_default().trim_ascii_start();
        let named = input.tools.begin(name.strip_prefix(gemma::PREFIX).unwrap_or(bare_name(name)));
        match behind.chars().next() {
            _ if name.len() > LONGEST_HEAD => Ok(false),
            None => Err(Incomplete),
            Some('{' | '`') => Ok(true),
            Some('<') => match begins_any(behind, self.form.separators, input.ended()) {
                Ok(false) if named || name.is_empty() => begins_any(behind, self.form.ends, input.ended()),
                answer => answer,
            },
            Some(_) if name.starts_with(gemma::PREFIX) && named => Ok(true),
            Some(_) => Ok(false),
        }
    }

    /// The end token itself is left: it is dropped like any other, or opens the next call.
    fn take(&self, input: &Input<'_>, end: usize) -> Decision {
        let payload = input.between(self.start, end);
        match self.read(payload, input) {
            Some(call) => deliver(end, &call),
            None if payload.trim_ascii().is_empty() => Decision::Markup(end),
            None => Decision::call(end, unreadable_call(None, payload.trim_ascii(), input)),
        }
    }

    fn take_unclosed(&self, input: &Input<'_>) -> ReadResult {
        let payload = without_half(input.from(self.start), self.form.ends);
        match self.read(payload, input) {
            Some(call) if deliverable(closed(&call.arguments), input.end) => Ok(deliver(input.body.len(), &call)),
            None if input.complete() && self.is_begun(payload) => {
                Ok(Decision::call(input.body.len(), unreadable_call(None, payload.trim_ascii(), input)))
            }
            None if input.complete() => self.refuse(input),
            _ => Err(Incomplete),
        }
    }

    fn read(&self, text: &str, input: &Input<'_>) -> Option<TextCall> {
        (self.form.read)(Payload { name: &self.name, text, tools: input.tools })
    }

    /// Whether the answer ends within a call, and not with a word after a token.
    fn is_begun(&self, payload: &str) -> bool {
        self.likely || payload.trim_ascii() == NAMESPACE
    }

    fn refuse(&self, input: &Input<'_>) -> ReadResult {
        dropped_tokens::drop(input, "", self.start)
    }
}

/// Arguments without surplus closing brackets.
fn closed(arguments: &str) -> &str {
    match ObjectScan::new(0).advance(arguments, true) {
        Extent::Closed(end) => match arguments.split_at_checked(end) {
            Some((object, rest)) if rest.trim_matches(['}', ']', ' ', '\n', '\r', '\t']).is_empty() => object,
            _ => arguments,
        },
        Extent::Open | Extent::BrokenOff(_) => arguments,
    }
}

fn deliver(length: usize, TextCall { name, arguments }: &TextCall) -> Decision {
    match closed(arguments) {
        "" => Decision::call(length, TextCall::without_arguments(name)),
        arguments => Decision::call(length, TextCall::new(name, arguments)),
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::table_runner::{complete, cut, unchanged};

    const PARIS: &str = r#"call get_weather {"city": "Paris"}"#;
    const ROME: &str = r#"call get_weather {"city": "Rome"}"#;

    #[test]
    fn kimi() {
        let paris = r#"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>"#;
        let rome = r#"<|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{"city": "Rome"}<|tool_call_end|>"#;
        complete(&[
            (&format!("<|tool_calls_section_begin|>{paris}{rome}<|tool_calls_section_end|>"), &[PARIS, ROME]),
            (
                &format!("So.\n<|tool_calls_section_begin|>\n{paris}\n{rome}\n<|tool_calls_section_end|>\nEnd."),
                &["text So.", PARIS, ROME, "text \nEnd."],
            ),
            (&format!("{paris}{rome}"), &[PARIS, ROME]),
            (paris.trim_end_matches("<|tool_call_end|>"), &[PARIS]),
            (&format!("{}{rome}", paris.trim_end_matches("<|tool_call_end|>")), &[PARIS, ROME]),
            (r#"<|tool_call_begin|>get_weather {"city": "Paris"}<|tool_call_end|>"#, &[PARIS]),
            (
                r#"<|tool_call_begin|>get_weather<|tool_call_argument_begin|>{"city": "Par"#,
                &[r#"call get_weather {"city": "Par"#],
            ),
        ]);
        for at in 4..paris.len() - "}<|tool_call_end|>".len() {
            cut(&[(&format!("So.\n{}", &paris[..at]), &["text So."])]);
        }
    }

    #[test]
    fn deepseek() {
        let v3 = "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{\"city\": \"Paris\"}\n```<｜tool▁call▁end｜>";
        let v31 = r#"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome"}<｜tool▁call▁end｜>"#;
        complete(&[
            (&format!("<｜tool▁calls▁begin｜>{v3}\n{v31}<｜tool▁calls▁end｜>"), &[PARIS, ROME]),
            (&format!("So.\n\n{v3}<｜end▁of▁sentence｜>"), &["text So.", PARIS]),
            (v31.trim_end_matches("<｜tool▁call▁end｜>"), &[ROME]),
        ]);
        let whole = v31.find('}').unwrap();
        for (at, _) in v31.char_indices().skip(2).take_while(|(at, _)| *at <= whole) {
            cut(&[(&format!("So.\n{}", &v31[..at]), &["text So."])]);
        }
    }

    #[test]
    fn harmony() {
        let call = r#"<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>"#;
        complete(&[
            (
                &format!("<|channel|>analysis<|message|>The user wants it.<|end|>{call}"),
                &["reasoning The user wants it.", PARIS],
            ),
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>",
                &["reasoning Hm.", "text Hello."],
            ),
            (
                &format!("<|channel|>commentary<|message|>Let me see.<|end|>{call}{call}"),
                &["text Let me see.", PARIS, PARIS],
            ),
            (
                r#"<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Paris"}"#,
                &[PARIS],
            ),
            (
                r#"<|channel|>commentary to=functions.get_weather<|channel|>commentary<|message|>{"city": "Paris"}<|call|>"#,
                &[PARIS],
            ),
            ("<|channel|>commentary to=functions.list_files<|message|><|call|>", &["call list_files {}"]),
            ("<|channel|>final<|message|>a < b and {x}", &["text a < b and {x}"]),
            ("<|channel|>analysis<|message|>a<|channel|>analysis<|message|>b", &["reasoning a\nb"]),
        ]);
        for at in 4..call.len() - "}<|call|>".len() {
            cut(&[(&format!("So.\n{}", &call[..at]), &["text So."])]);
        }
    }

    #[test]
    fn gemma() {
        complete(&[
            (
                r#"So.<|tool_call>call:get_weather{city:<|"|>Paris}"<|"|>,days:3}<tool_call|>Ok"#,
                &["text So.", r#"call get_weather {"city":"Paris}\"","days":3}"#, "text Ok"],
            ),
            (
                "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call><start_function_call>call:list_files{}<end_function_call>",
                &[r#"call get_weather {"city":"Paris"}"#, "call list_files {}"],
            ),
            ("<start_function_call>call:list_files{}", &["call list_files {}"]),
        ]);
        cut(&[("So.\n<start_function_call>call:get_weather{city:<escape>Par", &["text So."])]);
        unchanged(&["`<|tool_call>`", "The <start_function_call> mark."]);
    }
}
