//! Reads server-sent events from bytes, however the bytes are cut.
//!
//! Lines may end in `\n`, `\r\n` or `\r`; comments are skipped; several `data` lines make one event. A field named `error`, which
//! some servers send instead of `data`, is an error, and so is an event of that name. The last event needs no blank line.

use std::ops::Range;

use memchr::memchr2;
use thiserror::Error;

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub enum SseEvent<'a> {
    /// The joined `data` lines.
    Data(&'a [u8]),
    /// The value of an `error` line, or the data of an event called `error`.
    Error(&'a [u8]),
}

/// An event over the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("one event is longer than {0} bytes")]
pub struct EventTooLong(pub usize);

/// The reader. It copies each byte once and hands events out as slices.
#[derive(Debug, Default)]
pub struct SseReader {
    pending: Vec<u8>,
    line_start: usize,
    scanned: usize,
    event_start: usize,
    data: Vec<Range<usize>>,
    error: Option<Range<usize>>,
    is_error: bool,
    most: usize,
    /// The bytes in front of `pending`.
    forgotten: usize,
}

impl SseReader {
    /// A reader that refuses events over `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Takes bytes and calls `on_event` for each event that they complete, with the number of bytes in front of it.
    pub fn feed(&mut self, bytes: &[u8], mut on_event: impl FnMut(SseEvent<'_>, usize)) -> Result<(), EventTooLong> {
        self.pending.extend_from_slice(bytes);
        while let Some((end, next)) = self.next_line(false) {
            // Here as below, so that the limit does not depend on how the bytes were cut.
            if end.saturating_sub(self.event_start) > self.most {
                return Err(EventTooLong(self.most));
            }
            self.line(end, &mut on_event);
            (self.line_start, self.scanned) = (next, next);
            if self.data.is_empty() && self.error.is_none() {
                self.event_start = next;
            }
        }
        self.forget_consumed();
        // A `\r` at the end does not count: it may be half of a line end.
        if self.scanned > self.most { Err(EventTooLong(self.most)) } else { Ok(()) }
    }

    /// The bytes in front of the event that is still incomplete.
    pub fn consumed(&self) -> usize {
        self.forgotten + self.event_start
    }

    /// Ends the stream: what is left counts as a last line and a last event.
    pub fn finish(&mut self, mut on_event: impl FnMut(SseEvent<'_>, usize)) {
        if let Some((end, next)) = self.next_line(true) {
            self.line(end, &mut on_event);
            self.line_start = next;
        }
        if self.line_start < self.pending.len() {
            self.line(self.pending.len(), &mut on_event);
        }
        self.dispatch(&mut on_event);
        self.pending.clear();
        (self.line_start, self.scanned, self.event_start) = (0, 0, 0);
    }

    /// End of the current line and start of the next one. A `\r` at the very end may be half of `\r\n` and has to wait.
    fn next_line(&mut self, at_end: bool) -> Option<(usize, usize)> {
        let rest = self.pending.get(self.scanned..)?;
        let Some(found) = memchr2(b'\n', b'\r', rest) else {
            self.scanned = self.pending.len();
            return None;
        };
        let end = self.scanned + found;
        match (self.pending.get(end), self.pending.get(end + 1)) {
            (Some(b'\n'), _) => Some((end, end + 1)),
            (_, Some(b'\n')) => Some((end, end + 2)),
            (_, Some(_)) => Some((end, end + 1)),
            (_, None) if at_end => Some((end, end + 1)),
            (_, None) => {
                self.scanned = end;
                None
            }
        }
    }

    fn line(&mut self, end: usize, on_event: &mut impl FnMut(SseEvent<'_>, usize)) {
        let start = self.line_start;
        let line = self.pending.get(start..end).unwrap_or_default();
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => line.split_at(colon),
            None => (line, [].as_slice()),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let range = end - value.len()..end;
        match field {
            b"data" => self.data.push(range),
            b"error" => self.error = Some(range),
            b"event" => self.is_error = value == b"error",
            _ => {}
        }
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(SseEvent<'_>, usize)) {
        let bytes = |range: &Range<usize>| self.pending.get(range.clone()).unwrap_or_default();
        if let Some(error) = &self.error {
            on_event(SseEvent::Error(bytes(error)), self.consumed());
        }
        let kind = if self.is_error { SseEvent::Error } else { SseEvent::Data };
        match self.data.as_slice() {
            [] => {}
            [only] => on_event(kind(bytes(only)), self.consumed()),
            several => {
                let lines: Vec<&[u8]> = several.iter().map(bytes).collect();
                on_event(kind(&lines.join(&b'\n')), self.consumed());
            }
        }
        self.data.clear();
        self.error = None;
        self.is_error = false;
    }

    /// Drops the bytes in front of the event that is still incomplete.
    fn forget_consumed(&mut self) {
        let consumed = self.event_start;
        if consumed == 0 {
            return;
        }
        self.pending.drain(..consumed);
        self.forgotten += consumed;
        for range in self.data.iter_mut().chain(&mut self.error) {
            *range = range.start - consumed..range.end - consumed;
        }
        self.line_start -= consumed;
        self.scanned -= consumed;
        self.event_start = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut events) = (SseReader::new(1 << 20), Vec::new());
        let mut keep = |event: SseEvent<'_>, _| {
            events.push(match event {
                SseEvent::Data(data) => String::from_utf8_lossy(data).into_owned(),
                SseEvent::Error(data) => format!("error {}", String::from_utf8_lossy(data)),
            });
        };
        for piece in pieces {
            reader.feed(piece, &mut keep).unwrap();
        }
        reader.finish(&mut keep);
        events
    }

    #[test]
    fn the_limit_does_not_depend_on_a_cut_inside_a_line_end() {
        for pieces in [&[": 12345\r\n"][..], &[": 12345\r", "\n"], &[": 12345", "\r", "\n"]] {
            let mut reader = SseReader::new(7);
            assert!(pieces.iter().all(|piece| reader.feed(piece.as_bytes(), |_, _| {}).is_ok()), "{pieces:?}");
        }
    }

    const SAMPLE: &str = "\u{feff}data: {\"a\":\"é€\"}\r\n\r\n: ping\n\ndata: one\ndata:two\n\nevent: x\rdata: [DONE]\r\rerror: {\"x\":1}\n\ndata: last";

    #[test]
    fn events_come_out_whatever_the_line_ends() {
        assert_eq!(read(&[SAMPLE.as_bytes()]), ["{\"a\":\"é€\"}", "one\ntwo", "[DONE]", "error {\"x\":1}", "last"]);
    }

    #[test]
    fn an_event_called_error_is_one() {
        let text = b"event: error\ndata: no\ndata: way\n\ndata: yes\n\nevent:error\n\nevent: errors\ndata: yes\n\n";
        assert_eq!(read(&[text]), ["error no\nway", "yes", "yes"]);
    }

    #[test]
    fn every_cut_gives_the_same_events() {
        let (bytes, whole) = (SAMPLE.as_bytes(), read(&[SAMPLE.as_bytes()]));
        for cut in 0..=bytes.len() {
            assert_eq!(read(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        }
        assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = SseReader::new(10);
        assert_eq!(reader.feed(b"data: 0123456789", |_, _| {}), Err(EventTooLong(10)));
        let mut reader = SseReader::new(10);
        for _ in 0..100 {
            assert_eq!(reader.feed(b"data: 1\n\n", |_, _| {}), Ok(()));
        }
        for size in 1..20 {
            let mut reader = SseReader::new(10);
            let mut pieces = b"data: 0123456789\n\ndata: 1\n\n".chunks(size);
            assert!(pieces.any(|piece| reader.feed(piece, |_, _| {}).is_err()), "in pieces of {size}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_cuts_agree(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), any::<u8>()], 0..200),
                                       size in 1_usize..20) {
            let whole = read(&[&bytes]);
            prop_assert_eq!(read(&bytes.chunks(size).collect::<Vec<_>>()), whole);
        }

        #[test]
        fn data_lines_survive(lines in prop::collection::vec("[a-z{}: ]{1,20}", 1..10)) {
            let text: String = lines.iter().map(|line| format!("data: {line}\n\n")).collect();
            prop_assert_eq!(read(&[text.as_bytes()]), lines);
        }
    }
}
