//! How far a turn has come, as those who drive it are told.

use callboard_core::model::{Finish, Usage};
use callboard_core::turn::Event;
use callboard_core::wire::ApiError;

/// How far a session has come.
#[derive(Debug)]
pub enum Progress {
    /// Events for the client.
    Events(Vec<Event>),
    /// Nothing new, but the client should hear that the connection lives.
    KeepAlive,
    /// The reply is whole.
    Complete(Finish, Option<Usage>),
    /// There will be no reply.
    Failed(ApiError),
}
