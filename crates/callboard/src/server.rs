//! Threads and connections: one single-threaded runtime per core, each with its own connections to model servers and to PostgreSQL.
//!
//! A request stays on the thread that accepted it, so that a streamed piece is never handed from core to core. This is one
//! of the few places that start tasks; all of them are owned and awaited here.

use std::io::IsTerminal as _;
use std::net::TcpListener as StdListener;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::config::{Settings, Timeouts};
use crate::greeting::Start;
use crate::http::{ClientConnection, ClientStream, OpenConnections, ThreadServices};
use crate::server_findings;
use crate::services::Services;
use crate::shutdown_requested::shutdown_requested;
use crate::telemetry::log_throttle::LogThrottle;
use crate::timer_floor::TimerFloor;
use crate::{app, greeting, http, open_files, periodic_tasks, socket_options, telemetry};

/// How long the start waits for model servers to list their models.
const FIRST_ANSWERS: Duration = Duration::from_secs(1);
const METRICS_UPKEEP: Duration = Duration::from_secs(5);
/// How long replies that are cut off may take to send their last event.
const LAST_EVENTS: Duration = Duration::from_secs(1);

/// Signals within this time after the first one belong to it.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Reads the settings anew.
pub type ReadSettings<'a> = dyn Fn() -> anyhow::Result<Settings> + 'a;

/// Builds the program from its settings and serves until a signal ends it.
pub fn serve(mut settings: Settings, read_settings: &ReadSettings<'_>) -> anyhow::Result<()> {
    telemetry::log::start(settings.log, settings.log_format).context("logging cannot be started")?;
    let runtime = single_runtime()?;
    // First of all: without a handler the signal to reload would end a program that is still loading its characters.
    let hangup = runtime.block_on(async { signal(SignalKind::hangup()) })?;
    open_files::raise_limit();
    let listener =
        StdListener::bind(settings.listen).with_context(|| format!("cannot listen on {}", settings.listen))?;
    let address = listener.local_addr()?;
    runtime.block_on(app::find_model_servers(&mut settings))?;
    let threads = thread_count(settings.threads);
    let services = Arc::new(app::build(settings, threads)?);
    // Before the servers are asked for their versions: what is true of another one is forgotten.
    runtime.block_on(server_findings::load(&services.upstreams, &services.store, services.settings.keep.finding_days));
    let model_servers = ModelServers::start(&services)?;
    let client = services.client().for_probes();
    let found = services.upstreams.states_within(FIRST_ANSWERS, &client);
    let ((), servers) = runtime.block_on(async { tokio::join!(load_characters(&services), found) });
    greeting::print(&Start { services: &services, servers: &servers, listening: address });
    run(&services, listener, read_settings, Startup { runtime, hangup })?;
    model_servers.end();
    single_runtime()?.block_on(periodic_tasks::flush_last_records(&services));
    tracing::info!("stopped");
    Ok(())
}

/// The model servers that Callboard starts, kept running on a thread of their own until the last request is answered.
struct ModelServers {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl ModelServers {
    fn start(services: &Arc<Services>) -> std::io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let (services, runtime) = (Arc::clone(services), single_runtime()?);
        let thread = std::thread::Builder::new().name("model-servers".to_owned()).spawn(move || {
            let client = services.client().for_probes();
            runtime.block_on(services.upstreams.supervise(&client, &stopped));
        })?;
        Ok(Self { stop, thread })
    }

    fn end(self) {
        self.stop.send_replace(true);
        if self.thread.join().is_err() {
            tracing::error!("the thread of the model servers panicked");
        }
    }
}

/// Without Python there are no characters, and the gateway serves all the same.
async fn load_characters(services: &Services) {
    if let Err(error) = services.characters.load(true).await {
        tracing::error!(%error, "characters cannot be loaded");
    }
}

/// What lives from the start of the program to its end.
struct Startup {
    runtime: tokio::runtime::Runtime,
    hangup: Signal,
}

/// Serves until a signal asks to stop and all replies in flight are complete, or the drain time is over.
fn run(
    services: &Arc<Services>,
    listener: StdListener,
    read_settings: &ReadSettings<'_>,
    Startup { runtime, hangup }: Startup,
) -> anyhow::Result<()> {
    listener.set_nonblocking(true)?;
    // Before the first request: a signal without a handler ends the program at once and cuts replies off.
    let mut signals = runtime.block_on(async { Signals::listen(hangup) })?;
    let (stop, stopped) = watch::channel(false);
    let mut serving = Vec::new();
    for number in 0..thread_count(services.settings.threads) {
        let (services, listener, stopped) = (Arc::clone(services), listener.try_clone()?, stopped.clone());
        let thread = std::thread::Builder::new().name(format!("serve-{number}"));
        serving.push(thread.spawn(move || serve_thread(&services, listener, stopped))?);
    }
    // Only the threads hold the socket now, so it is closed when they stop accepting.
    drop(listener);
    runtime.block_on(async {
        tokio::select! {
            () = signals.received(services, read_settings) => {}
            () = periodic_tasks::run(services) => {}
        }
    });
    tracing::info!("draining: finishing replies in flight, refusing new connections; a second signal exits at once");
    stop.send_replace(true);
    exit_at_second_signal(runtime, signals)?;
    for thread in serving {
        thread.join().map_err(|_| anyhow::anyhow!("a server thread panicked"))??;
    }
    Ok(())
}

/// Supervisors send one signal twice, to the process and to its group, so what follows the first at once belongs to it. The thread
/// ends with the program.
fn exit_at_second_signal(runtime: tokio::runtime::Runtime, mut signals: Signals) -> std::io::Result<()> {
    let first = Instant::now();
    let second = async move {
        loop {
            let code = signals.next().await;
            if first.elapsed() >= SAME_SIGNAL {
                return code;
            }
        }
    };
    let listening = std::thread::Builder::new().name("second-signal".to_owned());
    listening.spawn(move || std::process::exit(runtime.block_on(second))).map(drop)
}

/// How many threads serve.
fn thread_count(setting: usize) -> usize {
    if setting > 0 { setting } else { std::thread::available_parallelism().map_or(1, std::num::NonZero::get) }
}

fn single_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

/// The signals that end the program, or make it reload.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    /// Without a handler it ends the program where a file may not grow; with one, the write fails.
    _file_size: Signal,
    /// The program was started from a terminal, whose end is the program's.
    has_terminal: bool,
}

impl Signals {
    fn listen(hangup: Signal) -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup,
            _file_size: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
            has_terminal: std::io::stdin().is_terminal(),
        })
    }

    async fn received(&mut self, services: &Services, read_settings: &ReadSettings<'_>) {
        let mut upkeep = tokio::time::interval(METRICS_UPKEEP);
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => match self.has_terminal {
                    true => return,
                    false => reload(services, read_settings).await,
                },
                _ = upkeep.tick() => services.metrics.run_upkeep(),
            }
        }
    }

    /// Waits for a signal; returns the exit code of a program that it ends.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.interrupt.recv() => 130,
        }
    }
}

/// Takes the API keys from the settings and loads all characters again. Settings that cannot be read change nothing.
async fn reload(services: &Services, read_settings: &ReadSettings<'_>) {
    tracing::info!("reloading API keys and characters");
    match read_settings() {
        Ok(settings) => services.set_api_keys(settings.api_keys),
        Err(error) => tracing::error!("the settings cannot be read again, so the API keys stay: {error:#}"),
    }
    load_characters(services).await;
}

fn serve_thread(services: &Arc<Services>, listener: StdListener, stopped: watch::Receiver<bool>) -> anyhow::Result<()> {
    single_runtime()?.block_on(async {
        let (close_store, store_closed) = oneshot::channel::<()>();
        let (store, pool) = services.store.for_thread(store_closed.map(drop));
        let mut storing = JoinSet::new();
        storing.spawn(pool);
        let ((sockets, closed), (end, ending)) = (mpsc::channel(1), watch::channel(false));
        let thread = ThreadServices { client: services.client(), store, stopping: stopped.clone(), ending, sockets };
        let router = http::router(Arc::clone(services), thread);
        let listener = TcpListener::from_std(listener).context("cannot listen")?;
        let most = open_files::most_connections(thread_count(services.settings.threads));
        let (timers, mut ticking) = (TimerFloor::default(), JoinSet::new());
        ticking.spawn(timers.clone().run());
        let router = ConnectionRouter { router, timers };
        let tasks = serve_connections(listener, router, stopped, &services.settings.timeouts, most).await;
        drain(tasks, closed, &end, services.settings.timeouts.drain).await;
        drop(close_store);
        while let Some(ended) = storing.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the last changes could not be stored");
            }
        }
        Ok(())
    })
}

/// Waits until all requests are served. Those that are not when the time is over are cut off with an error.
async fn drain(mut tasks: JoinSet<()>, mut closed: mpsc::Receiver<()>, end: &watch::Sender<bool>, time: Duration) {
    let mut served = std::pin::pin!(async {
        while tasks.join_next().await.is_some() {}
        // Nothing is ever sent: the channel ends with the last WebSocket.
        let _ = closed.recv().await;
    });
    if tokio::time::timeout(time, served.as_mut()).await.is_ok() {
        return;
    }
    tracing::warn!(seconds = time.as_secs_f64(), "the drain time is over: cutting replies off");
    end.send_replace(true);
    let _ = tokio::time::timeout(LAST_EVENTS, served).await;
}

/// Accepts connections until the program is to end; returns the tasks of those that are still open.
async fn serve_connections(
    listener: TcpListener,
    router: ConnectionRouter,
    mut stopped: watch::Receiver<bool>,
    timeouts: &Timeouts,
    most_connections: usize,
) -> JoinSet<()> {
    let (stopping, mut tasks) = (stopped.clone(), JoinSet::new());
    let mut open = OpenConnections::new(most_connections);
    loop {
        tokio::select! {
            biased;
            () = shutdown_requested(&mut stopped) => break,
            Some(_) = tasks.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    socket_options::set(&stream, timeouts.client);
                    let client = ClientConnection::new(stream);
                    open.add(&client);
                    tasks.spawn(serve_connection(client, router.clone(), timeouts.head, stopping.clone()));
                }
                Err(error) => make_room(&error, &mut open).await,
            },
        }
    }
    tasks
}

/// What happens to a connection from outside.
enum Interruption {
    /// The client is gone.
    Reset,
    /// The reply in flight is the last.
    Close,
}

/// Serves one connection; at shutdown the reply in flight is its last.
async fn serve_connection(
    client: Arc<ClientConnection>,
    router: ConnectionRouter,
    head_time: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connection = std::pin::pin!(connection(&client, router, head_time));
    // Polled when they are woken, and not with every piece of a reply.
    let mut interruptions: FuturesUnordered<Pin<Box<dyn Future<Output = Interruption> + Send>>> =
        FuturesUnordered::new();
    let (resets, closes) = (Arc::clone(&client), Arc::clone(&client));
    interruptions.push(Box::pin(async move { resets.reset().map(|()| Interruption::Reset).await }));
    interruptions.push(Box::pin(async move { closes.close_requested().map(|()| Interruption::Close).await }));
    interruptions.push(Box::pin(async move { shutdown_requested(&mut stopped).map(|()| Interruption::Close).await }));
    let ended = loop {
        tokio::select! {
            biased;
            ended = connection.as_mut() => break ended,
            Some(interruption) = interruptions.next() => match interruption {
                // Whatever is made for the client is dropped with the connection.
                Interruption::Reset => return,
                Interruption::Close => connection.as_mut().graceful_shutdown(),
            },
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended with an error");
    }
}

type HttpConnection = http1::UpgradeableConnection<TokioIo<ClientStream>, ConnectionService>;

fn connection(client: &Arc<ClientConnection>, router: ConnectionRouter, head_time: Duration) -> HttpConnection {
    let ConnectionRouter { router, timers } = router;
    let service = ConnectionService { router: TowerToHyperService::new(router), client: Arc::clone(client), timers };
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_time)
        .half_close(true)
        .serve_connection(TokioIo::new(ClientStream(Arc::clone(client))), service)
        .with_upgrades()
}

/// What all connections of a thread share.
#[derive(Clone)]
struct ConnectionRouter {
    router: Router,
    timers: TimerFloor,
}

/// The router, with the connection that a request came on.
struct ConnectionService {
    router: TowerToHyperService<Router>,
    client: Arc<ClientConnection>,
    timers: TimerFloor,
}

impl Service<Request<Incoming>> for ConnectionService {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.timers.request();
        request.extensions_mut().insert(Arc::clone(&self.client));
        self.router.call(request)
    }
}

/// Most likely out of file handles: the connection that has been idle for longest is closed, and the pause lets it end.
async fn make_room(error: &std::io::Error, open: &mut OpenConnections) {
    static LOGGED: LogThrottle = LogThrottle::new();
    if LOGGED.is_due("") {
        tracing::error!(%error, "connections cannot be accepted; more file handles may help (ulimit -Hn)");
    }
    open.close_idlest();
    tokio::time::sleep(Duration::from_millis(20)).await;
}
