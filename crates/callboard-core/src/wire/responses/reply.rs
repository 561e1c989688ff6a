//! A reply of the Responses API, as events or as one object.

use super::object::ResponseObject;
use super::writer::{EventWriter, Framing};
use crate::contract::Report;
use crate::turn::Event;
use crate::wire::{ApiError, ReplyEnd, ReplyWriter};

/// Writes one response.
pub enum ResponseWriter {
    /// As one object.
    Whole(ResponseObject),
    /// As a stream of events.
    Stream(EventWriter),
}

impl ResponseWriter {
    /// A writer for a new response: events where a framing is given, else one object.
    #[must_use]
    pub fn new(object: ResponseObject, framing: Option<Framing>) -> Self {
        match framing {
            Some(framing) => Self::Stream(EventWriter::new(object, framing)),
            None => Self::Whole(object),
        }
    }
}

impl ReplyWriter for ResponseWriter {
    fn start(&mut self, out: &mut String) {
        if let Self::Stream(events) = self {
            events.begin(out);
        }
    }

    fn event(&mut self, event: Event, out: &mut String) {
        match self {
            Self::Whole(object) => object.event(event),
            Self::Stream(events) => events.event(event, out),
        }
    }

    fn record(&mut self, event: Event) {
        self.object_mut().event(event);
    }

    fn complete(&mut self, end: ReplyEnd<'_>, out: &mut String) {
        match self {
            Self::Whole(object) => object.finish(&end),
            Self::Stream(events) => events.settle(&end, out),
        }
    }

    fn finish(&mut self, report: &Report, out: &mut String) {
        if let Self::Stream(events) = self {
            events.finish(report, out);
        }
    }

    fn fail(&mut self, error: &ApiError, report: &Report, out: &mut String) {
        match self {
            Self::Whole(object) => object.fail(error),
            Self::Stream(events) => events.fail(error, report, out),
        }
    }

    fn cancel(&mut self) {
        self.object_mut().cancel();
    }

    fn take_body(&mut self) -> String {
        Box::<str>::from(self.object().to_text()).into_string()
    }

    fn response(&self) -> Option<&ResponseObject> {
        Some(self.object())
    }
}

impl ResponseWriter {
    fn object(&self) -> &ResponseObject {
        match self {
            Self::Whole(object) => object,
            Self::Stream(events) => events.object(),
        }
    }

    fn object_mut(&mut self) -> &mut ResponseObject {
        match self {
            Self::Whole(object) => object,
            Self::Stream(events) => events.object_mut(),
        }
    }
}
