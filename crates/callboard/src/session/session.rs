//! The owner of one turn: writes its events in the client's format, saves it, and ends it.
//!
//! A turn ends in one of four ways. Complete: it is saved, and only then its end is sent. Failed, or cut off by the shutdown: what the
//! client has seen the beginning of is saved as far as it came. Client gone: the same, without waiting. A turn of which the client has
//! seen nothing is dropped, because clients send such a request again.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use callboard_core::contract::Report;
use callboard_core::model::{Finish, Usage};
use callboard_core::turn::Event;
use callboard_core::wire::chat::message_text;
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};
use tokio::sync::watch;

use super::busy_time::{BusyTime, TooBusy};
use super::driver::{Progress, TurnDriver};
use crate::clock;
use crate::conversation::{ConnectionResponse, FinishedTurn, SaveFuture, Saving};
use crate::shutdown_requested::shutdown_requested;
use crate::store::{CharacterMemory, StoreError};
use crate::telemetry::metrics;

/// Output that comes with the end of a reply waits so long for the store.
const SAVE_GRACE: Duration = Duration::from_millis(100);

/// The next thing to send.
pub enum Step {
    /// More of a stream.
    Piece(String),
    /// Nothing new, but the client should see that the connection is alive.
    KeepAlive,
    /// The end of the stream, or of a whole reply, whose body is [`Session::take_body`].
    Done(String, Usage),
    /// The error, and what ends a stream that has begun; nothing was sent where that is empty.
    Failed(ApiError, String),
}

/// One turn.
pub struct Session<W: ReplyWriter> {
    /// None for a request that only prepares a later one.
    driver: Option<Box<TurnDriver>>,
    writer: W,
    saving: Option<Saving>,
    /// The conversation of a character in Chat Completions.
    chat_conversation: Option<String>,
    storing: Option<Storing>,
    /// The character's part at the end.
    memory: Option<Arc<CharacterMemory>>,
    connection_response: Option<ConnectionResponse>,
    /// Written and not yet handed to the transport.
    out: String,
    started: bool,
    /// Whether the transport was handed anything.
    sent: bool,
    /// Whether the client was sent anything.
    seen: bool,
    stopping: Option<watch::Receiver<bool>>,
    /// Waits for `stopping`. Kept between steps, so that it registers once.
    shutdown: Option<Shutdown>,
    busy: BusyTime,
}

type Shutdown = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// A complete reply on its way to the store.
struct Storing {
    saved: SaveFuture,
    usage: Usage,
}

impl<W: ReplyWriter> Session<W> {
    /// A session that has not started. Without a driver the reply is complete at once.
    pub fn new(driver: Option<TurnDriver>, writer: W, saving: Saving) -> Self {
        let busy = BusyTime::new(driver.as_ref().map_or(Duration::MAX, TurnDriver::busy_time));
        Self {
            driver: driver.map(Box::new),
            writer,
            chat_conversation: saving.chat_conversation().map(str::to_owned),
            saving: Some(saving),
            storing: None,
            memory: None,
            connection_response: None,
            out: String::new(),
            started: false,
            sent: false,
            seen: false,
            stopping: None,
            shutdown: None,
            busy,
        }
    }

    /// Ends the turn when this becomes true.
    #[must_use]
    pub fn until(mut self, stopping: watch::Receiver<bool>) -> Self {
        self.stopping = Some(stopping);
        self
    }

    /// Advances until there is something to send.
    pub async fn next(&mut self) -> Step {
        let mut busy = self.busy;
        let advanced = busy.run(pin!(self.advance_until_shutdown())).await;
        self.busy = busy;
        let error = match advanced {
            Ok(Some(step)) => return step,
            Ok(None) if self.seen => ApiError::stopping_midway(),
            Ok(None) => ApiError::stopping(),
            Err(TooBusy(most)) => ApiError::too_much_work(most.as_secs_f64()),
        };
        if let Some(driver) = &mut self.driver {
            driver.record_failure(&error);
        }
        self.fail(error).await
    }

    /// None once the program is to end.
    async fn advance_until_shutdown(&mut self) -> Option<Step> {
        let Some(stopping) = &self.stopping else { return Some(self.advance().await) };
        // Gone where an earlier step was dropped before its end.
        let mut shutdown = self.shutdown.take().unwrap_or_else(|| {
            let mut stopping = stopping.clone();
            Box::pin(async move { shutdown_requested(&mut stopping).await })
        });
        let step = tokio::select! {
            biased;
            step = self.advance() => step,
            () = shutdown.as_mut() => return None,
        };
        self.shutdown = Some(shutdown);
        Some(step)
    }

    async fn advance(&mut self) -> Step {
        loop {
            if self.storing.is_some() {
                return self.wait_for_store().await;
            }
            let progress = match &mut self.driver {
                Some(driver) => driver.next().await,
                None => Progress::Complete(Finish::Stop, Some(Usage::default())),
            };
            match progress {
                Progress::KeepAlive => return Step::KeepAlive,
                Progress::Failed(error) => return self.fail(error).await,
                Progress::Complete(finish, usage) => self.complete(finish, usage),
                Progress::Events(events) => self.write(events),
            }
            // Output that comes with the end is sent with it, so a failure to store a short reply has its own status.
            if self.storing.is_none() && !self.out.is_empty() && !self.is_ending() {
                return Step::Piece(self.take_out());
            }
        }
    }

    fn is_ending(&self) -> bool {
        self.driver.as_ref().is_some_and(|driver| driver.is_ending())
    }

    fn write(&mut self, events: Vec<Event>) {
        self.write_start();
        for event in events {
            if let Some(saving) = &mut self.saving {
                saving.observe(&event);
            }
            self.writer.event(event, &mut self.out);
        }
    }

    /// What precedes all events, where it was not sent yet: for a transport that has to send a keep-alive first.
    pub fn start(&mut self) -> String {
        self.write_start();
        self.take_out()
    }

    fn write_start(&mut self) {
        if !std::mem::replace(&mut self.started, true) {
            self.writer.start(&mut self.out);
        }
    }

    fn take_out(&mut self) -> String {
        self.sent = true;
        std::mem::take(&mut self.out)
    }

    /// The client is sent something now: from here on the turn is saved as far as it comes.
    pub fn mark_seen(&mut self) {
        self.seen = true;
    }

    /// What was done to keep the contract.
    pub fn report(&self) -> Report {
        self.driver.as_ref().map(|driver| driver.report().clone()).unwrap_or_default()
    }

    /// The same in words, as in the header `callboard-contract`.
    pub fn contract(&self) -> String {
        self.driver.as_ref().map_or_else(|| Report::default().to_string(), |driver| driver.report().to_string())
    }

    /// The model server that was asked last.
    pub fn upstream(&self) -> Option<&str> {
        self.driver.as_ref().and_then(|driver| driver.model.upstream())
    }

    /// The conversation that a turn of Chat Completions belongs to.
    pub fn chat_conversation(&self) -> Option<&str> {
        self.chat_conversation.as_deref()
    }

    /// The body of a whole reply that is done.
    pub fn take_body(&mut self) -> String {
        self.writer.take_body()
    }

    /// The writer.
    pub fn writer(&mut self) -> &mut W {
        &mut self.writer
    }

    /// The text of the last reply, where the character's text is not delivered.
    pub fn withheld_text(&self) -> &str {
        self.driver.as_ref().map_or("", |driver| driver.withheld_text())
    }

    /// The character's part of the conversation.
    pub fn memory(&self) -> Option<&CharacterMemory> {
        self.memory.as_deref().or_else(|| self.driver.as_ref()?.memory())
    }

    /// What a later request on the same connection may continue from, once the reply is done.
    pub fn take_connection_response(&mut self) -> Option<ConnectionResponse> {
        self.connection_response.take()
    }

    fn complete(&mut self, finish: Finish, usage: Option<Usage>) {
        self.write_start();
        let usage = match &self.driver {
            Some(driver) => driver.usage_or_estimate(usage),
            None => usage.unwrap_or_default(),
        };
        if self.driver.is_some() && !usage.estimated {
            metrics::tokens(usage.prompt_tokens, usage.completion_tokens);
        }
        self.writer.complete(ReplyEnd { finish, usage: &usage, completed_at: clock::seconds() }, &mut self.out);
        let saving = self.saving.take().unwrap_or(Saving::Nothing);
        let turn = self.finished_turn(&saving);
        let connection_response = saving.connection_response(&turn);
        let saved = saving.complete(&turn);
        self.connection_response = connection_response;
        self.storing = Some(Storing { saved, usage });
    }

    /// The turn as it is saved.
    fn finished_turn(&mut self, saving: &Saving) -> FinishedTurn<'_> {
        if let Some(driver) = &mut self.driver
            && let Some(mut memory) = driver.take_memory()
        {
            if saving.keeps_messages() {
                memory.messages.extend(driver.transcript().iter().map(message_text));
            }
            self.memory = Some(Arc::new(memory));
        }
        FinishedTurn { memory: self.memory.clone(), response: self.writer.response() }
    }

    /// Sends the end once the reply is stored. Where that takes long, output before the end is not held back.
    async fn wait_for_store(&mut self) -> Step {
        let Some(storing) = &mut self.storing else { return Step::KeepAlive };
        let saved = match tokio::time::timeout(SAVE_GRACE, &mut storing.saved).await {
            Err(_) if !self.out.is_empty() => return Step::Piece(self.take_out()),
            Err(_) => (&mut storing.saved).await,
            Ok(saved) => saved,
        };
        let Some(Storing { usage, .. }) = self.storing.take() else { return Step::KeepAlive };
        match saved {
            Ok(()) => {
                let report = self.report();
                self.writer.finish(&report, &mut self.out);
                Step::Done(self.take_out(), usage)
            }
            Err(error) => self.failure(error.into()),
        }
    }

    /// Ends a turn that failed.
    async fn fail(&mut self, error: ApiError) -> Step {
        self.interrupt();
        let step = self.failure(error);
        if let Some(saving) = self.saving.take().filter(|_| self.seen) {
            let turn = self.finished_turn(&saving);
            log_unsaved(saving.failed(&turn).await);
        }
        step
    }

    /// The error on its own where nothing was sent, else as the end of the stream.
    fn failure(&mut self, error: ApiError) -> Step {
        if !self.sent {
            self.out.clear();
            return Step::Failed(error, String::new());
        }
        let report = self.report();
        self.writer.fail(&error, &report, &mut self.out);
        Step::Failed(error, self.take_out())
    }

    /// What ran and was not sent belongs to the saved turn.
    fn interrupt(&mut self) {
        let unsent = self.driver.as_mut().map(|driver| driver.interrupt()).unwrap_or_default();
        for event in unsent {
            self.writer.record(event);
        }
    }
}

fn log_unsaved(saved: Result<(), StoreError>) {
    if let Err(error) = saved {
        tracing::error!(%error, "interrupted turn not saved");
    }
}

/// The client is gone.
impl<W: ReplyWriter> Drop for Session<W> {
    fn drop(&mut self) {
        let Some(saving) = self.saving.take() else { return };
        self.interrupt();
        if self.seen {
            self.writer.cancel();
            let turn = self.finished_turn(&saving);
            log_unsaved(saving.abandoned(&turn));
        }
    }
}
