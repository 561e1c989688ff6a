//! The failures of a store, and what clients see of them.

use std::time::Duration;

use callboard_core::wire::ApiError;

use crate::telemetry::log_throttle::LogThrottle;

/// Each request may fail for the same reason.
static FAILED: LogThrottle = LogThrottle::new();

/// A failure of the store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The address of the store cannot be read.
    #[error("invalid store address {given:?}: {remedy}")]
    Address {
        /// What was given, without a password.
        given: String,
        /// What to write instead.
        remedy: String,
    },
    /// One part of the address is wrong, such as what follows its `?`.
    #[error("invalid {part:?} in the store address: {remedy}")]
    AddressPart {
        /// The part, without a password.
        part: String,
        /// What to write instead.
        remedy: String,
    },
    /// The database cannot be reached, or does not answer. Nothing was changed, or only by an idempotent statement.
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// The database can be read but not written: it is full or read-only. Nothing was changed.
    #[error("the store cannot be written: {0}")]
    Unwritable(String),
    /// The connection was lost during a change, and the outcome could not be found out.
    #[error("the outcome of a change to the store is unknown: {0}")]
    Unknown(String),
    /// The database refused a statement.
    #[error("the store failed: {0}")]
    Database(String),
    /// The file is not a database of Callboard. Nothing was changed in it.
    #[error("{0}; nothing was changed in it: name another file")]
    Foreign(String),
    /// The file of the database was removed or replaced while it was open.
    #[error("the file {0} of the store was removed or replaced; put it back, or restart Callboard")]
    Removed(String),
    /// The database was written by a newer Callboard.
    #[error(
        "the store was written by a newer Callboard (its version is {found}, this one knows {known}): install that version, or use another store"
    )]
    Newer {
        /// The version of the database.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Stored data cannot be parsed.
    #[error("the store holds unreadable data: {0}")]
    Damaged(String),
    /// There is no such row.
    #[error("{0:?} is not in the store")]
    NotFound(String),
    /// The id is in use.
    #[error("{0:?} already exists in the store")]
    Exists(String),
    /// Another turn of the conversation did not end in time.
    #[error(
        "conversation {conversation:?} is busy: another turn did not end within {waited:?}; send one turn after the other"
    )]
    Busy {
        /// The conversation.
        conversation: String,
        /// How long this one waited.
        waited: Duration,
    },
    /// A history is larger than may be loaded.
    #[error("the history of {history:?} holds {bytes} bytes, which is more than {limit}")]
    TooLarge {
        /// The conversation, the response or the snapshot at its end.
        history: String,
        /// Its bytes, or those of its newer part if that is too large already.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The response that another was to follow is gone.
    #[error("the response {0:?} was deleted while one that follows it was made")]
    BaseGone(String),
    /// Another turn of the conversation was written since this one began.
    #[error(
        "conversation {0:?} was changed by another request while this turn ran; nothing of it was stored: send it again"
    )]
    Conflict(String),
    /// The conversation was deleted since this turn began.
    #[error("conversation {0:?} was deleted while this turn ran; nothing of it was stored")]
    Deleted(String),
}

impl StoreError {
    /// One part of an address is wrong.
    pub(super) fn part(part: &str, remedy: &str) -> Self {
        Self::AddressPart { part: part.to_owned(), remedy: remedy.to_owned() }
    }

    /// The JSON of a stored `kind` cannot be parsed.
    pub(super) fn damaged(kind: &str) -> impl Fn(serde_json::Error) -> Self {
        move |error| Self::Damaged(format!("{kind}: {error}"))
    }
}

/// What clients see. The message of the database stays in the log.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { .. } => Self::new(409, "conversation_busy", error.to_string()),
            StoreError::Conflict(_) => Self::new(409, "conversation_conflict", error.to_string()),
            StoreError::TooLarge { history, bytes, limit } => Self::history_too_large(&history, bytes, limit),
            StoreError::BaseGone(id) => Self::previous_response_deleted(&id),
            StoreError::Deleted(_) => Self::new(404, "conversation_not_found", error.to_string()),
            StoreError::NotFound(id) => Self::conversation_not_found(&id),
            error => {
                if FAILED.is_due(&error.to_string()) {
                    tracing::error!(%error, "the store failed");
                }
                failure(&error)
            }
        }
    }
}

fn failure(error: &StoreError) -> ApiError {
    match error {
        StoreError::Unknown(_) => {
            let message = "the connection to the database was lost while this turn was stored, so it is not known whether it was; \
                           look at the conversation before you send it again";
            ApiError::new(500, "store_outcome_unknown", message).not_to_be_retried()
        }
        StoreError::Database(_) | StoreError::Damaged(_) => {
            let message = "what belongs to this conversation cannot be read or written, and trying again will not help; \
                           Callboard's log says why";
            ApiError::new(500, "store_failed", message).not_to_be_retried()
        }
        StoreError::Removed(_) => {
            let message = "the file of the store was removed or replaced while Callboard runs, so nothing can be stored; \
                           put it back, or restart Callboard";
            ApiError::new(503, "store_unavailable", message).with_retry_after(10)
        }
        _ => {
            let message = "what belongs to this conversation cannot be read or written now; try again later";
            ApiError::new(503, "store_unavailable", message).with_retry_after(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_see_whether_a_retry_may_succeed() {
        let words = || "words of the database".to_owned();
        let cases = [
            (StoreError::Unavailable(words()), (503, "store_unavailable", Some(1), false)),
            (StoreError::Unwritable(words()), (503, "store_unavailable", Some(1), false)),
            (StoreError::Unknown(words()), (500, "store_outcome_unknown", None, true)),
            (StoreError::Database(words()), (500, "store_failed", None, true)),
            (StoreError::Damaged(words()), (500, "store_failed", None, true)),
            (StoreError::Removed(words()), (503, "store_unavailable", Some(10), false)),
            (StoreError::Deleted("c".to_owned()), (404, "conversation_not_found", None, false)),
            (StoreError::Conflict("c".to_owned()), (409, "conversation_conflict", None, false)),
        ];
        for (error, expected) in cases {
            let shown = ApiError::from(error.clone());
            assert_eq!((shown.status, shown.code.as_str(), shown.retry_after, shown.no_retry), expected, "{error}");
            assert!(!shown.message.contains("words"), "{}", shown.message);
        }
    }
}
