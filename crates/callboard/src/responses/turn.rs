//! One response in motion: events of its turn become what the client reads, and before its end is told it has been kept.
//!
//! A client that has seen nothing of its response when it leaves, or when the turn fails, asks again, often by itself. So such a
//! turn is dropped as if it had never been asked for; one whose beginning was seen is kept as far as it came.

use std::time::Duration;

use callboard_core::contract::Report;
use callboard_core::model::{Finish, Usage};
use callboard_core::turn::Event;
use callboard_core::wire::ApiError;
use callboard_core::wire::responses::{EventWriter, ResponseEnd, ResponseObject};

use super::keeping::{Keeping, Kept};
use super::local::{LocalResponse, LocalResponses};
use crate::clock;
use crate::session::Progress;
use crate::stage::Run;
use crate::store::StoreError;

/// The store is usually faster.
const MOMENT: Duration = Duration::from_millis(100);

/// What the events become.
pub enum Sheet {
    /// One object.
    Whole(ResponseObject),
    /// A stream of events.
    Streamed(EventWriter),
}

/// How far a response has come.
pub enum Step {
    /// More of the stream; nothing for a reply that is not streamed.
    Piece(String),
    /// Nothing new, but the client should hear that the connection lives.
    KeepAlive,
    /// The end of the stream.
    Over(String, Usage),
    /// It failed. What has begun to be told ends with this piece.
    Failed(ApiError, String),
}

/// A response in motion.
pub struct ResponseTurn {
    /// None for a request that only prepares a later one.
    run: Option<Run>,
    sheet: Option<Sheet>,
    keeping: Option<Keeping>,
    begun: bool,
    /// What was written and has not been told.
    held: String,
    /// The whole response on its way to the store.
    storing: Option<Storing>,
    told: bool,
    seen: bool,
}

/// A response that is whole and not yet known to be kept.
struct Storing {
    kept: Kept,
    usage: Usage,
    /// For those who go on from it on the same connection.
    local: Option<LocalResponse>,
}

impl ResponseTurn {
    /// A response that has not begun.
    pub fn new(run: Option<Run>, sheet: Sheet, keeping: Keeping) -> Self {
        Self {
            run,
            sheet: Some(sheet),
            keeping: Some(keeping),
            begun: false,
            held: String::new(),
            storing: None,
            told: false,
            seen: false,
        }
    }

    /// Goes on until there is something to tell. A response on a connection is kept for those who go on from it there.
    pub async fn next(&mut self, local: Option<&mut LocalResponses>) -> Step {
        loop {
            if self.storing.is_some() {
                return self.stored(local).await;
            }
            let progress = match &mut self.run {
                Some(run) => run.next().await,
                None => Progress::Complete(Finish::Stop, Some(Usage::default())),
            };
            match progress {
                Progress::KeepAlive => return Step::KeepAlive,
                Progress::Failed(error) => return self.failed(error).await,
                Progress::Complete(finish, usage) => {
                    self.complete(finish, usage, local.is_some());
                    continue;
                }
                Progress::Events(events) => self.write(events),
            }
            // What comes with the end is told with it. A reply that comes at once is kept before any of it is told, so that an
            // error can have its own status.
            if !self.run.as_ref().is_some_and(Run::is_ending) {
                return Step::Piece(self.tell());
            }
        }
    }

    fn write(&mut self, events: Vec<Event>) {
        self.write_beginning();
        for event in events {
            match &mut self.sheet {
                Some(Sheet::Whole(object)) => object.event(event),
                Some(Sheet::Streamed(writer)) => writer.event(event, &mut self.held),
                None => {}
            }
        }
    }

    /// Ends the response as it is, for a reason that is not its own.
    pub async fn fail(&mut self, error: ApiError) -> Step {
        if let Some(run) = &mut self.run {
            run.fail(&error);
        }
        self.failed(error).await
    }

    /// The client gets to see something of the response: from now on it is kept as far as it comes.
    pub fn mark_seen(&mut self) {
        self.seen = true;
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> Report {
        self.run.as_ref().map(|run| run.report().clone()).unwrap_or_default()
    }

    /// The response as far as it came.
    pub fn to_text(&self) -> String {
        self.sheet.as_ref().map(|sheet| sheet.object().to_text().get().to_owned()).unwrap_or_default()
    }

    /// The first events, where they have not been told yet. They come with the first thing that is said, or before it where the
    /// client has to hear that the connection lives.
    pub fn begin(&mut self) -> String {
        self.write_beginning();
        self.tell()
    }

    fn write_beginning(&mut self) {
        if !std::mem::replace(&mut self.begun, true)
            && let Some(Sheet::Streamed(writer)) = &mut self.sheet
        {
            writer.begin(&mut self.held);
        }
    }

    /// What was written since the last time.
    fn tell(&mut self) -> String {
        self.told = true;
        std::mem::take(&mut self.held)
    }

    /// The reply is whole, and is kept.
    fn complete(&mut self, finish: Finish, usage: Option<Usage>, is_local: bool) {
        self.write_beginning();
        let usage = match &self.run {
            Some(run) => run.counted_usage(usage),
            None => usage.unwrap_or_default(),
        };
        let end = ResponseEnd { finish, usage: &usage, completed_at: clock::seconds() };
        match &mut self.sheet {
            Some(Sheet::Whole(object)) => object.finish(&end),
            Some(Sheet::Streamed(writer)) => writer.settle(&end, &mut self.held),
            None => {}
        }
        let scene = self.run.as_ref().and_then(Run::scene);
        let (local, kept): (_, Kept) = match (self.keeping.take(), &self.sheet) {
            (Some(keeping), Some(sheet)) => {
                let local = is_local.then(|| keeping.local(sheet.object(), scene));
                (local, keeping.keep(sheet.object(), scene))
            }
            _ => (None, Box::pin(std::future::ready(Ok(())))),
        };
        self.storing = Some(Storing { kept, usage, local });
    }

    /// The end is told when the response is kept. Where that takes its time, what was said before is not held back.
    async fn stored(&mut self, local: Option<&mut LocalResponses>) -> Step {
        let Some(storing) = &mut self.storing else { return Step::KeepAlive };
        let kept = match tokio::time::timeout(MOMENT, &mut storing.kept).await {
            Err(_) if !self.held.is_empty() => return Step::Piece(self.tell()),
            Err(_) => (&mut storing.kept).await,
            Ok(kept) => kept,
        };
        let Some(Storing { usage, local: response, .. }) = self.storing.take() else { return Step::KeepAlive };
        match kept.map_err(ApiError::from) {
            Ok(()) => {
                if let (Some(response), Some(local)) = (response, local) {
                    local.keep(response);
                }
                let report = self.report();
                if let Some(Sheet::Streamed(writer)) = &mut self.sheet {
                    writer.finish(&report, &mut self.held);
                }
                Step::Over(self.tell(), usage)
            }
            Err(error) if !self.told => Step::Failed(error, String::new()),
            Err(error) => {
                let out = self.tell_failure(&error);
                Step::Failed(error, out)
            }
        }
    }

    /// A turn that failed leaves nothing in its conversation, so that it can be sent again; unless the client has seen that
    /// tools changed something. A response whose beginning it has seen can be asked for by its id.
    async fn failed(&mut self, error: ApiError) -> Step {
        let out = self.tell_failure(&error);
        let in_conversation = self.keeping.as_ref().is_some_and(Keeping::is_in_conversation);
        let changed = self.run.as_ref().and_then(Run::scene).is_some_and(|scene| scene.record().changes().is_some());
        if self.seen
            && let Some((keeping, object)) = self.ended(|object| object.fail(&error))
        {
            let scene = self.run.as_ref().and_then(Run::scene);
            noted(match in_conversation && !changed {
                true => keeping.keep_alone(&object).await,
                false => keeping.keep(&object, scene).await,
            });
        }
        self.keeping = None;
        Step::Failed(error, out)
    }

    fn tell_failure(&mut self, error: &ApiError) -> String {
        if let (true, Some(Sheet::Streamed(writer))) = (self.begun, &mut self.sheet) {
            writer.fail(error, &mut self.held);
        }
        self.tell()
    }

    /// The response as far as it came, and how to keep it.
    fn ended(&mut self, mark: impl FnOnce(&mut ResponseObject)) -> Option<(Keeping, ResponseObject)> {
        let (keeping, sheet) = (self.keeping.take()?, self.sheet.take()?);
        let mut object = sheet.into_object();
        if let Some(Run::Stage(scene)) = &mut self.run {
            scene.interrupt();
            scene.take_untold().into_iter().for_each(|event| object.event(event));
        }
        mark(&mut object);
        Some((keeping, object))
    }

    /// Keeps what there is, without waiting.
    fn leave(&mut self) {
        let Some((keeping, object)) = self.ended(ResponseObject::cancel) else { return };
        noted(keeping.keep_unawaited(&object, self.run.as_ref().and_then(Run::scene)));
    }
}

fn noted(kept: Result<(), StoreError>) {
    if let Err(error) = kept {
        tracing::error!(%error, "a response that was cut short cannot be stored");
    }
}

/// The client has left.
impl Drop for ResponseTurn {
    fn drop(&mut self) {
        if self.seen {
            self.leave();
        }
    }
}

impl Sheet {
    fn object(&self) -> &ResponseObject {
        match self {
            Self::Whole(object) => object,
            Self::Streamed(writer) => writer.object(),
        }
    }

    fn into_object(self) -> ResponseObject {
        match self {
            Self::Whole(object) => object,
            Self::Streamed(writer) => writer.into_object(),
        }
    }
}
