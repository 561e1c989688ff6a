//! Work whose connection was lost before its answer came, or whose time was over: what can be done again is done again, on another
//! connection.
//!
//! What makes no difference when it is done again is tried once more. A change that can be told by what it leaves behind is tried
//! until its outcome is known: it holds for one version of its conversation, so it is made once at most, however often it is tried and whenever
//! a server that was out of reach comes to it. Where it does not hold any more, what it leaves behind tells whether it was it
//! that was made, or another.

use std::time::Duration;

use super::super::error::StoreError;
use super::super::statement::{Answer, Statement, Work};
use super::access::Access;
use super::doubt::Pause;
use super::line::Line;
use super::worker::perform;

/// What came of work that nobody heard the answer of; the error is what happened to it, and whether that was the end of its time.
pub(super) async fn again(
    access: &Access,
    work: &Work,
    (error, is_late): (StoreError, bool),
    within: Duration,
) -> Result<Answer, StoreError> {
    if let Some(proof) = work.proof() {
        let known = tokio::time::timeout(within, until_known(access, work, &proof)).await;
        return known.map_err(|_| StoreError::Unknown(error.to_string()));
    }
    if is_late || !work.is_repeatable() {
        return Err(error);
    }
    let once_more = async { perform(&mut Line::open(access).await?, work).await };
    tokio::time::timeout(within, once_more).await.ok().and_then(Result::ok).ok_or(error)
}

async fn until_known(access: &Access, work: &Work, proof: &Statement) -> Answer {
    let mut pause = Pause::new();
    loop {
        if let Some(answer) = attempt(access, work, proof).await {
            tracing::warn!(missed = ?answer.missed, "a change whose answer was lost was tried again");
            return answer;
        }
        pause.wait().await;
    }
}

/// None where the outcome is not known yet.
async fn attempt(access: &Access, work: &Work, proof: &Statement) -> Option<Answer> {
    let mut line = Line::open(access).await.ok()?;
    let tried = perform(&mut line, work).await;
    if let Ok(answer @ Answer { missed: None, .. }) = tried {
        return Some(answer);
    }
    let found = perform(&mut line, &Work::Read(vec![proof.clone()])).await.ok()?;
    if found.looked.iter().flatten().next().is_some() { Some(Answer::default()) } else { tried.ok() }
}
