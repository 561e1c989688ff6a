//! A change whose COMMIT was sent and not answered, because the connection was lost or the time was over: it may have been made or
//! not. The server knows, by the number of the transaction, and is asked on another connection.

use std::time::Duration;

use super::super::error::StoreError;
use super::super::statement::{Answer, Cell};
use super::access::Access;
use super::line::{Line, failed};

const STATUS: &str = "SELECT txid_status($1)";
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A change that may have been made.
pub(super) struct InDoubt {
    /// The number of its transaction; none where the server gave none.
    transaction: Option<i64>,
    /// What it answers if it was.
    pub(super) answer: Answer,
}

impl InDoubt {
    /// A change that is about to be committed, with the number of its transaction.
    pub(super) fn new(transaction: Option<i64>, answer: Answer) -> Self {
        Self { transaction, answer }
    }

    /// What came of it; the error is what happened to whoever was told to commit.
    pub(super) async fn settled(
        self,
        access: &Access,
        error: StoreError,
        within: Duration,
    ) -> Result<Answer, StoreError> {
        let made = tokio::time::timeout(within, was_made(access, self.transaction)).await;
        match made.ok().flatten() {
            Some(true) => {
                tracing::warn!(%error, "a change was made, though its outcome was not heard");
                Ok(self.answer)
            }
            Some(false) => Err(error),
            None => Err(StoreError::Unknown(error.to_string())),
        }
    }
}

/// None where the server does not know it any more.
async fn was_made(access: &Access, transaction: Option<i64>) -> Option<bool> {
    let (transaction, mut pause) = (transaction?, Pause::new());
    loop {
        match status(access, transaction).await {
            Ok(Some(status)) if status == "committed" => return Some(true),
            Ok(Some(status)) if status == "aborted" => return Some(false),
            Ok(None) => return None,
            // The server has not ended it yet, or cannot be reached.
            Ok(Some(_)) | Err(_) => pause.wait().await,
        }
    }
}

/// Before a server is asked again: longer each time.
pub(super) struct Pause(Duration);

impl Pause {
    pub(super) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    pub(super) async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

async fn status(access: &Access, transaction: i64) -> Result<Option<String>, StoreError> {
    let mut line = Line::open(access).await?;
    let cell = Cell::Integer(transaction);
    let asked = line.drive(async |session| session.client.query_one(STATUS, &[&cell]).await).await?;
    asked.and_then(|row| row.try_get(0)).map_err(|error| failed(&error))
}
