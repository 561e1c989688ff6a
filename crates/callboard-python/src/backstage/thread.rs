//! The thread on which everything backstage happens. This file starts the thread and its tasks, and ends them.
//!
//! Tasks belong to a local set. Ending it drops them, and with each the process that it keeps.

use std::future::Future;
use std::rc::Rc;
use std::sync::mpsc as handover;
use std::thread::Builder;

use tokio::sync::{mpsc, oneshot};
use tokio::task::{LocalSet, spawn_local};

use super::member::{self, Casting};
use super::stage::Stage;
use super::start_error::StartError;
use crate::fault::StageFailure;
use crate::interpreter::Interpreter;
use crate::settings::CompanySettings;

/// The way to the thread. It ends with the last of these.
#[derive(Debug, Clone)]
pub(crate) struct Backstage {
    orders: mpsc::UnboundedSender<Order>,
}

enum Order {
    Cast(Casting),
    /// End everything, and drop this when it is done.
    Close(oneshot::Sender<()>),
}

impl Backstage {
    /// Starts the thread, and waits until the interpreter is there.
    pub(crate) fn start(settings: CompanySettings) -> Result<Self, StartError> {
        let (orders, received) = mpsc::unbounded_channel();
        let (ready, is_ready) = handover::sync_channel(1);
        Builder::new().name("callboard-python".to_owned()).spawn(move || run(settings, received, &ready))?;
        let ended = || std::io::Error::other("their thread ended");
        is_ready.recv().map_err(|_| ended())??;
        Ok(Self { orders })
    }

    /// Asks for a member.
    pub(crate) fn cast(&self, casting: Casting) -> Result<(), StageFailure> {
        self.orders.send(Order::Cast(casting)).map_err(|_| StageFailure::Closed)
    }

    /// Ends every process, and waits until that is done.
    pub(crate) async fn close(&self) {
        let (done, is_done) = oneshot::channel();
        if self.orders.send(Order::Close(done)).is_ok() {
            // It is dropped when everything has ended.
            let _ = is_done.await;
        }
    }
}

/// Starts a task on this thread.
pub(super) fn start_task(task: impl Future<Output = ()> + 'static) {
    drop(spawn_local(task));
}

fn run(
    settings: CompanySettings,
    mut orders: mpsc::UnboundedReceiver<Order>,
    ready: &handover::SyncSender<Result<(), StartError>>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(ready, Err(error.into())),
    };
    if let Err(error) = Interpreter::probe(&settings.interpreter) {
        return report(ready, Err(error.into()));
    }
    let stage = Rc::new(Stage::new(settings));
    let tasks = LocalSet::new();
    let closing = tasks.block_on(&runtime, async {
        let started = stage.root().await.map(drop);
        let failed = started.is_err();
        report(ready, started);
        if failed { None } else { serve(&stage, &mut orders).await }
    });
    // Processes are killed as the tasks that keep them are dropped; the root, our own child, is waited for.
    runtime.block_on(stage.close());
    drop(tasks);
    drop(closing);
}

async fn serve(stage: &Rc<Stage>, orders: &mut mpsc::UnboundedReceiver<Order>) -> Option<oneshot::Sender<()>> {
    while let Some(order) = orders.recv().await {
        match order {
            Order::Cast(casting) => start_task(member::live(Rc::clone(stage), casting)),
            Order::Close(done) => return Some(done),
        }
    }
    None
}

fn report(ready: &handover::SyncSender<Result<(), StartError>>, result: Result<(), StartError>) {
    // Whoever starts a company waits for this word.
    let _ = ready.send(result);
}
