//! Replies as model servers send them: streams of events, and whole bodies.

use callboard_core::wire::chat::ReplyReader;

use super::cpu_time::Plain;
use super::runs::{CHARACTERS, WORDS, run};

const SIZE: usize = 1000;

/// Lines of every kind, in streams with line ends of every kind.
const STREAM: &str = "\u{feff}: ping\r\nid: 1\nretry: 2\n\ndata: {\"model\":\"m\",\"choices\":[{\"delta\":{\"content\":\"é\\n\"}}]}\r\rdata:{\"choices\":\ndata: [{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\nevent: x\ndata: {}\n\nevent: error\ndata: {\"error\":{\"message\":\"no\"}}";

const WHOLE: &str = "{\"choices\":[{\"message\":{\"content\":[{\"text\":\"a\"}],\"reasoning\":\"b\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":{\"a\":[1]}}}]},\"logprobs\":{\"content\":[]},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}";

/// Units of streams.
const LINES: [&str; 8] =
    ["\r", "data: x\n", "data:\n", ": ping\n", "event: error\n", "error: x\n", "data: {}\n\n", "\r\n"];

fn read(mut reader: ReplyReader, beginning: &str, run: &str, piece: usize) {
    let mut deltas = Vec::new();
    let pieces = std::iter::once(beginning.as_bytes()).chain(run.as_bytes().chunks(piece));
    let mut fed = Ok(());
    for piece in pieces {
        fed = fed.and_then(|()| reader.feed(piece, &mut deltas));
        deltas.clear();
    }
    let _ = fed.and_then(|()| reader.finish(&mut deltas));
}

fn check(whole: &str, reader: fn() -> ReplyReader) {
    let plain = Plain::measure(SIZE);
    for (at, _) in whole.char_indices() {
        for unit in CHARACTERS.iter().chain(&WORDS).chain(&LINES) {
            for piece in [1, usize::MAX] {
                let work = |size| read(reader(), &whole[..at], &run(unit, size), piece);
                assert!(plain.permits(&work), "{:?} and then {unit:?} in pieces of {piece}", &whole[..at]);
            }
        }
    }
}

#[test]
fn streams_are_read_in_linear_time() {
    check(STREAM, || ReplyReader::stream(1 << 30));
}

#[test]
fn whole_replies_are_read_in_linear_time() {
    check(WHOLE, || ReplyReader::whole(1 << 30));
}
