//! The store as its callers see it: opened once, cloned freely, closed when the last clone is dropped.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::address::Address;
use super::changes::Changes;
use super::error::StoreError;
use super::lease::{LeaseRenewal, TurnClaims};
use super::other_processes::ProcessLock;
use super::pending_writes::PendingWrites;
use super::per_thread::ThreadShare;
use super::postgres::Server;
use super::queue::Queue;
use super::write_health::WriteHealth;
use super::{postgres, sqlite};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// Identifies this process: random letters.
    pub instance: String,
    /// How long a lease lasts after the process that took it has died.
    pub lease: Duration,
    /// Connections to PostgreSQL.
    pub connections: usize,
    /// Threads that get their own connections.
    pub serving_threads: usize,
    /// Bytes of a history that may be loaded for a turn.
    pub history_bytes: u64,
    /// How long PostgreSQL has for a job, including the wait for a connection.
    pub job_timeout: Duration,
}

impl StoreSettings {
    /// The usual settings.
    pub fn new(instance: impl Into<String>) -> Self {
        Self {
            instance: instance.into(),
            lease: Duration::from_secs(6),
            connections: 16,
            serving_threads: 0,
            history_bytes: 8 << 20,
            job_timeout: Duration::from_secs(30),
        }
    }
}

/// The store. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Store {
    // Dropped before `inner`, whose drop waits until all queues are closed.
    pub(super) reads: Queue,
    pub(super) writes: Queue,
    pub(super) inner: Arc<StoreInner>,
}

/// What all handles share.
#[derive(Debug)]
pub(super) struct StoreInner {
    pub(super) settings: StoreSettings,
    pub(super) claims: Arc<TurnClaims>,
    pub(super) pending_writes: PendingWrites,
    pub(super) changes: Changes,
    pub(super) health: WriteHealth,
    /// The connections of each serving thread; none where all are shared.
    pub(super) share: Option<ThreadShare>,
    other_processes: OtherProcesses,
    last_number: AtomicU64,
    renewal: LeaseRenewal,
    threads: Threads,
}

/// Which other processes may use the same database.
#[derive(Debug)]
enum OtherProcesses {
    None,
    /// Processes on this machine.
    Local(ProcessLock),
    Any,
}

impl Store {
    /// Opens the store and migrates it to its newest version. Blocks until that is done.
    pub fn open(address: &Address, settings: StoreSettings) -> Result<Self, StoreError> {
        let (mut threads, health) = (Threads::default(), WriteHealth::default());
        let ((reads, writes), share, other_processes) = match address {
            Address::Postgres(url) => {
                let (queue, share) = open_postgres(url, &settings, &health, &mut threads)?;
                ((queue.clone(), queue), share, OtherProcesses::Any)
            }
            // A database in memory belongs to one connection, so reads and writes share it.
            Address::Memory => {
                let options = sqlite::OpenOptions { path: None, synchronous_full: false };
                let queue = open_sqlite("store-sqlite", &options, &health, &mut threads)?;
                ((queue.clone(), queue), None, OtherProcesses::None)
            }
            Address::File { path, synchronous_full } => {
                let options = sqlite::OpenOptions { path: Some(path), synchronous_full: *synchronous_full };
                let writes = open_sqlite("store-write", &options, &health, &mut threads)?;
                let reads = open_sqlite("store-read", &options, &health, &mut threads)?;
                ((reads, writes), None, OtherProcesses::Local(process_lock(path)?))
            }
        };
        let claims = Arc::new(TurnClaims::default());
        let renewal = LeaseRenewal::start(&settings, Arc::clone(&claims), writes.clone(), &mut threads)?;
        let inner = StoreInner {
            settings,
            claims,
            pending_writes: PendingWrites::default(),
            changes: Changes::default(),
            health,
            share,
            other_processes,
            last_number: AtomicU64::new(0),
            renewal,
            threads,
        };
        Ok(Self { reads, writes, inner: Arc::new(inner) })
    }

    /// Checks that a history of this size may be loaded.
    pub fn check_history(&self, history: &str, bytes: u64) -> Result<(), StoreError> {
        let limit = self.inner.settings.history_bytes;
        if bytes <= limit { Ok(()) } else { Err(StoreError::TooLarge { history: history.to_owned(), bytes, limit }) }
    }

    /// The most bytes of a history that may be loaded, as a SQL value.
    pub(super) fn history_bytes(&self) -> i64 {
        i64::try_from(self.inner.settings.history_bytes).unwrap_or(i64::MAX)
    }

    /// Whether no other process uses the database.
    pub(super) fn is_alone(&self) -> bool {
        match &self.inner.other_processes {
            OtherProcesses::None => true,
            OtherProcesses::Local(lock) => lock.is_alone(),
            OtherProcesses::Any => false,
        }
    }

    /// For reads of what turns write: waits for pending writes first.
    pub(super) async fn settled_reads(&self) -> &Queue {
        self.inner.pending_writes.settled().await;
        &self.reads
    }
}

impl StoreInner {
    /// A name that is unique in the database, since it contains the name of the process.
    pub(super) fn new_name(&self) -> String {
        format!("{}-{}", self.settings.instance, self.next_number())
    }

    /// The name of this process's write check.
    pub(super) fn check_name(&self) -> String {
        format!("{}-check", self.settings.instance)
    }

    /// A number that is used once in this process.
    pub(super) fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed)
    }
}

/// Everything submitted is written before the threads end, unless the database does not answer.
impl Drop for StoreInner {
    fn drop(&mut self) {
        self.renewal.stop();
        self.threads.join();
    }
}

/// The store's own threads. Each ends when its queue is closed.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<JoinHandle<()>>);

impl Threads {
    pub(super) fn start(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
        self.0.push(thread.map_err(|error| StoreError::Unavailable(format!("no thread can be started: {error}")))?);
        Ok(())
    }

    fn join(&mut self) {
        for thread in self.0.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
    }
}

/// By the file's canonical name, which is the same in all processes.
fn process_lock(path: &Path) -> Result<ProcessLock, StoreError> {
    let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    ProcessLock::acquire(&canonical)
}

fn open_postgres(
    url: &str,
    settings: &StoreSettings,
    health: &WriteHealth,
    threads: &mut Threads,
) -> Result<(Queue, Option<ThreadShare>), StoreError> {
    let server = Arc::new(Server::read(url)?);
    // On a thread of its own, since the caller may be inside a runtime, which cannot start another one.
    let checked = std::thread::scope(|scope| scope.spawn(|| postgres::check(&server, settings.job_timeout)).join());
    checked.unwrap_or_else(|_| Err(StoreError::Unavailable("the first connection panicked".to_owned())))?;
    let (share, connections) = ThreadShare::new(&server, settings);
    let settings = StoreSettings { connections, ..settings.clone() };
    let ((queue, jobs), health) = (Queue::new(), health.clone());
    threads.start("store-postgres", move || postgres::serve(&server, &settings, &health, jobs))?;
    Ok((queue, share))
}

fn open_sqlite(
    thread: &str,
    options: &sqlite::OpenOptions<'_>,
    health: &WriteHealth,
    threads: &mut Threads,
) -> Result<Queue, StoreError> {
    let (database, (queue, jobs), health) = (sqlite::open(options)?, Queue::new(), health.clone());
    threads.start(thread, move || sqlite::serve(database, &health, jobs))?;
    Ok(queue)
}
