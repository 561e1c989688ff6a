//! The body of a reply: from the network, or from a model that lives in this process.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};

use super::Failure;

/// A body that is read piece by piece.
pub enum ReplyBody {
    /// From a model server.
    Network {
        /// The rest of the body.
        incoming: Incoming,
        /// True on a connection that has served an earlier request, as long as nothing but the head has come.
        may_be_stale: bool,
    },
    /// From a model in this process, in one piece.
    Local(Option<Bytes>),
}

impl ReplyBody {
    /// Whether nothing more comes. Where the length is known, that is so before the end is read.
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Local(bytes) => bytes.is_none(),
            Self::Network { incoming, .. } => incoming.is_end_stream(),
        }
    }

    /// The next bytes; none at the proper end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        match self {
            Self::Local(bytes) => Ok(bytes.take()),
            Self::Network { incoming, may_be_stale } => {
                let stale = std::mem::take(may_be_stale);
                next_data(incoming)
                    .await
                    .map_err(|words| if stale { Failure::Stale(words) } else { Failure::Broken(words) })
            }
        }
    }
}

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, String> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => return Err(error.to_string()),
            Some(Ok(frame)) => {
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
        }
    }
}
