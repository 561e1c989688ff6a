//! The supervisor's thread. This file starts the thread and its tasks, and ends them.
//!
//! Tasks belong to a local set. Ending it drops them, and each kills the process that it owns.

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

use super::rest::rest_root;
use super::shared_by_pools::ProcessTree;
use super::worker_pool::{self, LoadRequest};
use crate::error::StartError;
use crate::interpreter_check::check_interpreter;
use crate::sandbox::KernelSupport;
use crate::settings::HostSettings;

pub(crate) enum Request {
    Load(LoadRequest),
    /// Kill every process, then drop the sender.
    Shutdown(oneshot::Sender<()>),
}

/// Starts the thread and waits until the interpreter runs. The thread ends with the last sender.
pub(crate) fn start(settings: HostSettings) -> Result<(mpsc::UnboundedSender<Request>, KernelSupport), StartError> {
    close_memory()?;
    let (requests, received) = mpsc::unbounded_channel();
    let (ready, is_ready) = sync_channel(1);
    Builder::new().name("callboard-python".to_owned()).spawn(move || run(settings, received, &ready))?;
    let kernel = is_ready.recv().map_err(|_| io::Error::other("the supervisor thread panicked"))??;
    Ok((requests, kernel))
}

/// Closes the memory and the environment of this program to other processes of its user, such as characters. Nor does it
/// leave core files any more.
fn close_memory() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Starts a task on this thread.
pub(super) fn start_task(task: impl Future<Output = ()> + 'static) {
    drop(spawn_local(task));
}

fn run(
    settings: HostSettings,
    requests: mpsc::UnboundedReceiver<Request>,
    ready: &SyncSender<Result<KernelSupport, StartError>>,
) {
    // `start` waits for every message sent here, so sending cannot fail.
    let report = |result| drop(ready.send(result));
    let runtime = match runtime_for(&settings) {
        Ok(runtime) => runtime,
        Err(error) => return report(Err(error)),
    };
    let tree = Rc::new(ProcessTree::new(settings));
    let tasks = LocalSet::new();
    let shutdown = tasks.block_on(&runtime, async {
        let started = tree.start().await;
        let has_failed = started.is_err();
        report(started);
        if has_failed { None } else { serve(&tree, requests).await }
    });
    // Dropping the tasks kills their processes; the root process, our own child, is also reaped.
    drop(tasks);
    drop(shutdown);
}

fn runtime_for(settings: &HostSettings) -> Result<tokio::runtime::Runtime, StartError> {
    check_interpreter(&settings.interpreter, &settings.environment)?;
    Ok(tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?)
}

async fn serve(tree: &Rc<ProcessTree>, mut requests: mpsc::UnboundedReceiver<Request>) -> Option<oneshot::Sender<()>> {
    if let Some(after) = tree.settings.rest_after {
        start_task(rest_root(Rc::clone(tree), after));
    }
    while let Some(request) = requests.recv().await {
        match request {
            Request::Load(load) => start_task(worker_pool::run(Rc::clone(tree), load)),
            Request::Shutdown(done) => return Some(done),
        }
    }
    None
}
