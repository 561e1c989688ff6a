//! A model server's reply, whole or streamed: the same deltas and the same fault, however the bytes are cut.

use callboard_core::model::Delta;
use callboard_core::wire::chat::{ReplyFault, ReplyReader};

use super::fields::{fields, joined, options, pieces};
use super::golden_seeds::GoldenParts;

pub(crate) const TOKENS: &[&str] = &[
    "data: ",
    "data: [DONE]\n\n",
    "\n\n",
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
    "{\"choices\":[{\"message\":{\"content\":\"",
    "\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]",
    "\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}",
    "\"finish_reason\":\"tool_calls\"",
    "\"finish_reason\":\"length\"",
    "\"reasoning_content\":\"",
    "\"refusal\":\"",
    "\"logprobs\":{\"content\":[]}",
    "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2}",
    "\"error\":{\"message\":\"\",\"code\":429}",
    "}]}",
];

const DECLARED_STREAM: u8 = 1;
const UNTIL_CLOSE: u8 = 2;
const SHORT: u8 = 4;

pub(crate) fn seeds(golden: &GoldenParts) -> Vec<Vec<u8>> {
    let streams = golden.streams.iter().map(|stream| joined(&[b"\x01", b"\x07", stream.as_bytes()]));
    let bodies = golden.bodies.iter().map(|body| joined(&[b"\x08", b"\x07", body.as_bytes()]));
    streams.chain(bodies).collect()
}

pub(crate) fn run(data: &[u8]) {
    let [chosen, lengths, bytes] = fields(data);
    let chosen = options(chosen);
    let (deltas, end) = read(&[bytes], chosen);
    let (cut_deltas, cut_end) = read(&pieces(bytes, lengths), chosen);
    assert_eq!(cut_end, end, "cut in other places");
    // A reply over the limit is given up, wherever that is noticed.
    if chosen & SHORT == 0 {
        assert_eq!(cut_deltas, deltas, "cut in other places");
    }
}

/// The deltas up to the end or the first fault.
fn read(pieces: &[&[u8]], chosen: u8) -> (Vec<Delta>, Result<(), ReplyFault>) {
    let most = if chosen & SHORT == 0 { 1 << 20 } else { 64 };
    let reader = if chosen & DECLARED_STREAM == 0 { ReplyReader::whole(most) } else { ReplyReader::stream(most) };
    let (mut reader, mut deltas) = (reader.until_close(chosen & UNTIL_CLOSE != 0), Vec::new());
    let fed = pieces.iter().try_for_each(|piece| reader.feed(piece, &mut deltas));
    let end = fed.and_then(|()| if reader.is_ended() { Ok(()) } else { reader.finish(&mut deltas) });
    (deltas, end)
}
