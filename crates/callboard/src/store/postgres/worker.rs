//! The thread of the shared pool, and how a connection does a piece of work.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use super::super::error::StoreError;
use super::super::handle::StoreSettings;
use super::super::queue::Jobs;
use super::super::statement::{Answer, Job, Work};
use super::super::write_health::WriteHealth;
use super::commit_outcome::LostWork;
use super::connection::{Connection, failed};
use super::pipeline;
use super::pool::serve_shared;
use super::shared_server_state::Server;

/// Attempts of a transaction that is aborted by deadlocks or serialization failures.
const ATTEMPTS: usize = 4;

/// Connects once and migrates the schema, so that a wrong address fails at startup.
pub(crate) fn check(server: &Server, job_timeout: Duration) -> Result<(), StoreError> {
    runtime()?.block_on(async {
        let mut connection = Connection::open(server).await?;
        tokio::time::timeout(job_timeout, connection.migrate()).await.unwrap_or_else(|_| Err(too_slow(job_timeout)))
    })
}

/// Works until the queue is closed and empty.
pub(crate) fn serve(server: &Server, settings: &StoreSettings, health: &WriteHealth, jobs: Jobs) {
    match runtime() {
        Ok(runtime) => runtime.block_on(serve_shared(server, settings, health, jobs)),
        Err(error) => tracing::error!(%error, "the store's thread ended"),
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| StoreError::Unavailable(format!("no runtime can be started: {error}")))
}

/// A job that was done, with its connection.
pub(super) struct DoneJob {
    pub(super) connection: Connection,
    pub(super) job: Job,
    pub(super) answer: Result<Answer, StoreError>,
}

/// Does one job. Where its answer is lost, its outcome is found out before it is reported.
pub(super) async fn serve_job(server: &Server, job_timeout: Duration, mut connection: Connection, job: Job) -> DoneJob {
    let deadline = job.queued_at + job_timeout;
    let performed = tokio::time::timeout_at(deadline, perform(&mut connection, &job.work)).await;
    let is_late = performed.is_err();
    let mut answer = performed.unwrap_or_else(|_| Err(too_slow(job_timeout)));
    let commit = connection.take_pending_commit();
    if let Err(error) = &answer
        && (commit.is_some() || connection.is_lost())
    {
        let lost = LostWork { work: &job.work, commit, error: error.clone(), is_late };
        answer = lost.recover(server, job_timeout / 3).await;
    }
    DoneJob { connection, job, answer }
}

pub(super) async fn perform(connection: &mut Connection, work: &Work) -> Result<Answer, StoreError> {
    let mut attempt = 1;
    loop {
        match connection.drive(async |session| pipeline::perform(session, work).await).await? {
            Err(error) if attempt < ATTEMPTS && was_aborted_for_another(&error) => attempt += 1,
            outcome => {
                return outcome.map_err(|error| {
                    connection.note(&error);
                    failed(&error)
                });
            }
        }
    }
}

/// True when the server rolled the transaction back because of another one: it can be retried.
fn was_aborted_for_another(error: &tokio_postgres::Error) -> bool {
    let code = error.code();
    code == Some(&SqlState::T_R_DEADLOCK_DETECTED) || code == Some(&SqlState::T_R_SERIALIZATION_FAILURE)
}

pub(super) fn too_slow(job_timeout: Duration) -> StoreError {
    StoreError::Unavailable(format!("the database took longer than {job_timeout:?}"))
}
