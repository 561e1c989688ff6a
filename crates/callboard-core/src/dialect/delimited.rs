//! Calls between control tokens, in the form of any family that writes them so.
//!
//! A control token cannot be part of a value, so the payload simply ends at the next one that ends calls.

use super::objects::deliverable;
use super::piece::TextCall;
use super::sight::{Begins, Sight, Step, begins_any};
use super::{deepseek, gemma, harmony, kimi};

/// The family whose call stands between the tokens.
#[derive(Debug)]
pub(super) enum Form {
    Kimi,
    DeepSeek,
    Gemma,
    Harmony { name: String },
}

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Delimited {
    form: Form,
    start: usize,
    /// Everything before it has been searched for the end.
    searched: usize,
}

impl Delimited {
    /// A call whose payload begins at `start`, behind its opening token.
    pub(super) fn new(form: Form, start: usize) -> Self {
        Self { form, start, searched: start }
    }

    pub(super) fn next(&mut self, sight: &Sight<'_>) -> Step {
        let ends = match self.form {
            Form::Kimi => kimi::ENDS.as_slice(),
            Form::DeepSeek => deepseek::ENDS.as_slice(),
            Form::Gemma => gemma::ENDS.as_slice(),
            Form::Harmony { .. } => harmony::ENDS.as_slice(),
        };
        while let Some(offset) = memchr::memchr(b'<', sight.from(self.searched).as_bytes()) {
            self.searched += offset;
            match begins_any(sight.from(self.searched), ends, sight.ended()) {
                Begins::Yes => return self.take(sight, self.searched),
                Begins::Perhaps => return Step::Wait,
                Begins::No => self.searched += 1,
            }
        }
        self.searched = sight.body.len();
        if sight.ended() { self.take_unclosed(sight) } else { Step::Wait }
    }

    /// The end token itself is left: it is dropped like any other, or opens the next call.
    fn take(&self, sight: &Sight<'_>, end: usize) -> Step {
        match self.read(sight.body.get(self.start..end).unwrap_or_default()) {
            Some(call) => deliver(end, call),
            None => Step::Markup(self.start),
        }
    }

    fn take_unclosed(&self, sight: &Sight<'_>) -> Step {
        match self.read(sight.from(self.start)) {
            Some(call) if deliverable(&call.arguments, sight.end) => deliver(sight.body.len(), call),
            _ => Step::Wait,
        }
    }

    fn read(&self, payload: &str) -> Option<TextCall> {
        match &self.form {
            Form::Kimi => kimi::read(payload),
            Form::DeepSeek => deepseek::read(payload),
            Form::Gemma => gemma::read(payload),
            Form::Harmony { name } => Some(harmony::read(name, payload)),
        }
    }
}

fn deliver(length: usize, mut call: TextCall) -> Step {
    if call.arguments.is_empty() {
        call.arguments.push_str("{}");
    }
    Step::call(length, call)
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
                &["text So.", r#"call get_weather {city:"Paris}\"",days:3}"#, "text Ok"],
            ),
            (
                "<start_function_call>call:get_weather{city:<escape>Paris<escape>}<end_function_call><start_function_call>call:list_files{}<end_function_call>",
                &[r#"call get_weather {city:"Paris"}"#, "call list_files {}"],
            ),
            ("<start_function_call>call:list_files{}", &["call list_files {}"]),
        ]);
        cut(&[("So.\n<start_function_call>call:get_weather{city:<escape>Par", &["text So."])]);
        unchanged(&["`<|tool_call>`", "The <start_function_call> mark."]);
    }
}
