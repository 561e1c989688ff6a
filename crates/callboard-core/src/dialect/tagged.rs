//! Calls whose parameters are written as tags, in the spelling of any family.
//!
//! Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>`; MiniMax M2 and DSML:
//! `<invoke name="…"><parameter name="…">…`; GLM: pairs of key and value. Every tag may be
//! missing, and a value may contain the tags that close it: a tag closes only if a valid
//! continuation follows. Text outside of all parameters is dropped; validation re-asks for it.

use super::active_reader::MarkupReader;
use super::input::{Decision, Incomplete, Input, ReadResult, leading, skip_whitespace, trimmed_length, without_half};
use super::marked_json::{JsonArguments, LONGEST_PROSE};
use super::piece::TextCall;
use super::tag_key::{bare, read_key};
use super::tag_parameters::TagValues;
use super::tool_names::{bare_name, is_name};

/// How a family spells its tags.
#[derive(Debug)]
pub(super) struct Spelling {
    /// Opens a call; the name is between it and the next `>`.
    pub(super) function: &'static str,
    pub(super) function_end: &'static str,
    pub(super) parameter: &'static str,
    /// Separates a key from its value.
    pub(super) key_end: &'static str,
    /// Follows `key_end`, after whitespace.
    pub(super) value: &'static str,
    pub(super) parameter_end: &'static str,
    /// Closes what encloses a call.
    pub(super) outer_end: &'static str,
    /// What can follow a whole call.
    pub(super) outside: &'static [&'static str],
}

/// The part of a call being read, and where it began.
#[derive(Debug)]
enum TagState {
    Head,
    Between,
    Value(usize),
    /// Text outside of any parameter.
    Stray(usize),
}

/// The decision about a call, or none while the next state continues.
type Step = ReadResult<Option<Decision>>;

/// One call, read as far as its text has arrived.
#[derive(Debug)]
pub(super) struct Tagged {
    spelling: &'static Spelling,
    name: String,
    values: TagValues,
    /// The end of the name, and whether markup preceded the call.
    head_end: usize,
    opened: bool,
    at: usize,
    /// The first tag in the current value that may have closed it.
    closed_at: Option<usize>,
    /// Text outside of any parameter has passed.
    strayed: bool,
    state: TagState,
}

impl Tagged {
    /// A call whose function tag begins at `at`.
    pub(super) fn new(spelling: &'static Spelling, at: usize) -> Self {
        Self {
            spelling,
            name: String::new(),
            values: TagValues::default(),
            head_end: at,
            opened: at > 0,
            at,
            closed_at: None,
            strayed: false,
            state: TagState::Head,
        }
    }

    /// A call whose name, which may be missing, ends at `at`.
    pub(super) fn named(spelling: &'static Spelling, name: &str, at: usize) -> Self {
        Self { name: name.to_owned(), state: TagState::Between, ..Self::new(spelling, at) }
    }

    pub(super) fn resumes_at(&self) -> usize {
        self.at
    }

    pub(super) fn next(&mut self, input: &Input<'_>) -> ReadResult {
        loop {
            let step = match self.state {
                TagState::Head => self.read_head(input),
                TagState::Between => self.read_between(input),
                TagState::Value(start) => self.read_value(input, start),
                TagState::Stray(start) => self.read_stray(input, start),
            };
            if let Some(decision) = step? {
                return Ok(decision);
            }
        }
    }

    fn read_head(&mut self, input: &Input<'_>) -> Step {
        let start = self.at + self.spelling.function.len();
        if self.at == self.head_end && input.begins(start, self.spelling.function)? {
            self.at = start;
            return Ok(None);
        }
        match read_key(input, start, ">", "") {
            Err(Incomplete) if input.complete() => Ok(Some(self.end_in_head(input, start))),
            Err(Incomplete) => Err(Incomplete),
            Ok(Some(key)) if is_name(key.text) => Ok(self.end_head(bare_name(key.text), key.end)),
            Ok(_) => Ok(self.read_unclosed_head(input, start)),
        }
    }

    fn end_head(&mut self, name: &str, end: usize) -> Option<Decision> {
        self.name = name.to_owned();
        (self.at, self.head_end, self.state) = (end, end, TagState::Between);
        None
    }

    /// The `>` that ends the function's tag may be missing, if the name is on offer and a line or tag ends it; so may
    /// the name, if markup precedes the call.
    fn read_unclosed_head(&mut self, input: &Input<'_>, start: usize) -> Option<Decision> {
        let written = leading(input.from(start), |character| !matches!(character, '<' | '>' | '\n'));
        let name = bare_name(written.trim_matches(['"', '\'', ' ']));
        let missing = name.is_empty() && self.is_opened(input);
        if !missing && !input.tools.offer(name) {
            return Some(Decision::Text);
        }
        let end = start + written.len();
        self.end_head(name, end + usize::from(input.from(end).starts_with('>')))
    }

    fn is_opened(&self, input: &Input<'_>) -> bool {
        self.opened || input.context.after_markup
    }

    /// The answer ends within the name.
    fn end_in_head(&mut self, input: &Input<'_>, start: usize) -> Decision {
        let name = input.from(start).trim_matches(['"', '\'', ' ', '\n']);
        let begun = is_name(name) && input.context.line_start || name.is_empty() && self.is_opened(input);
        if !begun {
            return Decision::Text;
        }
        self.name = bare_name(name).to_owned();
        self.finish(input.body.len())
    }

    fn read_between(&mut self, input: &Input<'_>) -> Step {
        self.at = skip_whitespace(input.body, self.at);
        let rest = input.from(self.at);
        if input.ended() && self.tags().iter().any(|tag| tag.starts_with(rest)) {
            return if input.complete() { Ok(Some(self.finish(input.body.len()))) } else { Err(Incomplete) };
        }
        if rest.starts_with('{') && self.values.is_empty() {
            let arguments = JsonArguments::new(&self.name, self.at, None);
            return Ok(Some(Decision::Become(MarkupReader::JsonArguments(arguments))));
        }
        let Spelling { function_end, parameter, parameter_end, outside, .. } = self.spelling;
        if input.begins(self.at, function_end)? {
            return Ok(Some(self.finish(self.at + function_end.len())));
        }
        if input.begins(self.at, parameter)? {
            return self.read_parameter(input);
        }
        if input.begins_any(self.at, outside)? {
            return Ok(Some(self.finish(trimmed_length(input.body, self.at))));
        }
        input.begins(self.at, parameter_end)?;
        if self.is_talked_about(input) {
            return Ok(Some(Decision::Text));
        }
        self.stray();
        Ok(None)
    }

    fn stray(&mut self) {
        (self.strayed, self.state) = (true, TagState::Stray(self.at));
    }

    /// Whether a sentence, not a call, continues after the name. After other text it may not be far: it is reread.
    fn is_talked_about(&self, input: &Input<'_>) -> bool {
        if !self.values.is_empty() || self.strayed && self.at - self.head_end > LONGEST_PROSE {
            return false;
        }
        let gap = input.between(self.head_end, self.at);
        let on_line = match input.from(self.at).chars().next() {
            Some('.' | ',' | ';' | ':') => true,
            Some(sign) => sign != '<' && !gap.is_empty() && !gap.contains('\n'),
            None => false,
        };
        on_line || !self.is_opened(input) && !input.tools.offer(&self.name)
    }

    /// Text between parameters: a value whose opening tag is missing if a tag of the call follows, else the words after
    /// a call that was not closed.
    fn read_stray(&mut self, input: &Input<'_>, start: usize) -> Step {
        let tags = [&self.tags(), self.spelling.outside].concat();
        let found = input.find_any(&mut self.at, &tags)?;
        if found && !self.is_outside(input) {
            (self.at, self.state) = (input.behind(self.at, self.spelling.parameter_end), TagState::Between);
            return Ok(None);
        }
        if !found && !input.complete() {
            return Err(Incomplete);
        }
        Ok(Some(self.end_before(input, start)))
    }

    /// Whether another call begins at the current position.
    fn is_outside(&self, input: &Input<'_>) -> bool {
        let rest = input.from(self.at);
        !rest.starts_with("</") && !rest.starts_with(self.spelling.parameter)
    }

    /// The call ends before the text at `start`, which is not part of it. Without any parameter it is not a call, unless
    /// its outer mark shows that it is.
    fn end_before(&mut self, input: &Input<'_>, start: usize) -> Decision {
        match (self.values.is_empty(), self.is_opened(input)) {
            (false, _) => self.finish(trimmed_length(input.body, start)),
            (true, true) => self.finish(trimmed_length(input.body, self.at)),
            (true, false) => Decision::Text,
        }
    }

    fn read_parameter(&mut self, input: &Input<'_>) -> Step {
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        let start = self.at + parameter.len();
        match read_key(input, start, key_end, value) {
            Ok(Some(key)) => {
                self.values.open(key.text, key.is_json);
                (self.at, self.state) = (key.end, TagState::Value(key.end));
            }
            Err(Incomplete) if input.complete() => return Ok(Some(self.break_off(input, bare(input.from(start))))),
            Err(Incomplete) => return Err(Incomplete),
            Ok(None) if self.values.is_empty() && !input.tools.offer(&self.name) => return Ok(Some(Decision::Text)),
            Ok(None) => {
                self.at += 1;
                self.stray();
            }
        }
        Ok(None)
    }

    /// The answer ends before the value of `key`, so the model is asked for it again.
    fn break_off(&mut self, input: &Input<'_>, key: &str) -> Decision {
        let arguments = self.values.broken_off(key);
        Decision::call(input.body.len(), TextCall::new(&self.name, &arguments))
    }

    /// Looks at each `<` in the value until one ends it.
    fn read_value(&mut self, input: &Input<'_>, start: usize) -> Step {
        let parameter_end = self.spelling.parameter_end;
        while let Some(offset) = memchr::memchr(b'<', input.from(self.at).as_bytes()) {
            self.at += offset;
            if self.ends_value(input)? {
                return Ok(self.take_value(input, start, self.at));
            }
            let closes = input.from(self.at).starts_with(parameter_end);
            self.closed_at = self.closed_at.or(closes.then_some(self.at));
            self.at += 1;
        }
        self.at = input.body.len();
        if !input.complete() {
            return Err(Incomplete);
        }
        let end = self.closed_at.unwrap_or_else(|| without_half(input.body, &self.tags()).len());
        Ok(self.take_value(input, start, end))
    }

    /// The tags that can follow a value.
    fn tags(&self) -> [&'static str; 4] {
        let Spelling { parameter, parameter_end, function_end, outer_end, .. } = self.spelling;
        [parameter, parameter_end, function_end, outer_end]
    }

    fn take_value(&mut self, input: &Input<'_>, start: usize, end: usize) -> Option<Decision> {
        self.values.close(input.between(start, end));
        self.at = input.behind(end, self.spelling.parameter_end);
        (self.closed_at, self.state) = (None, TagState::Between);
        None
    }

    /// Whether the tag at the current position ends the value.
    fn ends_value(&self, input: &Input<'_>) -> ReadResult<bool> {
        let Spelling { parameter, parameter_end, function_end, outer_end, outside, .. } = self.spelling;
        Ok(followed(input, self.at, parameter_end, &[parameter, function_end])?
            || followed(input, self.at, parameter_end, outside)?
            || followed(input, self.at, function_end, outside)?
            || followed(input, self.at, outer_end, outside)?
            || self.opens_parameter(input)?)
    }

    /// The next parameter at the start of a line ends a value whose closing tag is missing.
    fn opens_parameter(&self, input: &Input<'_>) -> ReadResult<bool> {
        let Spelling { parameter, key_end, value, .. } = self.spelling;
        if !input.between(0, self.at).ends_with('\n') || !input.begins(self.at, parameter)? {
            return Ok(false);
        }
        match read_key(input, self.at + parameter.len(), key_end, value) {
            Err(Incomplete) if input.ended() => Ok(true),
            key => Ok(key?.is_some()),
        }
    }

    fn finish(&mut self, length: usize) -> Decision {
        Decision::call(length, TextCall::new(&self.name, &self.values.arguments()))
    }
}

/// Whether `tag` is at `at`, once or twice, and one of `marks`, or the end of the text, after it.
fn followed(input: &Input<'_>, at: usize, tag: &str, marks: &[&str]) -> ReadResult<bool> {
    if !input.begins(at, tag)? {
        return Ok(false);
    }
    let after = skip_whitespace(input.body, input.behind(at, tag));
    if after == input.body.len() && input.ended() || input.begins_any(after, marks)? {
        return Ok(true);
    }
    // The tag may be arriving a second time.
    input.begins(after, tag).map(|_| false)
}
