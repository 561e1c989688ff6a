//! A turn that is run to its end and looked at afterwards: its events, its failure, the state after it.

use callboard_core::contract::Report;
use callboard_core::turn::Event;
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};
use serde_json::Value;

use crate::session::{Session, Step};

/// Collects the events of a turn.
#[derive(Default)]
pub(super) struct EventLog(Vec<Event>);

/// What happened in a turn.
#[derive(Default)]
pub(super) struct RecordedTurn {
    pub(super) events: Vec<Event>,
    /// Why it failed, if it did.
    pub(super) failure: Option<String>,
    /// The character's state after it.
    pub(super) state: Value,
}

impl RecordedTurn {
    /// Runs a session that was prepared, or records why it could not be.
    pub(super) async fn run(prepared: Result<Session<EventLog>, ApiError>) -> Self {
        let mut session = match prepared {
            Ok(session) => session,
            Err(error) => return Self { failure: Some(error.message), ..Self::default() },
        };
        let failure = loop {
            match session.next().await {
                Step::Done(..) => break None,
                Step::Failed(error, _) => break Some(error.message),
                Step::Piece(_) | Step::KeepAlive => {}
            }
        };
        let state = session.memory().and_then(|memory| serde_json::from_str(memory.record.state()?).ok());
        let events = std::mem::take(&mut session.writer().0);
        Self { events, failure, state: state.unwrap_or_default() }
    }
}

impl ReplyWriter for EventLog {
    fn event(&mut self, event: Event, _out: &mut String) {
        self.0.push(event);
    }

    fn complete(&mut self, _end: ReplyEnd<'_>, _out: &mut String) {}

    fn finish(&mut self, _report: &Report, _out: &mut String) {}

    fn fail(&mut self, _error: &ApiError, _report: &Report, _out: &mut String) {}

    fn take_body(&mut self) -> String {
        String::new()
    }
}
