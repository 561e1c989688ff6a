//! The store as its callers see it: opened once, cloned freely, closed when the last clone is dropped.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::address::Address;
use super::error::StoreError;
use super::health::Health;
use super::lease::{Claims, Keeper};
use super::nearby::Share;
use super::postgres::Access;
use super::presence::Presence;
use super::queue::{Queue, stopped};
use super::threads::Threads;
use super::unawaited::Unawaited;
use super::{postgres, sqlite};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// Tells this process from all others: random letters.
    pub instance: String,
    /// How long a turn stays claimed after the process that plays it has died.
    pub lease: Duration,
    /// Connections to PostgreSQL.
    pub connections: usize,
    /// Threads that will ask for connections of their own.
    pub serving_threads: usize,
    /// Bytes of a history that may be loaded for a turn.
    pub history_bytes: u64,
    /// How long PostgreSQL has for a piece of work, from when it was left: also while it waits for a connection.
    pub patience: Duration,
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
            patience: Duration::from_secs(30),
        }
    }
}

/// The store. Clones are handles to the same one.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

/// What all handles share.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) settings: StoreSettings,
    pub(super) claims: Arc<Claims>,
    pub(super) unawaited: Unawaited,
    pub(super) health: Health,
    /// What each thread that serves has of the connections.
    pub(super) share: Option<Share>,
    neighbours: Neighbours,
    numbered: AtomicU64,
    queues: Option<Queues>,
    keeper: Keeper,
    threads: Threads,
}

/// Who else may use the same database.
#[derive(Debug)]
enum Neighbours {
    /// Nobody.
    None,
    /// Other processes on this machine.
    Processes(Presence),
    /// Anybody.
    Unknown,
}

#[derive(Debug, Clone)]
struct Queues {
    reads: Queue,
    writes: Queue,
}

impl Store {
    /// Opens the store and brings it to its newest version. Blocks until that is done.
    pub fn open(address: &Address, settings: StoreSettings) -> Result<Self, StoreError> {
        let (mut threads, health) = (Threads::default(), Health::default());
        let (queues, share, neighbours) = match address {
            Address::Postgres(url) => {
                let (queues, share) = open_postgres(url, &settings, &health, &mut threads)?;
                (queues, share, Neighbours::Unknown)
            }
            Address::Memory => (open_memory(&health, &mut threads)?, None, Neighbours::None),
            Address::File { path, synchronous_full } => {
                let opening = sqlite::Opening { path: Some(path), synchronous_full: *synchronous_full };
                (open_file(&opening, &health, &mut threads)?, None, Neighbours::Processes(presence(path)?))
            }
        };
        let claims = Arc::new(Claims::default());
        let keeper = Keeper::start(&settings, Arc::clone(&claims), queues.writes.clone(), &mut threads)?;
        Ok(Self {
            inner: Arc::new(Inner {
                settings,
                claims,
                unawaited: Unawaited::default(),
                health,
                share,
                neighbours,
                numbered: AtomicU64::new(0),
                queues: Some(queues),
                keeper,
                threads,
            }),
        })
    }

    /// Whether a history of so many bytes may be loaded.
    pub fn check_history(&self, history: &str, bytes: u64) -> Result<(), StoreError> {
        let limit = self.inner.settings.history_bytes;
        if bytes <= limit { Ok(()) } else { Err(StoreError::TooLarge { history: history.to_owned(), bytes, limit }) }
    }

    /// The most bytes of a history that may be loaded, as the database counts.
    pub(super) fn history_bytes(&self) -> i64 {
        i64::try_from(self.inner.settings.history_bytes).unwrap_or(i64::MAX)
    }

    /// Whether no other process can play a turn.
    pub(super) fn is_alone(&self) -> bool {
        match &self.inner.neighbours {
            Neighbours::None => true,
            Neighbours::Processes(presence) => presence.is_alone(),
            Neighbours::Unknown => false,
        }
    }

    pub(super) fn reads(&self) -> Result<&Queue, StoreError> {
        self.inner.queues.as_ref().map(|queues| &queues.reads).ok_or_else(stopped)
    }

    /// Where to read what turns write: also those that were left, and that nobody waits for.
    pub(super) async fn settled_reads(&self) -> Result<&Queue, StoreError> {
        self.inner.unawaited.settled().await;
        self.reads()
    }

    pub(super) fn writes(&self) -> Result<&Queue, StoreError> {
        self.inner.queues.as_ref().map(|queues| &queues.writes).ok_or_else(stopped)
    }
}

impl Inner {
    /// A name that no other thing in the database has, since the process has a name of its own.
    pub(super) fn new_name(&self) -> String {
        format!("{}-{}", self.settings.instance, self.next_number())
    }

    /// A number that is used once in this process.
    pub(super) fn next_number(&self) -> u64 {
        self.numbered.fetch_add(1, Ordering::Relaxed)
    }
}

/// All that waits is written before the threads end, unless the database does not answer.
impl Drop for Inner {
    fn drop(&mut self) {
        self.keeper.stop();
        self.queues = None;
        self.threads.join();
    }
}

/// By the file's own name, however it was called: others may call it differently.
fn presence(path: &Path) -> Result<Presence, StoreError> {
    let own = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    Presence::take(&own)
}

fn open_postgres(
    url: &str,
    settings: &StoreSettings,
    health: &Health,
    threads: &mut Threads,
) -> Result<(Queues, Option<Share>), StoreError> {
    let access = Arc::new(Access::read(url)?);
    // On a thread of its own, since the caller may be inside a runtime, which cannot start another one.
    let checked = std::thread::scope(|scope| scope.spawn(|| postgres::check(&access, settings.patience)).join());
    checked.unwrap_or_else(|_| Err(StoreError::Unavailable("the first connection panicked".to_owned())))?;
    let (share, connections) = Share::new(&access, settings);
    let settings = StoreSettings { connections, ..settings.clone() };
    let ((queue, jobs), health) = (Queue::new(), health.clone());
    threads.start("store-postgres", move || postgres::serve(&access, &settings, &health, jobs))?;
    Ok((Queues { reads: queue.clone(), writes: queue }, share))
}

/// A database in memory belongs to one connection, so reads and writes share it.
fn open_memory(health: &Health, threads: &mut Threads) -> Result<Queues, StoreError> {
    let connection = sqlite::open(&sqlite::Opening { path: None, synchronous_full: false })?;
    let ((queue, jobs), health) = (Queue::new(), health.clone());
    threads.start("store-sqlite", move || sqlite::serve(connection, &health, jobs))?;
    Ok(Queues { reads: queue.clone(), writes: queue })
}

fn open_file(opening: &sqlite::Opening<'_>, health: &Health, threads: &mut Threads) -> Result<Queues, StoreError> {
    let (writer, reader) = (sqlite::open(opening)?, sqlite::open(opening)?);
    let ((writes, changes), (reads, questions)) = (Queue::new(), Queue::new());
    let (writing, reading) = (health.clone(), health.clone());
    threads.start("store-write", move || sqlite::serve(writer, &writing, changes))?;
    threads.start("store-read", move || sqlite::serve(reader, &reading, questions))?;
    Ok(Queues { reads, writes })
}
