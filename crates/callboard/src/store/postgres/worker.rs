//! The thread that holds the connections: each takes the next piece of work when it has done the last.
//!
//! A connection that is lost is opened again for the next piece of work. Work that was under way is not done again; where it is not
//! clear whether a change was made, the server is asked before whoever waits is told.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio_postgres::error::SqlState;

use super::super::error::StoreError;
use super::super::ledger::StoreSettings;
use super::super::queue::Jobs;
use super::super::statement::{Answer, Job, Work};
use super::access::Access;
use super::line::{Line, Session, failed};
use super::pipeline;

/// A transaction that lost against another one is tried so often.
const ATTEMPTS: usize = 4;

/// Connects once and brings the schema to its newest version, so that a wrong address is told at the start.
pub(crate) fn check(url: &str) -> Result<(), StoreError> {
    let access = Access::read(url)?;
    runtime()?.block_on(async { Line::open(&access).await?.migrate().await })
}

/// Works until the queue is closed and empty.
pub(crate) fn serve(url: &str, settings: &StoreSettings, jobs: Jobs) {
    let served = Access::read(url).and_then(|access| {
        runtime()?.block_on(serve_all(&access, settings, jobs));
        Ok(())
    });
    if let Err(error) = served {
        tracing::error!(%error, "the thread of the store ended");
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, StoreError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| StoreError::Unavailable(format!("no runtime can be started: {error}")))
}

/// The connection used last is used first, so that no more are opened than are needed at once.
async fn serve_all(access: &Access, settings: &StoreSettings, mut jobs: Jobs) {
    let connections = settings.connections.max(1);
    let mut idle: Vec<Line> = Vec::new();
    let mut busy = FuturesUnordered::new();
    let mut is_closed = false;
    loop {
        tokio::select! {
            job = jobs.recv(), if !is_closed && busy.len() < connections => match job {
                Some(job) => busy.push(serve_job(access, settings.patience, idle.pop(), job)),
                None => is_closed = true,
            },
            Some(line) = busy.next() => {
                if line.as_ref().is_some_and(Line::is_spoiled) {
                    idle.clear();
                }
                idle.extend(line.and_then(Line::if_open));
            }
            else => return,
        }
    }
}

/// Does one piece of work and hands the connection back.
async fn serve_job(access: &Access, patience: Duration, line: Option<Line>, job: Job) -> Option<Line> {
    let mut line = line.and_then(Line::if_open);
    let answer = tokio::time::timeout(patience, perform(access, &mut line, &job.work)).await;
    let answer = match (answer.unwrap_or_else(|_| Err(too_slow(patience))), line.as_mut().and_then(Line::take_doubt)) {
        (Err(error), Some(change)) => change.settled(access, error, patience / 3).await,
        (answer, _) => answer,
    };
    // Whoever asked may have left.
    let _ = job.reply.send(answer);
    line
}

async fn perform(access: &Access, line: &mut Option<Line>, work: &Work) -> Result<Answer, StoreError> {
    let line = match line {
        Some(line) => line,
        None => line.insert(Line::open(access).await?),
    };
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

fn too_slow(patience: Duration) -> StoreError {
    StoreError::Unavailable(format!("the database took longer than {patience:?}"))
}
