//! One reply of the model while it comes in: its text, its calls, how it ended.

use crate::contract::{RawCall, ToolSet, json};
use crate::dialect::{TextEnd, TextPiece, TextReader};
use crate::model::{Delta, Finish, Usage};

use super::Assembler;

/// What has come in of the reply to one request.
#[derive(Default)]
pub(super) struct Reply {
    reader: Option<TextReader>,
    pub(super) assembler: Assembler,
    native_calls: usize,
    text_calls: Vec<RawCall>,
    /// All text so far, for a re-ask and for the check of a response format.
    pub(super) spoken: String,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Option<Usage>,
    pub(super) refused: bool,
    pub(super) bytes: usize,
    /// Calls that the limit cut off; they are not delivered.
    pub(super) cut_calls: usize,
}

/// Text that a delta brought, sorted out.
pub(super) enum Heard {
    Text(String),
    Reasoning(String),
}

impl Reply {
    /// A reply in which calls may stand in the text when tools are on offer.
    pub(super) fn new(tools: &ToolSet) -> Self {
        let reader = (!tools.is_empty()).then(|| TextReader::new(&tools.names().collect::<Vec<_>>()));
        Self { reader, ..Self::default() }
    }

    /// Takes a piece of text; what is text or reasoning for sure comes back.
    pub(super) fn text(&mut self, text: String, heard: &mut Vec<Heard>) {
        self.bytes += text.len();
        let Some(reader) = &mut self.reader else {
            heard.push(Heard::Text(text));
            return;
        };
        let mut pieces = Vec::new();
        reader.feed(&text, &mut pieces);
        self.sort(pieces, heard);
    }

    /// Takes a piece of a native call and returns its place.
    pub(super) fn call(&mut self, delta: Delta, tools: &ToolSet) -> Option<usize> {
        let Delta::Call(fragment) = delta else { return None };
        self.bytes += fragment.arguments.as_ref().map_or(0, String::len);
        let place = self.assembler.push(fragment, tools);
        self.native_calls = self.native_calls.max(place + 1);
        Some(place)
    }

    /// True when the token limit or a filter cut the reply off.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self.finish, Some(Finish::Length | Finish::ContentFilter))
    }

    /// Closes the text; what was held back as a possible call and is none comes back.
    pub(super) fn close(&mut self, heard: &mut Vec<Heard>) {
        let end = match (self.is_cut(), self.native_calls) {
            (true, _) => TextEnd::CutByLimit,
            (false, 0) => TextEnd::Complete,
            (false, _) => TextEnd::CallsBeside,
        };
        let Some(mut reader) = self.reader.take() else { return };
        let mut pieces = Vec::new();
        reader.finish(end, &mut pieces);
        self.sort(pieces, heard);
    }

    /// All calls of the closed reply: native ones, then those from the text; and whether every index was right.
    pub(super) fn take_calls(&mut self) -> (Vec<RawCall>, bool) {
        let (mut calls, ordered) = self.assembler.finish();
        if self.is_cut() && calls.last().is_some_and(|call| !is_whole(call)) {
            calls.pop();
            self.cut_calls += 1;
        }
        let mut written = std::mem::take(&mut self.text_calls);
        written.retain(|call| !calls.iter().any(|native| is_same(native, call)));
        calls.append(&mut written);
        (calls, ordered)
    }

    fn sort(&mut self, pieces: Vec<TextPiece>, heard: &mut Vec<Heard>) {
        for piece in pieces {
            match piece {
                TextPiece::Text(text) => heard.push(Heard::Text(text)),
                TextPiece::Reasoning(text) => heard.push(Heard::Reasoning(text)),
                TextPiece::Call(call) => {
                    let (name, arguments) = (call.name, call.arguments);
                    self.text_calls.push(RawCall { name, arguments, from_text: true, ..RawCall::default() });
                }
                TextPiece::CutOffCall => self.cut_calls += 1,
            }
        }
    }
}

/// Whether a server delivered a call and left its text in the content as well.
fn is_same(native: &RawCall, written: &RawCall) -> bool {
    let value = |call: &RawCall| json::read_arguments(&call.arguments).ok().map(|reading| reading.values);
    native.name == written.name && value(native).is_some_and(|arguments| value(written) == Some(arguments))
}

/// A call cut off by the limit is only whole when its arguments are a closed JSON object.
fn is_whole(call: &RawCall) -> bool {
    json::read_strict(&call.arguments).is_ok_and(|value| value.is_object())
}
