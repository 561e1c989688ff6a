//! Recovers work whose answer was lost with its connection or timed out.
//!
//! Idempotent work is sent once more. A change that is applied at most once is sent until its outcome is known; when it conflicts, its
//! proof shows whether an earlier attempt or another writer was first. The server is asked for the status of a transaction.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::super::backoff::Backoff;
use super::super::error::StoreError;
use super::super::statement::{Answer, Cell, Delivery, Statement, Work};
use super::connection::{Connection, failed};
use super::shared_server_state::Server;
use super::worker::perform;

const STATUS: &str = "SELECT txid_status($1), CAST(EXTRACT(EPOCH FROM pg_stat_get_bgwriter_stat_reset_time()) AS TEXT)";
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The id of a transaction, which the server gives to one transaction between two crashes.
pub(super) struct TransactionId {
    pub(super) number: i64,
    /// When the server last reset its statistics, as it does after a crash.
    pub(super) statistics_since: Option<String>,
}

/// A transaction whose COMMIT was sent and not answered.
pub(super) struct PendingCommit {
    /// Its transaction id, if the server gave one.
    pub(super) transaction: Option<TransactionId>,
    /// The answer, if it was committed.
    pub(super) answer: Answer,
}

/// Work without an answer.
pub(super) struct LostWork<'a> {
    pub(super) work: &'a Work,
    pub(super) commit: Option<PendingCommit>,
    /// Why there is no answer.
    pub(super) error: StoreError,
    /// Whether it timed out.
    pub(super) is_late: bool,
}

impl LostWork<'_> {
    /// Determines the outcome, within this time.
    pub(super) async fn recover(self, server: &Server, within: Duration) -> Result<Answer, StoreError> {
        let Self { work, commit, error, is_late } = self;
        let unknown = StoreError::Unknown(error.to_string());
        match (commit, work.delivery()) {
            (Some(commit), _) => timeout(within, commit.outcome(server, error)).await.unwrap_or(Err(unknown)),
            (None, Delivery::AtMostOnce { proof }) => {
                timeout(within, resend_until_known(server, work, &proof)).await.map_err(|_| unknown)
            }
            (None, Delivery::Idempotent) if !is_late => {
                timeout(within, resend(server, work)).await.ok().and_then(Result::ok).ok_or(error)
            }
            // Without a COMMIT nothing was changed.
            (None, Delivery::Idempotent | Delivery::Transaction) => Err(error),
        }
    }
}

impl PendingCommit {
    async fn outcome(self, server: &Server, error: StoreError) -> Result<Answer, StoreError> {
        match transaction_status(server, self.transaction).await.as_deref() {
            Some("committed") => {
                tracing::warn!(%error, "a change was committed, but the answer was lost");
                Ok(self.answer)
            }
            Some(_) => Err(error),
            None => Err(StoreError::Unknown(error.to_string())),
        }
    }
}

/// `committed` or `aborted`; none where the server does not know the transaction, or crashed since: then the id may be another's.
async fn transaction_status(server: &Server, transaction: Option<TransactionId>) -> Option<String> {
    let TransactionId { number, statistics_since } = transaction?;
    let (cell, mut backoff) = (Cell::Integer(number), Backoff::new(FIRST_PAUSE, LONGEST_PAUSE));
    loop {
        match status_now(server, &cell).await {
            // The server cannot be reached, or has not ended the transaction yet.
            Err(_) => {}
            Ok((Some(status), _)) if status == "in progress" => {}
            Ok((status, since)) => return status.filter(|_| since == statistics_since),
        }
        sleep(backoff.next_pause()).await;
    }
}

/// The status of a transaction, and when the server last reset its statistics.
async fn status_now(server: &Server, transaction: &Cell) -> Result<(Option<String>, Option<String>), StoreError> {
    let mut connection = Connection::open(server).await?;
    let row = connection.drive(async |session| session.client.query_one(STATUS, &[transaction]).await).await?;
    row.and_then(|row| Ok((row.try_get(0)?, row.try_get(1)?))).map_err(|error| failed(&error))
}

async fn resend(server: &Server, work: &Work) -> Result<Answer, StoreError> {
    perform(&mut Connection::open(server).await?, work).await
}

async fn resend_until_known(server: &Server, work: &Work, proof: &Statement) -> Answer {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    loop {
        if let Some(answer) = resend_and_check(server, work, proof).await {
            tracing::warn!(conflict = ?answer.conflict, "a change whose answer was lost was sent again");
            return answer;
        }
        sleep(backoff.next_pause()).await;
    }
}

/// None where the outcome is not known yet.
async fn resend_and_check(server: &Server, work: &Work, proof: &Statement) -> Option<Answer> {
    let mut connection = Connection::open(server).await.ok()?;
    let resent = perform(&mut connection, work).await;
    if let Ok(answer @ Answer { conflict: None, .. }) = resent {
        return Some(answer);
    }
    let found = perform(&mut connection, &Work::read(vec![proof.clone()])).await.ok()?;
    if found.rows.iter().flatten().next().is_some() { Some(Answer::default()) } else { resent.ok() }
}
