//! Threads and connections: one single-threaded runtime per core, each with its own connections to model servers and to PostgreSQL.
//!
//! A request stays on the thread that accepted it, so that a streamed piece is never handed from core to core. This is one
//! of the few places that start tasks; all of them are owned and awaited here.

use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::app::App;
use crate::config::Timeouts;
use crate::http::Threadwise;
use crate::stopping::stop_asked;
use crate::store::Pruned;
use crate::telemetry::log_throttle::LogThrottle;
use crate::trace::otlp;
use crate::{clock, http, stage};

const HEAD_TIME: Duration = Duration::from_secs(30);
const UPKEEP: Duration = Duration::from_secs(5);
const PROBE: Duration = Duration::from_secs(2);
const FORGET: Duration = Duration::from_secs(10 * 60);
const KEEP: Duration = Duration::from_millis(200);
/// How long those who are cut off may take to hear of it.
const LAST_WORDS: Duration = Duration::from_secs(1);
const LAST_FLUSH: Duration = Duration::from_secs(3);
const LAST_EXPORT: Duration = Duration::from_secs(3);

/// Signals within this time after the first ask for the same thing.
const SAME_WISH: Duration = Duration::from_secs(1);

/// Serves until a signal asks to stop and all replies in flight are whole, or the drain time is over.
pub fn run(app: &Arc<App>, listener: StdListener) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = single_runtime()?;
    // Before anybody is served: a signal that nobody listens to ends the program at once, and cuts its replies off.
    let mut signals = runtime.block_on(async { Signals::listen() })?;
    let (stop, stopped) = watch::channel(false);
    let mut threads = Vec::new();
    for number in 0..thread_count(app.settings.threads) {
        let (app, listener, stopped) = (Arc::clone(app), listener.try_clone()?, stopped.clone());
        let thread = std::thread::Builder::new().name(format!("serve-{number}"));
        threads.push(thread.spawn(move || serve_thread(&app, listener, stopped))?);
    }
    // Only the threads hold the socket now, so that it is closed when they stop accepting.
    drop(listener);
    runtime.block_on(async {
        tokio::select! {
            () = signals.asked(app) => {}
            () = follow_characters(app) => {}
            () = probe_servers(app) => {}
            () = forget(app) => {}
            () = keep_traces(app) => {}
            () = export_traces(app) => {}
        }
    });
    tracing::info!(
        "draining: replies in flight are finished, new connections are refused; a second signal ends all at once"
    );
    stop.send_replace(true);
    end_at_second_signal(runtime, signals)?;
    for thread in threads {
        thread.join().map_err(|_| anyhow::anyhow!("a server thread panicked"))??;
    }
    single_runtime()?.block_on(settle_traces(app));
    Ok(())
}

/// Whoever asks twice does not want to wait. Supervisors send one wish twice, to the process and to its group, so what follows the
/// first at once belongs to it. The thread ends with the program.
fn end_at_second_signal(runtime: tokio::runtime::Runtime, mut signals: Signals) -> std::io::Result<()> {
    let first = Instant::now();
    let second = async move {
        loop {
            let code = signals.next().await;
            if first.elapsed() >= SAME_WISH {
                return code;
            }
        }
    };
    let listening = std::thread::Builder::new().name("second-signal".to_owned());
    listening.spawn(move || std::process::exit(runtime.block_on(second))).map(drop)
}

/// Waits for something before anybody is served.
pub fn block_on<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    Ok(single_runtime()?.block_on(future))
}

/// Loads the characters before anybody is served. Without Python there are none, and the gateway serves all the same.
pub fn load_characters(app: &App) -> std::io::Result<()> {
    single_runtime()?.block_on(async {
        if let Err(error) = app.cast.load(true).await {
            tracing::error!(%error, "characters cannot be loaded");
        }
    });
    Ok(())
}

/// How many threads serve.
pub fn thread_count(setting: usize) -> usize {
    if setting > 0 { setting } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) }
}

fn single_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// Asks model servers that were set aside whether they are back, for as long as the program runs.
async fn probe_servers(app: &App) {
    let (client, mut ticks) = (app.client(), tokio::time::interval(PROBE));
    loop {
        ticks.tick().await;
        app.upstreams.probe(&client).await;
    }
}

/// Forgets what has been kept long enough, for as long as the program runs.
async fn forget(app: &App) {
    let (retention, mut ticks) = (app.retention(), tokio::time::interval(FORGET));
    loop {
        ticks.tick().await;
        match app.store.prune(&retention, clock::milliseconds()).await {
            Ok(pruned) if pruned == Pruned::default() => {}
            Ok(pruned) => tracing::info!(?pruned, "what was kept long enough is forgotten"),
            Err(error) => tracing::error!(%error, "old things cannot be forgotten"),
        }
    }
}

/// Stores what turns leave behind, all of a moment together, for as long as the program runs.
async fn keep_traces(app: &App) {
    let mut ticks = tokio::time::interval(KEEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = app.traces.batch_full() => {}
        }
        app.traces.flush().await;
    }
}

/// Tells a collector about turns, where there is one.
async fn export_traces(app: &App) {
    match app.traces.outbox() {
        Some(outbox) => otlp::export(outbox, &app.client()).await,
        None => std::future::pending().await,
    }
}

/// What the last turns left behind. A store that does not answer does not keep the program from ending.
async fn settle_traces(app: &App) {
    if tokio::time::timeout(LAST_FLUSH, app.traces.flush()).await.is_err() {
        tracing::error!("the store does not answer: the traces of the last turns were not stored");
    }
    if let Some(outbox) = app.traces.outbox() {
        otlp::export_rest(outbox, &app.client(), LAST_EXPORT).await;
    }
}

/// Loads changed characters for as long as the program runs.
async fn follow_characters(app: &App) {
    stage::watch(Arc::clone(&app.cast)).await;
    std::future::pending::<()>().await;
}

/// What asks the program to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn asked(&mut self, app: &App) {
        let mut upkeep = tokio::time::interval(UPKEEP);
        loop {
            tokio::select! {
                _ = self.next() => return,
                _ = upkeep.tick() => app.metrics.run_upkeep(),
            }
        }
    }

    /// Waits for a signal and tells the exit code of a program that it ends.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
        }
    }
}

fn serve_thread(app: &Arc<App>, listener: StdListener, stopped: watch::Receiver<bool>) -> anyhow::Result<()> {
    single_runtime()?.block_on(async {
        let mut storing = JoinSet::new();
        let nearby = app.store.nearby().map(|(nearby, work)| {
            storing.spawn(work);
            nearby
        });
        let ((sockets, closed), (end, ending)) = (mpsc::channel(1), watch::channel(false));
        let thread = Threadwise { client: app.client(), stopping: stopped.clone(), ending, sockets };
        let router = http::router(Arc::clone(app), thread);
        let listener = TcpListener::from_std(listener).context("cannot listen")?;
        let tasks = serve_connections(listener, router, stopped, &app.settings.timeouts).await;
        drain(tasks, closed, &end, app.settings.timeouts.drain).await;
        drop(nearby);
        while let Some(ended) = storing.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "what was left could not be stored");
            }
        }
        Ok(())
    })
}

/// Waits until all have been served; those who are not when the time is over are told.
async fn drain(mut tasks: JoinSet<()>, mut closed: mpsc::Receiver<()>, end: &watch::Sender<bool>, time: Duration) {
    let mut served = std::pin::pin!(async {
        while tasks.join_next().await.is_some() {}
        // Nothing is ever sent: the channel ends with the last WebSocket.
        let _ = closed.recv().await;
    });
    if tokio::time::timeout(time, served.as_mut()).await.is_ok() {
        return;
    }
    tracing::warn!(seconds = time.as_secs_f64(), "replies are cut off: the drain time is over");
    end.send_replace(true);
    let _ = tokio::time::timeout(LAST_WORDS, served).await;
}

/// Serves until the program is to end; those whose connections are still open come back.
async fn serve_connections(
    listener: TcpListener,
    router: Router,
    mut stopped: watch::Receiver<bool>,
    timeouts: &Timeouts,
) -> JoinSet<()> {
    let (stopping, mut tasks) = (stopped.clone(), JoinSet::new());
    loop {
        tokio::select! {
            biased;
            () = stop_asked(&mut stopped) => break,
            Some(_) = tasks.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    prepare(&stream, timeouts.client);
                    tasks.spawn(serve_connection(stream, router.clone(), stopping.clone()));
                }
                Err(error) => pause_after(&error).await,
            },
        }
    }
    tasks
}

/// Serves one connection; when the program is to end, the reply in flight is its last.
async fn serve_connection(stream: TcpStream, router: Router, mut stopped: watch::Receiver<bool>) {
    let mut connection = std::pin::pin!(connection(stream, router));
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop_asked(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

type Connection = http1::UpgradeableConnection<TokioIo<TcpStream>, TowerToHyperService<Router>>;

fn connection(stream: TcpStream, router: Router) -> Connection {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades()
}

/// Small pieces go out at once, and a client that takes nothing, or cannot be reached, is given up: whatever is being sent to it,
/// whole, as events or over a WebSocket, the turn behind it must not wait for ever.
fn prepare(stream: &TcpStream, patience: Duration) {
    if let Err(error) = stream.set_nodelay(true).and_then(|()| be_patient(stream, patience)) {
        tracing::debug!(%error, "an option of a connection cannot be set");
    }
}

fn be_patient(stream: &TcpStream, patience: Duration) -> std::io::Result<()> {
    let socket = SockRef::from(stream);
    // Whole seconds, and not as many as elsewhere, are what systems take here.
    let probes = (patience / 4).clamp(Duration::from_secs(1), Duration::from_secs(10_000));
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(probes).with_interval(probes).with_retries(3))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    socket.set_tcp_user_timeout(Some(patience))?;
    Ok(())
}

/// Out of file handles, most likely: waiting a moment lets connections end.
async fn pause_after(error: &std::io::Error) {
    static SAID: LogThrottle = LogThrottle::new();
    if SAID.is_due("") {
        tracing::error!(%error, "connections cannot be accepted; more file handles may help (ulimit -n)");
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
}
