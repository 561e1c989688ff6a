//! A short reply, read to its end.

use bytes::Bytes;
use callboard_core::model::Delta;
use callboard_core::wire::chat::ReplyReader;

use super::{Failure, Reply};

/// A reply with all that it says.
pub struct WholeReply {
    /// What it says.
    pub deltas: Vec<Delta>,
    /// Its bytes, as they came.
    pub pieces: Vec<Bytes>,
}

impl Reply {
    /// Reads it, as far as this many bytes.
    pub async fn read_whole(mut self, most: usize) -> Result<WholeReply, Failure> {
        let reader = if self.is_stream { ReplyReader::stream(most) } else { ReplyReader::whole(most) };
        let (mut reader, mut deltas, mut pieces) = (reader.until_close(self.until_close), Vec::new(), Vec::new());
        while let Some(bytes) = self.body.next().await? {
            reader.feed(&bytes, &mut deltas).map_err(|fault| Failure::from(&fault))?;
            pieces.push(bytes);
        }
        reader.finish(&mut deltas).map_err(|fault| Failure::from(&fault))?;
        Ok(WholeReply { deltas, pieces })
    }
}
