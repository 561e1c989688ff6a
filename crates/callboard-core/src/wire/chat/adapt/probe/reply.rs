//! A reply to a probe, as far as the verdicts look at it.

use crate::model::{CallFragment, Delta, Finish};
use crate::wire::chat::{ReplyFault, ReplyReader};

/// Replies to a probe are short.
const MOST_BYTES: usize = 1 << 20;

const THOUGHT: (&str, &str) = ("<think>", "</think>");

/// What came back.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// What the model said, without what it thought.
    pub(super) text: String,
    /// The native calls: names and arguments.
    pub(super) calls: Vec<(String, String)>,
    /// True where the limit of tokens cut it off.
    pub(super) is_cut: bool,
    /// The size of the prompt, where the server counts it.
    pub(super) prompt_tokens: Option<u64>,
}

impl Reply {
    /// Reads a body, whole or streamed.
    pub(super) fn read(body: &[u8]) -> Result<Self, ReplyFault> {
        let (mut reader, mut deltas) = (ReplyReader::whole(MOST_BYTES), Vec::new());
        reader.feed(body, &mut deltas)?;
        reader.finish(&mut deltas)?;
        let mut reply = Self::default();
        deltas.into_iter().for_each(|delta| reply.add(delta));
        reply.text = said(&reply.text).trim().to_owned();
        Ok(reply)
    }

    fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) | Delta::Refusal(text) => self.text.push_str(&text),
            Delta::Call(fragment) => self.add_call(fragment),
            Delta::Finish(finish) => self.is_cut = finish == Finish::Length,
            Delta::Usage(usage) => self.prompt_tokens = Some(usage.prompt_tokens),
            Delta::Reasoning(_) | Delta::Logprobs(_) | Delta::Other(_) => {}
        }
    }

    fn add_call(&mut self, fragment: CallFragment) {
        let arguments = fragment.arguments.unwrap_or_default();
        match (fragment.name, self.calls.last_mut()) {
            (None, Some((_, all))) if !fragment.whole => all.push_str(&arguments),
            (name, _) => self.calls.push((name.unwrap_or_default(), arguments)),
        }
    }
}

/// The text behind a thought that is part of it.
fn said(text: &str) -> &str {
    match text.rsplit_once(THOUGHT.1) {
        Some((_, said)) => said,
        None if text.trim_start().starts_with(THOUGHT.0) => "",
        None => text,
    }
}
