//! A page as one streamed request and the streams that answer it: what the core reads, without sockets.

use super::{Page, StreamPiece};

/// A request for a stream, and the model server's replies to it.
pub struct StreamedTurn {
    /// The body of the request.
    pub request: Vec<u8>,
    /// The bytes of each reply.
    pub streams: Vec<Vec<u8>>,
}

impl Page {
    /// None where the request is raw text, and where the replies are not all streams.
    pub fn streamed_turn(&self) -> Option<StreamedTurn> {
        let mut request = self.request()?;
        (request["model"], request["stream"]) = (self.stem.as_str().into(), true.into());
        let usage_asked = request["stream_options"]["include_usage"] == true;
        let replies = self.upstreams().into_iter().enumerate().filter(|(_, reply)| reply.option("status").is_none());
        let streams: Option<Vec<_>> =
            replies.map(|(place, reply)| Some(joined(&reply.stream(place + 1, usage_asked)?))).collect();
        let streams = streams.filter(|streams| !streams.is_empty())?;
        Some(StreamedTurn { request: request.to_string().into_bytes(), streams })
    }
}

/// The bytes of a stream, without its waits.
fn joined(pieces: &[StreamPiece]) -> Vec<u8> {
    let bytes = |piece: &StreamPiece| match piece {
        StreamPiece::Bytes(text) => text.clone().into_bytes(),
        StreamPiece::Gate => Vec::new(),
    };
    pieces.iter().flat_map(bytes).collect()
}
