//! One reply of the model while it arrives: its text, its calls, and how it ended.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::contract::{RawCall, ToolSet, Violation, ViolationKind, json};
use crate::dialect::{TextEnd, TextPiece, TextReader};
use crate::model::{Delta, Finish, Usage};

use super::Assembler;

/// The part of a reply that has arrived.
#[derive(Default)]
pub(super) struct ModelReply {
    reader: Option<TextReader>,
    pub(super) assembler: Assembler,
    native_calls: usize,
    text_calls: Vec<RawCall>,
    most_calls: usize,
    /// All text so far, for a re-ask and for the check of a response format.
    pub(super) spoken: String,
    pub(super) finish: Option<Finish>,
    pub(super) usage: Option<Usage>,
    pub(super) refused: bool,
    pub(super) bytes: usize,
    /// Calls that the token limit cut off; they are not delivered.
    pub(super) cut_calls: usize,
}

/// Text of a delta, after calls were taken out of it.
pub(super) enum ReplyText {
    Text(String),
    Reasoning(String),
}

impl ModelReply {
    /// A new reply whose text is passed on as it is.
    pub(super) fn new(most_calls: usize) -> Self {
        Self { assembler: Assembler::with_limit(most_calls), most_calls, ..Self::default() }
    }

    /// A new reply whose text is read: calls of these tools, reasoning and control tokens are taken out of it.
    pub(super) fn with_text_read(tools: &ToolSet, most_calls: usize) -> Self {
        let reader = Some(TextReader::with_tools(tools.tool_names()));
        Self { reader, ..Self::new(most_calls) }
    }

    /// Adds a piece of text; appends what is certain to be text or reasoning.
    pub(super) fn text(&mut self, text: String, texts: &mut Vec<ReplyText>) {
        self.bytes += text.len();
        let Some(reader) = &mut self.reader else {
            texts.push(ReplyText::Text(text));
            return;
        };
        let mut pieces = Vec::new();
        reader.feed(&text, &mut pieces);
        self.sort(pieces, texts);
    }

    /// Adds a fragment of a native call and returns the number of the call.
    pub(super) fn call(&mut self, delta: Delta, tools: &ToolSet) -> Option<usize> {
        let Delta::Call(fragment) = delta else { return None };
        self.bytes += fragment.arguments.as_ref().map_or(0, String::len);
        let place = self.assembler.push(fragment, tools);
        self.native_calls = self.native_calls.max(place + 1);
        Some(place)
    }

    /// The violation of a reply with too many calls, which are not all kept.
    pub(super) fn over_limit(&self) -> Option<Violation> {
        let over = self.assembler.is_over_limit() || self.native_calls + self.text_calls.len() > self.most_calls;
        over.then(|| {
            let message =
                format!("the reply has more tool calls than the limit limits.reply_calls of {}", self.most_calls);
            Violation::new(ViolationKind::TooManyCalls, message)
        })
    }

    /// True when the token limit or a filter cut the reply off.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self.finish, Some(Finish::Length | Finish::ContentFilter))
    }

    /// Ends the text; appends text that was buffered as a possible call.
    pub(super) fn close(&mut self, texts: &mut Vec<ReplyText>) {
        let end = match (self.is_cut(), self.native_calls) {
            (true, _) => TextEnd::CutByLimit,
            (false, 0) => TextEnd::Complete,
            (false, _) => TextEnd::CallsBeside,
        };
        let Some(mut reader) = self.reader.take() else { return };
        let mut pieces = Vec::new();
        reader.finish(end, &mut pieces);
        self.sort(pieces, texts);
    }

    /// All calls of the closed reply: native ones, then those from the text; and whether every index was right.
    pub(super) fn take_calls(&mut self) -> (Vec<RawCall>, bool) {
        let (mut calls, ordered) = self.assembler.finish();
        if self.is_cut() && calls.last().is_some_and(|call| !is_whole(call)) {
            calls.pop();
            self.cut_calls += 1;
        }
        let mut written = std::mem::take(&mut self.text_calls);
        if !written.is_empty() {
            let native: HashSet<ReadCall> = calls.iter().filter_map(read).collect();
            written.retain(|call| !read(call).is_some_and(|call| native.contains(&call)));
            calls.append(&mut written);
        }
        (calls, ordered)
    }

    fn sort(&mut self, pieces: Vec<TextPiece>, texts: &mut Vec<ReplyText>) {
        for piece in pieces {
            match piece {
                TextPiece::Text(text) => texts.push(ReplyText::Text(text)),
                TextPiece::Reasoning(text) => texts.push(ReplyText::Reasoning(text)),
                // One more than allowed shows that there are too many.
                TextPiece::Call(_) if self.text_calls.len() > self.most_calls => {}
                TextPiece::Call(call) => {
                    let (name, arguments) = (call.name, call.arguments);
                    self.text_calls.push(RawCall { name, arguments, from_text: true, ..RawCall::default() });
                }
                TextPiece::CutOffCall => self.cut_calls += 1,
            }
        }
    }
}

/// A call with its arguments read, to find those that are both native and in the text.
type ReadCall = (String, Vec<Map<String, Value>>);

fn read(call: &RawCall) -> Option<ReadCall> {
    Some((call.name.clone(), json::read_arguments(&call.arguments).ok()?.values))
}

/// A call in a cut-off reply is complete only when its arguments are a closed JSON object.
fn is_whole(call: &RawCall) -> bool {
    json::read_strict(&call.arguments).is_ok_and(|value| value.is_object())
}
