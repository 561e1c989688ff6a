//! Keeps a server running: starts it, waits until it answers, and starts it again after it has ended.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::backoff::Backoff;
use super::exit::ServerExit;
use super::handle::SupervisedServer;
use super::output::ServerOutput;
use super::process::GuardedProcess;
use crate::shutdown_requested::shutdown_requested;
use crate::upstream::{Client, Upstream};

/// Pauses between two questions whether a server answers.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Keeps a server running until the program is to end, and then ends it. Dropping this ends it, too.
pub(super) async fn supervise(upstream: &Upstream, client: &Client, mut stopped: watch::Receiver<bool>) {
    let Some(server) = &upstream.supervised else { return };
    let mut slot = None;
    tokio::select! {
        never = keep_running(upstream, server, client, &mut slot) => match never {},
        () = shutdown_requested(&mut stopped) => {}
    }
    server.stopped();
    if let Some(process) = slot {
        process.end(&mut ServerOutput::new(server)).await;
    }
}

async fn keep_running(
    upstream: &Upstream,
    server: &SupervisedServer,
    client: &Client,
    slot: &mut Option<GuardedProcess>,
) -> Infallible {
    let mut backoff = Backoff::default();
    server.demanded().await;
    loop {
        let exit = run_once(upstream, server, client, slot).await;
        let wait = backoff.after(exit.ready_for.unwrap_or_default());
        server.ended(exit, wait);
        tokio::time::sleep(wait).await;
    }
}

/// Starts the server and waits for its end. It is in the slot for as long as it runs.
async fn run_once(
    upstream: &Upstream,
    server: &SupervisedServer,
    client: &Client,
    slot: &mut Option<GuardedProcess>,
) -> ServerExit {
    let process = match GuardedProcess::start(&server.launch).await {
        Ok(process) => slot.insert(process),
        Err(error) => return ServerExit::unstarted(&error.to_string()),
    };
    server.started(process.running());
    let mut output = ServerOutput::new(server);
    let words = tokio::select! {
        words = process.run(&mut output) => words,
        never = watch_health(upstream, server, client) => match never {},
    };
    *slot = None;
    ServerExit { words, at: Instant::now(), ready_for: server.ready_for(), output: output.into_tail() }
}

/// Asks the server for its models until it answers, and again whenever a connection to it has failed.
async fn watch_health(upstream: &Upstream, server: &SupervisedServer, client: &Client) -> Infallible {
    loop {
        let mut pause = FIRST_PAUSE;
        while !upstream.asked_state(client).await.answers() {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        upstream.reset_breaker();
        server.answered();
        server.doubted().await;
    }
}
