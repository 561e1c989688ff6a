//! What all members share: settings, the root, and how many workers and imports there may be at once.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::{Rc, Weak};

use tokio::sync::{Mutex, Semaphore, SemaphorePermit, oneshot};

use super::obituaries::Obituaries;
use super::protocol::Fork;
use super::queue::Queue;
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
    queues: RefCell<Vec<Weak<Queue>>>,
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
            queues: RefCell::default(),
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

    /// A queue for a new member.
    pub(crate) fn queue(&self) -> Rc<Queue> {
        let queue = Rc::default();
        let mut queues = self.queues.borrow_mut();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Rc::downgrade(&queue));
        queue
    }

    /// A place for one more worker. Where all are taken, the worker that has been idle for longest is sent away.
    pub(crate) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Some(place);
        }
        let _starving = Starving::new(&self.starving);
        self.dismiss_one();
        self.places.acquire().await.ok()
    }

    /// Whether somebody waits for a place, so that a worker with nothing to do had better leave.
    pub(crate) fn wants_place(&self) -> bool {
        self.starving.get() > 0
    }

    fn dismiss_one(&self) {
        let queues: Vec<Rc<Queue>> = self.queues.borrow().iter().filter_map(Weak::upgrade).collect();
        let idle = queues.iter().filter_map(|queue| Some((queue.idle_since()?, queue)));
        if let Some((_, queue)) = idle.min_by_key(|(since, _)| *since) {
            queue.dismiss_one();
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
