//! Server-sent events: the same events and the same error, however the bytes are cut.

use callboard_core::wire::sse::{EventTooLong, SseEvent, SseReader};

use super::fields::{fields, joined, options, pieces};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "data: ",
    "data:",
    "event: error",
    "error: ",
    ": ping",
    "id: 1",
    "retry: 5",
    "\n\n",
    "\r\n",
    "\r",
    "\u{feff}",
    "[DONE]",
];

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    golden.streams.iter().map(|stream| joined(&[b"\x01", b"\x07", stream.as_bytes()])).collect()
}

/// The first option is the limit of an event; odd ones leave it out of play.
pub(crate) fn run(data: &[u8]) {
    let [limit, lengths, bytes] = fields(data);
    let unlimited = options(limit) % 2 == 1;
    let most = if unlimited { 1 << 20 } else { usize::from(options(limit)) };
    let whole = read(&[bytes], most);
    assert_eq!(read(&pieces(bytes, lengths), most), whole, "cut in other places, with events of at most {most} bytes");
}

/// The events up to the first error, and that error.
fn read(pieces: &[&[u8]], most: usize) -> (Vec<(bool, Vec<u8>)>, Option<EventTooLong>) {
    let (mut reader, mut events) = (SseReader::new(most), Vec::new());
    let mut keep = |event: SseEvent<'_>, _| match event {
        SseEvent::Data(data) => events.push((true, data.to_vec())),
        SseEvent::Error(data) => events.push((false, data.to_vec())),
    };
    for piece in pieces {
        if let Err(error) = reader.feed(piece, &mut keep) {
            return (events, Some(error));
        }
    }
    reader.finish(&mut keep);
    (events, None)
}
