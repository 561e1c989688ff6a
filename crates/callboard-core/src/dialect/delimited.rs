//! Calls between control tokens, in the form of any family that writes them so.
//!
//! A control token cannot be part of a value, so the payload simply ends at the next one that ends calls. A payload that
//! does not begin like a call is refused early: the token was talked about.

use super::json_scan::{Extent, ObjectScan};
use super::objects::deliverable;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, begins_any};
use super::tool_names::{NAMESPACE, ToolNames, bare_name, is_name_character};
use super::unreadable::meant;
use super::{deepseek, gemma, harmony, kimi, special};

const LONGEST_HEAD: usize = 256;

/// The family whose call stands between the tokens.
#[derive(Debug)]
pub(super) enum Form {
    Kimi,
    DeepSeek,
    Gemma,
    Harmony { name: String },
}

impl Form {
    /// Tokens that end a call.
    fn ends(&self) -> &'static [&'static str] {
        match self {
            Self::Kimi => &kimi::ENDS,
            Self::DeepSeek => &deepseek::ENDS,
            Self::Gemma => &gemma::ENDS,
            Self::Harmony { .. } => &harmony::ENDS,
        }
    }

    /// Tokens that stand before arguments, or values.
    fn separators(&self) -> &'static [&'static str] {
        match self {
            Self::Kimi => &[kimi::ARGUMENTS],
            Self::DeepSeek => &[deepseek::SEPARATOR],
            Self::Gemma => &gemma::QUOTES,
            Self::Harmony { .. } => &[],
        }
    }

    fn read(&self, payload: &str, tools: &ToolNames) -> Option<TextCall> {
        match self {
            Self::Kimi => kimi::read(payload, tools),
            Self::DeepSeek => deepseek::read(payload, tools),
            Self::Gemma => gemma::read(payload),
            Self::Harmony { name } => Some(harmony::read(name, payload)),
        }
    }
}

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Delimited {
    form: Form,
    start: usize,
    /// Everything before it has been searched for the end.
    searched: usize,
    /// The payload begins like a call.
    likely: bool,
}

impl Delimited {
    /// A call whose payload begins at `start`, behind its opening token.
    pub(super) fn new(form: Form, start: usize) -> Self {
        let likely = matches!(form, Form::Harmony { .. });
        Self { form, start, searched: start, likely }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        if !self.likely {
            match self.head(sight) {
                Begins::Yes => self.likely = true,
                Begins::Perhaps => {}
                Begins::No => return self.refuse(sight),
            }
        }
        while let Some(offset) = memchr::memchr(b'<', sight.from(self.searched).as_bytes()) {
            self.searched += offset;
            match begins_any(sight.from(self.searched), self.form.ends(), sight.ended()) {
                Begins::Yes => return self.take(sight, self.searched),
                Begins::Perhaps => return Step::Wait,
                Begins::No => self.searched += 1,
            }
        }
        self.searched = sight.body.len();
        if sight.ended() { self.take_unclosed(sight) } else { Step::Wait }
    }

    /// Whether the payload begins with a name, or part of one, and then with what separates it from arguments.
    fn head(&self, sight: &Sight<'_>) -> Begins {
        let payload = sight.from(self.start).trim_ascii_start();
        let length = payload.find(|sign| !is_name_character(sign)).unwrap_or(payload.len());
        let (name, behind) = payload.split_at(length);
        let behind = behind.trim_ascii_start();
        let named = sight.tools.begin(name.strip_prefix(gemma::PREFIX).unwrap_or(bare_name(name)));
        match behind.chars().next() {
            _ if length > LONGEST_HEAD => Begins::No,
            None => Begins::Perhaps,
            Some('{' | '`') => Begins::Yes,
            Some('<') => match begins_any(behind, self.form.separators(), sight.ended()) {
                Begins::No if named || name.is_empty() => begins_any(behind, self.form.ends(), sight.ended()),
                answer => answer,
            },
            Some(_) if name.starts_with(gemma::PREFIX) && named => Begins::Yes,
            Some(_) => Begins::No,
        }
    }

    /// The end token itself is left: it is dropped like any other, or opens the next call.
    fn take(&self, sight: &Sight<'_>, end: usize) -> Step {
        let payload = sight.body.get(self.start..end).unwrap_or_default();
        match self.form.read(payload, sight.tools) {
            Some(call) => deliver(end, call),
            None if payload.trim_ascii().is_empty() => Step::Markup(end),
            None => Step::call(end, meant(None, payload.trim_ascii(), sight)),
        }
    }

    fn take_unclosed(&self, sight: &Sight<'_>) -> Step {
        let payload = without_half(sight.from(self.start), self.form.ends());
        match self.form.read(payload, sight.tools) {
            Some(call) if deliverable(closed(&call.arguments), sight.end) => deliver(sight.body.len(), call),
            None if sight.complete() && self.is_begun(payload) => {
                Step::call(sight.body.len(), meant(None, payload.trim_ascii(), sight))
            }
            None if sight.complete() => self.refuse(sight),
            _ => Step::Wait,
        }
    }

    /// Whether the answer ends within a call, and not with a word behind a token.
    fn is_begun(&self, payload: &str) -> bool {
        self.likely || payload.trim_ascii() == NAMESPACE
    }

    fn refuse(&self, sight: &Sight<'_>) -> Step {
        special::drop(sight, "", self.start)
    }
}

/// The payload without the part of an end token that it breaks off in.
fn without_half<'a>(payload: &'a str, ends: &[&str]) -> &'a str {
    match memchr::memrchr(b'<', payload.as_bytes()).and_then(|at| payload.split_at_checked(at)) {
        Some((before, last)) if ends.iter().any(|end| end.starts_with(last)) => before,
        _ => payload,
    }
}

/// Arguments without brackets that close nothing.
fn closed(arguments: &str) -> &str {
    match ObjectScan::new(0).advance(arguments, true) {
        Extent::Closed(end) => match arguments.split_at_checked(end) {
            Some((object, rest)) if rest.trim_matches(['}', ']', ' ', '\n', '\r', '\t']).is_empty() => object,
            _ => arguments,
        },
        Extent::Open | Extent::BrokenOff(_) => arguments,
    }
}

fn deliver(length: usize, call: TextCall) -> Step {
    let arguments = match closed(&call.arguments) {
        "" => "{}",
        arguments => arguments,
    };
    Step::call(length, TextCall { arguments: arguments.to_owned(), name: call.name })
}

#[cfg(test)]
mod tests {
    use crate::dialect::check::{complete, cut, unchanged};

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
