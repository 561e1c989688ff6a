//! Replies that are passed on byte for byte: servers whose contract is only observed, or switched off.
//!
//! An observer reads along with an engine of its own and counts what it sees; nothing it finds changes what the client gets.

use bytes::Bytes;
use callboard_core::contract::{Outcome, Report};
use callboard_core::model::Delta;
use callboard_core::turn::{Action, Input, Turn};
use callboard_core::wire::chat::ReplyReader;
use futures_util::stream::{self, Stream};

use crate::telemetry::metrics;
use crate::upstream::{Failure, ReplyBody};

/// Reads along with a reply.
pub struct Observer {
    turn: Turn,
    reader: ReplyReader,
    deltas: Vec<Delta>,
    actions: Vec<Action>,
    usable: bool,
}

impl Observer {
    /// An observer whose engine asks nothing again.
    pub fn new(turn: Turn, reader: ReplyReader) -> Self {
        Self { turn, reader, deltas: Vec::new(), actions: Vec::new(), usable: true }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.usable = self.usable && self.reader.feed(bytes, &mut self.deltas).is_ok();
        self.step();
    }

    fn finish(&mut self) {
        if self.usable && self.reader.finish(&mut self.deltas).is_ok() {
            self.step();
            self.turn.step(Input::ReplyEnded, &mut self.actions);
            metrics::contract(&observed(self.turn.report()));
        }
    }

    fn step(&mut self) {
        for delta in self.deltas.drain(..) {
            self.turn.step(Input::Delta(delta), &mut self.actions);
        }
        self.actions.clear();
    }
}

fn observed(report: &Report) -> Report {
    let mut seen = Report::default();
    for event in report.events() {
        seen.note(event.violation, Outcome::Observed);
    }
    seen
}

/// The bytes of a body as they come, with an observer beside them if there is one.
pub fn relay_body(body: ReplyBody, observer: Option<Observer>) -> impl Stream<Item = Result<Bytes, Failure>> + Send {
    stream::unfold((body, observer), |(mut body, mut observer)| async move {
        match body.next().await {
            Ok(None) => {
                observer.iter_mut().for_each(Observer::finish);
                None
            }
            Err(failure) => Some((Err(failure), (body, None))),
            Ok(Some(bytes)) => {
                observer.iter_mut().for_each(|observer| observer.feed(&bytes));
                Some((Ok(bytes), (body, observer)))
            }
        }
    })
}
