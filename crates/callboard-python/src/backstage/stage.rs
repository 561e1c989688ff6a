//! What all members share: settings, the root, and how many workers and imports there may be at once.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use tokio::sync::{Mutex, Notify, Semaphore, SemaphorePermit, oneshot};

use super::obituaries::Obituaries;
use super::protocol::Fork;
use super::relay::{Relay, relay};
use super::root::Root;
use super::slip::Slip;
use super::start_error::StartError;
use super::thread::start_task;
use super::transport::{Receiver, Sender, channel, frame};
use crate::fault::StageFailure;
use crate::settings::CompanySettings;

/// Room in a frame for what is neither a result nor a state: a manifest, a source, a traceback.
const FRAME_REST: usize = 16 << 20;

/// How many bytes of JSON a byte of text can become.
const ESCAPED: usize = 6;

pub(crate) struct Stage {
    pub(crate) settings: CompanySettings,
    pub(crate) obituaries: Rc<Obituaries>,
    pub(crate) imports: Semaphore,
    places: Semaphore,
    starving: Cell<usize>,
    place_wanted: Notify,
    forks: Cell<u64>,
    root: Mutex<Option<RootLink>>,
}

/// The way to a running root. It leaves when this is dropped.
struct RootLink {
    sender: Sender,
    leave: oneshot::Sender<()>,
}

/// Our side of a process that is about to be forked.
pub(crate) struct Lines {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) relay: Relay,
}

impl Stage {
    pub(crate) fn new(settings: CompanySettings) -> Self {
        Self {
            obituaries: Rc::default(),
            imports: Semaphore::new(settings.limits.imports.max(1)),
            places: Semaphore::new(settings.limits.workers.max(1)),
            starving: Cell::new(0),
            place_wanted: Notify::new(),
            forks: Cell::new(0),
            root: Mutex::new(None),
            settings,
        }
    }

    /// The way to the root, which is started if there is none.
    pub(crate) async fn root(&self) -> Result<Sender, StartError> {
        let mut link = self.root.lock().await;
        if let Some(running) = link.as_ref().filter(|link| !link.leave.is_closed()) {
            return Ok(running.sender.clone());
        }
        let root = Root::start(&self.settings, Rc::clone(&self.obituaries)).await?;
        let (leave, told_to_leave) = oneshot::channel();
        let sender = root.sender();
        *link = Some(RootLink { sender: sender.clone(), leave });
        start_task(root.serve(told_to_leave));
        Ok(sender)
    }

    /// Ends the root.
    pub(crate) async fn close(&self) {
        self.root.lock().await.take();
    }

    /// Asks a forker for a new process, which prints under a character's name.
    pub(crate) async fn fork(&self, forker: &Sender, id: &str, slip: Option<&Slip>) -> Result<Lines, StageFailure> {
        self.try_fork(forker, id, slip).await.map_err(|error| StageFailure::NotStarted(error.to_string()))
    }

    async fn try_fork(&self, forker: &Sender, id: &str, slip: Option<&Slip>) -> std::io::Result<Lines> {
        let limits = &self.settings.limits;
        let largest = FRAME_REST + (limits.result + limits.state) * ESCAPED;
        let (sender, receiver, theirs) = channel(largest)?;
        let (relay, [stdout, stderr]) = relay(id, &self.settings.output, limits.output)?;
        let mut descriptors: Vec<BorrowedFd<'_>> = vec![theirs.as_fd(), stdout.as_fd(), stderr.as_fd()];
        descriptors.extend(slip.map(Slip::descriptor));
        let number = self.forks.replace(self.forks.get() + 1);
        let order = frame(|bytes| serde_json::to_writer(bytes, &Fork { number }))?;
        forker.send_with(&order, &descriptors).await?;
        Ok(Lines { sender, receiver, relay })
    }

    /// A place for one more worker. Where all are taken, an idle worker of another member is asked to leave.
    pub(crate) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Some(place);
        }
        let _starving = Starving::new(&self.starving);
        self.place_wanted.notify_one();
        self.places.acquire().await.ok()
    }

    /// Whether somebody waits for a place.
    pub(crate) fn wants_place(&self) -> bool {
        self.starving.get() > 0
    }

    /// Resolves when somebody begins to wait for a place.
    pub(crate) async fn place_wanted(&self) {
        self.place_wanted.notified().await;
    }

    /// Passes the wish for a place on to another member.
    pub(crate) fn pass_on_wish(&self) {
        if self.wants_place() {
            self.place_wanted.notify_one();
        }
    }
}

/// Somebody who waits for a place.
struct Starving<'a>(&'a Cell<usize>);

impl<'a> Starving<'a> {
    fn new(count: &'a Cell<usize>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Starving<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}
