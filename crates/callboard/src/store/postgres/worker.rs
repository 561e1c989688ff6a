//! The thread that holds connections for all who have none of their own, and what a connection does with a piece of work.
//!
//! A connection that is lost is opened again for the next piece of work. Of the work that was under way, what can be done again is done
//! again; where it is not clear whether another change was made, the server is asked before whoever waits is told.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::super::error::StoreError;
use super::super::health::Health;
use super::super::ledger::StoreSettings;
use super::super::queue::Jobs;
use super::super::statement::{Answer, Job, Work};
use super::access::Access;
use super::again::again;
use super::line::{Line, Session, failed};
use super::pipeline;
use super::pool::serve_all;

/// A transaction that lost against another one is tried so often.
const ATTEMPTS: usize = 4;

/// Connects once and brings the schema to its newest version, so that a wrong address is told at the start.
pub(crate) fn check(access: &Access, patience: Duration) -> Result<(), StoreError> {
    runtime()?.block_on(async {
        let mut line = Line::open(access).await?;
        tokio::time::timeout(patience, line.migrate()).await.unwrap_or_else(|_| Err(too_slow(patience)))
    })
}

/// Works until the queue is closed and empty.
pub(crate) fn serve(access: &Access, settings: &StoreSettings, health: &Health, jobs: Jobs) {
    match runtime() {
        Ok(runtime) => runtime.block_on(serve_all(access, settings, health, jobs, None)),
        Err(error) => tracing::error!(%error, "the thread of the store ended"),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| StoreError::Unavailable(format!("no runtime can be started: {error}")))
}

/// A piece of work that was done.
pub(super) struct Done {
    pub(super) line: Line,
    pub(super) job: Job,
    pub(super) answer: Result<Answer, StoreError>,
}

/// Does one piece of work and hands it back with the connection and the answer.
pub(super) async fn serve_job(access: &Access, patience: Duration, mut line: Line, job: Job) -> Done {
    let performed = tokio::time::timeout_at(job.left + patience, perform(&mut line, &job.work)).await;
    let is_late = performed.is_err();
    let answer = match (performed.unwrap_or_else(|_| Err(too_slow(patience))), line.take_doubt()) {
        (Err(error), Some(change)) => change.settled(access, error, patience / 3).await,
        (Err(error), None) if line.is_lost() => again(access, &job.work, (error, is_late), patience / 3).await,
        (answer, _) => answer,
    };
    Done { line, job, answer }
}

pub(super) async fn perform(line: &mut Line, work: &Work) -> Result<Answer, StoreError> {
    let mut attempt = 1;
    loop {
        match line.drive(async |session| once(session, work).await).await? {
            Err(error) if attempt < ATTEMPTS && lost_against_another(&error) => attempt += 1,
            outcome => {
                return outcome.map_err(|error| {
                    line.note(&error);
                    failed(&error)
                });
            }
        }
    }
}

async fn once(session: &mut Session, work: &Work) -> Result<Answer, tokio_postgres::Error> {
    match work {
        Work::Read(queries) => pipeline::read(session, queries).await,
        Work::Write(statements, then) => pipeline::write(session, statements, then).await,
    }
}

/// The server undid the transaction because of another one: nothing was changed, and it can be done again.
fn lost_against_another(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_DEADLOCK_DETECTED) || code == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
}

pub(super) fn too_slow(patience: Duration) -> StoreError {
    StoreError::Unavailable(format!("the database took longer than {patience:?}"))
}
