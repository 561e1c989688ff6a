//! The progress of a streamed reply: reads its events into deltas, and counts what of them is content.

use super::repeated_event::RepeatedEvent;
use super::reply_chunk::{Marks, read_chunk};
use super::reply_fault::ReplyFault;
use crate::model::{CallFragment, Delta, map_bytes};
use crate::wire::json_memory::fits_parsed;
use crate::wire::sse::SseEvent;

/// The progress of a stream.
#[derive(Debug, Default)]
pub(super) struct StreamProgress {
    /// At least one delta has arrived.
    has_deltas: bool,
    /// A finish reason has arrived.
    finished: bool,
    /// The end marker has arrived.
    ended: bool,
    /// The size of all events with content so far.
    content_events: usize,
    /// What these count for: their content, without most of the JSON around it, which is most of a stream.
    content: usize,
    /// What the events of this stream have in common.
    repeated: RepeatedEvent,
}

/// An event with content counts for at least this part of its size.
const JSON_PER_CONTENT: usize = 16;
/// What an event has around its data.
const EVENT_FRAME: &str = "data: \n\n";

impl StreamProgress {
    /// What counts of so many bytes that were read.
    pub(super) fn size(&self, read: usize) -> usize {
        read.saturating_sub(self.content_events).saturating_add(self.content)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The reply is over.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Reads one event.
    pub(super) fn read(
        &mut self,
        event: &SseEvent<'_>,
        most_memory: usize,
        marks: &mut Marks,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReplyFault> {
        let data = match event {
            _ if self.ended => return Ok(()),
            SseEvent::Data(data) if self.read_repeated(data, deltas) => return Ok(()),
            SseEvent::Data(data) | SseEvent::Error(data) if !fits_parsed(data, most_memory) => {
                return Err(ReplyFault::too_much_memory("one event of it", most_memory));
            }
            SseEvent::Data(data) => data.trim_ascii(),
            SseEvent::Error(data) => return Err(ReplyFault::event(data)),
        };
        match data {
            b"[DONE]" if !marks.has_choice && !self.has_deltas => return Err(ReplyFault::NoEvents),
            b"[DONE]" => self.ended = true,
            b"" => {}
            _ => self.read_data(data, marks, deltas)?,
        }
        Ok(())
    }

    /// Reads an event that differs from an earlier one in one string only.
    fn read_repeated(&mut self, data: &[u8], deltas: &mut Vec<Delta>) -> bool {
        let Some(delta) = self.repeated.read(data) else { return false };
        self.count_content(delta_bytes(&delta), data.len());
        deltas.push(delta);
        true
    }

    fn read_data(&mut self, data: &[u8], marks: &mut Marks, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        let before = deltas.len();
        read_chunk(data, false, marks, deltas)?;
        let new = deltas.get(before..).unwrap_or_default();
        self.has_deltas |= !new.is_empty();
        self.finished |= new.iter().any(|delta| matches!(delta, Delta::Finish(_)));
        let content = content_bytes(new, data.len());
        if new.iter().any(|delta| matches!(delta, Delta::Other(_))) {
            self.repeated.forget();
        }
        if let [_] = new {
            self.repeated.learn(data, |event| only_delta(event, marks.clone()));
        }
        if content > 0 {
            self.count_content(content, data.len());
        }
        Ok(())
    }

    fn count_content(&mut self, content: usize, event: usize) {
        self.content_events = self.content_events.saturating_add(event + EVENT_FRAME.len());
        self.content = self.content.saturating_add(content.max(event / JSON_PER_CONTENT));
    }

    /// The bytes have ended. Many servers send no end marker, or no finish reason.
    pub(super) fn close(&self, marks: &Marks, until_close: bool) -> Result<(), ReplyFault> {
        match self {
            _ if self.ended => Ok(()),
            Self { has_deltas: false, .. } if !marks.has_choice => Err(ReplyFault::NoEvents),
            Self { has_deltas: false, .. } => Err(ReplyFault::BrokeOff),
            Self { finished: false, .. } if until_close => Err(ReplyFault::BrokeOff),
            _ => Ok(()),
        }
    }
}

/// What an event is read as, where that is one delta.
fn only_delta(event: &[u8], mut marks: Marks) -> Option<Delta> {
    let mut deltas = Vec::new();
    read_chunk(event, false, &mut marks, &mut deltas).ok()?;
    deltas.pop().filter(|_| deltas.is_empty())
}

/// How much the deltas of one event, which is `event` bytes long, add to a reply. Each byte counts once: most of an event
/// with probabilities is these.
fn content_bytes(deltas: &[Delta], event: usize) -> usize {
    if deltas.iter().any(|delta| matches!(delta, Delta::Logprobs(_))) {
        return event;
    }
    deltas.iter().map(delta_bytes).fold(0, usize::saturating_add)
}

fn delta_bytes(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) | Delta::Refusal(text) => text.len(),
        Delta::Call(CallFragment { id, name, arguments, other, .. }) => {
            [id, name, arguments].into_iter().flatten().map(String::len).sum::<usize>() + map_bytes(other)
        }
        Delta::Other(fields) => fields.bytes(),
        Delta::Logprobs(_) | Delta::Finish(_) | Delta::Usage(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::chat::ReplyReader;

    #[test]
    fn the_json_around_content_counts_little_and_nothing_else_is_free() {
        let event = |content: &str| {
            let padding = "p".repeat(250);
            format!(
                "data: {{\"obfuscation\":\"{padding}\",\"choices\":[{{\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n"
            )
        };
        let rows = [(event("x"), true), (event("x").repeat(100), true), (event("").repeat(100), false)];
        for (text, fits) in rows {
            for size in [text.len(), 7] {
                let mut reader = ReplyReader::stream(5000);
                let mut pieces = text.as_bytes().chunks(size);
                assert_eq!(
                    pieces.all(|piece| reader.feed(piece, &mut Vec::new()).is_ok()),
                    fits,
                    "in pieces of {size}"
                );
            }
        }
    }

    /// Each byte is charged once, however many calls an event has.
    #[test]
    fn the_calls_of_one_event_are_charged_once() {
        let call =
            |number: usize| format!("{{\"index\":{number},\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}");
        let calls = (0..500).map(call).collect::<Vec<_>>().join(",");
        let event = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{calls}]}}}}]}}\n\n");
        let (mut reader, mut deltas) = (ReplyReader::stream(event.len()), Vec::new());
        assert_eq!(reader.feed(event.as_bytes(), &mut deltas), Ok(()));
        assert_eq!(deltas.len(), 500);
    }

    /// Whether all of a reply or one event of it is too long, and what comes before, is the same however the bytes were cut.
    #[test]
    fn the_limit_that_is_hit_first_is_named() {
        let event = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        let (comment, broken, long) = (": ping\n".repeat(9), "data: {\n\n", format!("data: {}\n\n", "x".repeat(70)));
        for text in [
            format!("{comment}{broken}"),
            format!("{event}{comment}{event}"),
            format!("{comment}{long}"),
            format!("{event}{long}{comment}"),
        ] {
            let whole = read_within(60, std::iter::once(text.as_bytes()));
            assert!(whole.1.is_err(), "{text}");
            for size in 1..text.len() {
                assert_eq!(read_within(60, text.as_bytes().chunks(size)), whole, "{text}, in pieces of {size}");
            }
        }
    }

    #[test]
    fn arguments_in_small_pieces_are_refused_at_the_limit() {
        let piece = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"12345678\"}}]}}]}\n\n";
        let (mut reader, mut deltas) = (ReplyReader::stream(1000), Vec::new());
        for _ in 0..125 {
            assert_eq!(reader.feed(piece.as_bytes(), &mut deltas), Ok(()));
        }
        assert_eq!(reader.feed(piece.as_bytes(), &mut deltas), Err(ReplyFault::too_long("it", 1000)));
    }

    fn read_within<'a>(most: usize, pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Delta>, Result<(), ReplyFault>) {
        let (mut reader, mut deltas, mut fed) = (ReplyReader::stream(most), Vec::new(), Ok(()));
        for piece in pieces {
            fed = fed.and_then(|()| reader.feed(piece, &mut deltas));
        }
        (deltas, fed)
    }
}
