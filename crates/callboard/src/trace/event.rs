//! The events that a running turn reports to its trace.

use callboard_core::contract::{BadCall, Report};
use callboard_core::model::{Finish, Item, Usage};
use callboard_core::turn::{Event, ToolResult};
use callboard_core::wire::ApiError;

use super::ToolTiming;
use crate::upstream::Failure;

/// An event of a turn.
#[derive(Debug, Clone, Copy)]
pub enum TraceEvent<'a> {
    /// The conversation and the response that the turn belongs to are known.
    StoredAs {
        /// The conversation.
        conversation: Option<&'a str>,
        /// The response.
        response: Option<&'a str>,
    },
    /// The head of the model server's reply has arrived.
    ReplyBegun,
    /// A piece of the model server's reply, as it came.
    ReplyPiece(&'a [u8]),
    /// The status of a reply that is passed through.
    ReplyStatus(u16),
    /// The server names the model that answers, where it does.
    AnsweredBy(Option<&'a str>),
    /// A quirk was learned from the server's refusal.
    Learned(&'static str),
    /// The server reports its token usage.
    ReplyUsage(&'a Usage),
    /// The server reports why the model stopped.
    ReplyFinish(Finish),
    /// The reply is complete.
    ReplyEnded,
    /// No complete reply came.
    RequestFailed(&'a Failure),
    /// Events go out to the client.
    Emitted(&'a [Event]),
    /// A round of tools has run.
    ToolsRan(&'a [ToolTiming]),
    /// Tools finished after the client had disconnected.
    LateResults(&'a [ToolResult]),
    /// The contract report so far.
    Contract(&'a Report),
    /// The calls that were not valid as the model wrote them, at the end of the turn.
    BadCalls(&'a [BadCall]),
    /// What the turn adds to the conversation. It names the calls that were never valid.
    Transcript(&'a [Item]),
    /// The turn ended with a reply.
    Complete(Finish, Option<&'a Usage>),
    /// The turn ended with a reply that was passed through unchecked.
    PassedThrough(Option<Finish>, Option<&'a Usage>),
    /// A tool that was run by hand has its result.
    ToolAnswered,
    /// The turn ended with an error.
    Failed(&'a ApiError),
}
