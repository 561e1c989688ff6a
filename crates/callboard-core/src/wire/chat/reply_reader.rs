//! Reads an upstream's reply, whole or streamed, into deltas. Lenient, because servers differ.

use super::reply_chunk::{Marks, read_chunk};
use super::reply_fault::ReplyFault;
use super::stream_detector::StreamDetector;
use super::stream_progress::StreamProgress;
use crate::model::Delta;
use crate::wire::json_memory::fits_parsed;
use crate::wire::sse::{EventTooLong, SseReader};

/// Turns bytes into deltas.
#[derive(Debug)]
pub struct ReplyReader {
    form: Form,
    most: usize,
    /// The memory that reading it may take.
    most_memory: usize,
    /// All bytes so far.
    fed: usize,
    until_close: bool,
    marks: Marks,
    stream: StreamProgress,
}

#[derive(Debug)]
enum Form {
    /// Not certain yet; with whether the server declared a stream.
    Unknown(StreamDetector, bool),
    Stream(SseReader),
    Whole(Vec<u8>),
}

impl ReplyReader {
    /// A reader for a reply that is declared as an event stream.
    #[must_use]
    pub fn stream(most: usize) -> Self {
        Self::new(true, most)
    }

    /// A reader for a reply that is declared as a whole body.
    #[must_use]
    pub fn whole(most: usize) -> Self {
        Self::new(false, most)
    }

    fn new(declared_stream: bool, most: usize) -> Self {
        let form = Form::Unknown(StreamDetector::default(), declared_stream);
        Self {
            form,
            most,
            most_memory: usize::MAX,
            fed: 0,
            until_close: false,
            marks: Marks::default(),
            stream: StreamProgress::default(),
        }
    }

    /// For a body that ends when the connection does: a server that dies looks just like one that has finished, so a
    /// stream has to say that it has.
    #[must_use]
    pub fn until_close(mut self, until_close: bool) -> Self {
        self.until_close = until_close;
        self
    }

    /// Refuses a body, or an event of a stream, that would take more memory once it is parsed.
    #[must_use]
    pub fn within_memory(mut self, most: usize) -> Self {
        self.most_memory = most;
        self
    }

    /// Bytes that are held of it: a whole body until it is parsed, or the content of a stream.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.size()
    }

    /// True once the reply has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.stream.has_ended()
    }

    /// The model that answers, by the name that the server gives it.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.marks.model.as_deref()
    }

    /// Takes bytes and appends the deltas they complete.
    pub fn feed(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        self.fed = self.fed.saturating_add(bytes.len());
        self.take(bytes, deltas)?;
        if self.size() > self.most { Err(ReplyFault::too_long("it", self.most)) } else { Ok(()) }
    }

    /// What counts towards the limit: content once, and in full all that carries none, such as comments and empty events.
    fn size(&self) -> usize {
        match &self.form {
            Form::Stream(reader) => self.stream.size(reader.consumed()),
            _ => self.fed,
        }
    }

    fn take(&mut self, bytes: &[u8], deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        match &mut self.form {
            Form::Unknown(beginning, declared_stream) => {
                let Some(is_stream) = beginning.feed(bytes, *declared_stream) else { return Ok(()) };
                let head = std::mem::take(&mut beginning.head);
                self.form = self.form_of(is_stream);
                self.take(&head, deltas)
            }
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Stream(reader) => {
                let mut result = Ok(());
                let (stream, marks, most) = (&mut self.stream, &mut self.marks, self.most_memory);
                // In front of each event, so that the limit does not depend on how the bytes were cut.
                let check = |stream: &StreamProgress, before| match stream.size(before) > self.most {
                    true => Err(ReplyFault::too_long("it", self.most)),
                    false => Ok(()),
                };
                let fed = reader.feed(bytes, |event, before| {
                    if result.is_ok() {
                        result = check(stream, before).and_then(|()| stream.read(&event, most, marks, deltas));
                    }
                });
                result?;
                check(stream, reader.consumed())?;
                fed.map_err(|EventTooLong(most)| ReplyFault::too_long("one event of it", most))
            }
        }
    }

    fn form_of(&self, is_stream: bool) -> Form {
        if is_stream { Form::Stream(SseReader::new(self.most)) } else { Form::Whole(Vec::new()) }
    }

    /// The bytes have ended properly: reads a whole body, or what a stream left.
    pub fn finish(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
        match &mut self.form {
            Form::Unknown(_, true) => return Err(ReplyFault::NoEvents),
            Form::Unknown(beginning, false) => {
                read_body(&beginning.head, self.most_memory, &mut self.marks, deltas)?;
            }
            Form::Whole(body) => read_body(body, self.most_memory, &mut self.marks, deltas)?,
            Form::Stream(reader) => {
                let mut result = Ok(());
                let (stream, marks, most) = (&mut self.stream, &mut self.marks, self.most_memory);
                reader.finish(|event, _| {
                    if result.is_ok() {
                        result = stream.read(&event, most, marks, deltas);
                    }
                });
                result?;
                stream.close(marks, self.until_close)?;
            }
        }
        self.stream.end();
        Ok(())
    }
}

fn read_body(body: &[u8], most_memory: usize, marks: &mut Marks, deltas: &mut Vec<Delta>) -> Result<(), ReplyFault> {
    if !fits_parsed(body, most_memory) {
        return Err(ReplyFault::too_much_memory("it", most_memory));
    }
    if body.trim_ascii().is_empty() {
        return Err(ReplyFault::Unreadable("it is empty".to_owned()));
    }
    let before = deltas.len();
    let mut read = read_chunk(body, true, marks, deltas);
    if read.is_ok() && deltas.len() == before {
        read = Err(ReplyFault::Unreadable("it holds no choice with a message".to_owned()));
    }
    // A whole reply is used completely or not at all.
    read.inspect_err(|_| deltas.truncate(before))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PIECES: [&str; 22] = [
        "data: ",
        "data:",
        "event: error",
        "error: no",
        ": ping",
        "\n",
        "\n\n",
        "\r\n",
        "\u{feff}",
        " ",
        "[DONE]",
        "{}",
        "{\"choices\":[{\"delta\":{\"content\":\"é\"}}]}",
        "{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}",
        "{\"choices\":[{\"delta\":{},\"finish_reason\":\"abort\"}]}",
        "{\"error\":\"no\"}",
        "{\"usage\":{},\"choices\":[null]}",
        "<html>",
        "data: {\"id\":1,\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"id\":1,\"choices\":[{\"delta\":{\"content\":\"\\nb\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"}\"}}]}}]}\n\n",
    ];

    /// The deltas and the end of a reply that comes in these pieces.
    fn read<'a>(
        declared_stream: bool,
        until_close: bool,
        pieces: impl Iterator<Item = &'a [u8]>,
    ) -> (Vec<Delta>, Result<(), ReplyFault>) {
        let mut reader = ReplyReader::new(declared_stream, 1 << 20).until_close(until_close);
        let mut deltas = Vec::new();
        let mut fed = Ok(());
        for piece in pieces {
            fed = fed.and_then(|()| reader.feed(piece, &mut deltas));
        }
        let end = fed.and_then(|()| reader.finish(&mut deltas));
        (deltas, end)
    }

    proptest! {
        #[test]
        fn any_reply_in_any_cuts_is_the_same(
            words in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..16),
            declared_stream: bool,
            until_close: bool,
            size in 1_usize..40,
        ) {
            let bytes = words.concat().into_bytes();
            let whole = read(declared_stream, until_close, std::iter::once(bytes.as_slice()));
            prop_assert_eq!(read(declared_stream, until_close, bytes.chunks(size)), whole);
        }
    }

    #[test]
    fn fields_that_change_back_are_noticed_among_repeated_events() {
        let event = |seed: u32, text: &str| {
            format!("data: {{\"seed\":{seed},\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        let (mut reader, mut deltas) = (ReplyReader::stream(10_000), Vec::new());
        for (seed, text) in [(1, "a"), (1, "b"), (1, "c"), (2, "d"), (1, "e"), (1, "f")] {
            reader.feed(event(seed, text).as_bytes(), &mut deltas).unwrap();
        }
        let words = deltas.iter().map(|delta| match delta {
            Delta::Text(text) => text.clone(),
            Delta::Other(other) => other.reply["seed"].to_string(),
            other => panic!("{other:?}"),
        });
        assert_eq!(words.collect::<Vec<_>>().join(" "), "a 1 b c d 2 e 1 f");
    }

    #[test]
    fn the_name_of_the_model_is_the_servers() {
        let mut reader = ReplyReader::stream(1000);
        let chunk = b"data: {\"model\":\"tiny\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
        assert_eq!(reader.model(), None);
        reader.feed(chunk, &mut Vec::new()).unwrap();
        assert_eq!(reader.model(), Some("tiny"));
    }

    #[test]
    fn replies_that_grow_beyond_the_memory_when_parsed_are_refused() {
        let junk = format!("[{}[]]", "[],".repeat(100));
        let whole = format!("{{\"choices\":[{{\"message\":{{\"content\":\"a\"}}}}],\"junk\":{junk}}}");
        let event = format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}}}}],\"junk\":{junk}}}\n\n");
        for (most, fits) in [(1 << 20, true), (10_000, false)] {
            let mut reader = ReplyReader::whole(1 << 20).within_memory(most);
            reader.feed(whole.as_bytes(), &mut Vec::new()).unwrap();
            assert_eq!(reader.held_bytes(), whole.len());
            assert_eq!(reader.finish(&mut Vec::new()).is_ok(), fits, "whole, {most}");
            let mut reader = ReplyReader::stream(1 << 20).within_memory(most);
            assert_eq!(reader.feed(event.as_bytes(), &mut Vec::new()).is_ok(), fits, "streamed, {most}");
        }
    }

    #[test]
    fn the_tier_comes_with_the_usage() {
        let (mut reader, mut deltas) = (ReplyReader::stream(1000), Vec::new());
        let chunk = b"data: {\"service_tier\":\"flex\",\"choices\":[],\"usage\":{\"prompt_tokens\":1}}\n\n";
        reader.feed(chunk, &mut deltas).unwrap();
        let [Delta::Other(other), Delta::Usage(usage)] = deltas.as_slice() else { panic!("{deltas:?}") };
        assert_eq!((usage.prompt_tokens, usage.service_tier.as_deref()), (1, Some("flex")));
        assert_eq!(other.reply.get("service_tier"), Some(&"flex".into()));
    }

    #[test]
    fn unknown_fields_come_once_until_they_change() {
        let chunk = |fingerprint: &str, filter: bool| {
            let choice =
                format!("{{\"delta\":{{\"x\":[1],\"role\":\"assistant\"}},\"filter\":{filter},\"seed\":null}}");
            format!("data: {{\"id\":\"a\",\"system_fingerprint\":\"{fingerprint}\",\"choices\":[{choice}]}}\n\n")
        };
        let (mut reader, mut deltas) = (ReplyReader::stream(10_000), Vec::new());
        for text in [chunk("f1", false), chunk("f1", false), chunk("f2", true)] {
            reader.feed(text.as_bytes(), &mut deltas).unwrap();
        }
        let others = deltas.iter().map(|delta| match delta {
            Delta::Other(fields) => {
                let text = |fields: &serde_json::Map<_, _>| serde_json::to_string(fields).unwrap();
                [text(&fields.reply), text(&fields.choice), text(&fields.message)]
            }
            other => panic!("{other:?}"),
        });
        let expected = [
            [r#"{"system_fingerprint":"f1"}"#, r#"{"filter":false}"#, r#"{"x":[1]}"#],
            ["{}", "{}", r#"{"x":[1]}"#],
            [r#"{"system_fingerprint":"f2"}"#, r#"{"filter":true}"#, r#"{"x":[1]}"#],
        ];
        assert_eq!(others.collect::<Vec<_>>(), expected);
    }
}
