//! The short request that asks a model which tool it calls.

use bytes::Bytes;
use callboard_core::model::{Delta, Finish, Usage};
use callboard_core::wire::chat::adapt::constrain::{ToolDecision, ToolQuestion, read_decision};
use http::{HeaderMap, HeaderValue};

use crate::trace::{TraceEvent, TraceRecorder};
use crate::upstream::{Client, Failure, Upstream, WholeReply};

/// The answer is a name.
const MAX_REPLY_BYTES: usize = 1 << 20;

/// What came back.
pub(super) struct DecisionReply {
    /// None where the answer was not one of those that were allowed.
    pub(super) decision: Option<ToolDecision>,
    pub(super) usage: Option<Usage>,
    pub(super) finish: Option<Finish>,
    /// The reply as it came.
    pub(super) pieces: Vec<Bytes>,
}

impl DecisionReply {
    pub(super) fn record(&self, trace: &mut TraceRecorder) {
        trace.record(TraceEvent::ReplyBegun);
        self.pieces.iter().for_each(|bytes| trace.record(TraceEvent::ReplyPiece(bytes)));
        self.usage.iter().for_each(|usage| trace.record(TraceEvent::ReplyUsage(usage)));
        self.finish.iter().for_each(|finish| trace.record(TraceEvent::ReplyFinish(*finish)));
        trace.record(TraceEvent::ReplyEnded);
    }
}

/// Sends the question and reads the answer.
pub(super) async fn ask(
    client: Client,
    upstream: &Upstream,
    authorization: Option<&HeaderValue>,
    headers: HeaderMap,
    body: Vec<u8>,
    question: &ToolQuestion,
) -> Result<DecisionReply, Failure> {
    let reply = client.chat(upstream, authorization, headers, body).await?;
    let WholeReply { deltas, pieces } = reply.read_whole(MAX_REPLY_BYTES).await?;
    let (decision, usage) = read_decision(&deltas, question);
    let finish = deltas.iter().find_map(|delta| if let Delta::Finish(finish) = delta { Some(*finish) } else { None });
    Ok(DecisionReply { decision, usage, finish, pieces })
}
