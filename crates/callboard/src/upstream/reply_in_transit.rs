//! A reply on its way from a model server to a client, unchanged.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::{Failure, InFlight, ReplyBody, Upstream};

/// A reply in transit.
pub struct ReplyInTransit {
    /// The rest of it.
    pub body: ReplyBody,
    /// How long to wait for more of it.
    pub idle: Duration,
    /// Whom it comes from; none once its outcome is recorded.
    pub source: Option<ReplySource>,
}

/// The server that a reply comes from.
pub struct ReplySource {
    /// The server.
    pub upstream: Arc<Upstream>,
    /// Identifies the request in the log.
    pub request_id: String,
    /// Its share of the server's load.
    pub busy: InFlight,
}

impl ReplyInTransit {
    /// The next bytes; none at the proper end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        let late = |_| Err(Failure::Timeout { phase: "within a reply", seconds: self.idle.as_secs_f64() });
        let next = timeout(self.idle, self.body.next()).await.unwrap_or_else(late);
        if (next.is_err() || self.body.is_ended())
            && let Some(ReplySource { upstream, request_id, .. }) = self.source.take()
        {
            match &next {
                Ok(_) => upstream.succeeded(),
                Err(failure) => upstream.failed(&request_id, failure),
            }
        }
        next
    }
}
