//! A reply of Chat Completions, as chunks or as one body.

use super::chunk::{ChunkWriter, Stamp};
use super::completion::Completion;
use crate::contract::Report;
use crate::model::{Finish, Usage};
use crate::turn::Event;
use crate::wire::reply_writer::write_contract_comment;
use crate::wire::{ApiError, ReplyEnd, ReplyWriter};

/// Writes one reply.
#[derive(Debug)]
pub struct ChatWriter {
    form: Form,
    end: Option<(Finish, Usage)>,
}

#[derive(Debug)]
enum Form {
    Whole { completion: Completion, stamp: Stamp, body: String },
    Stream(ChunkWriter),
}

impl ChatWriter {
    /// A writer of one body.
    #[must_use]
    pub fn whole(stamp: Stamp) -> Self {
        Self { form: Form::Whole { completion: Completion::default(), stamp, body: String::new() }, end: None }
    }

    /// A writer of server-sent events.
    #[must_use]
    pub fn stream(stamp: &Stamp, include_usage: bool) -> Self {
        Self { form: Form::Stream(ChunkWriter::new(stamp, include_usage)), end: None }
    }
}

impl ReplyWriter for ChatWriter {
    fn event(&mut self, event: Event, out: &mut String) {
        match &mut self.form {
            Form::Whole { completion, .. } => completion.event(event),
            Form::Stream(chunks) => chunks.event(event, out),
        }
    }

    fn complete(&mut self, end: ReplyEnd<'_>, _out: &mut String) {
        self.end = Some((end.finish, end.usage.clone()));
    }

    fn finish(&mut self, report: &Report, out: &mut String) {
        let Some((finish, usage)) = self.end.take() else { return };
        match &mut self.form {
            Form::Whole { completion, stamp, body } => {
                *body = std::mem::take(completion).finish(stamp, finish, &usage);
            }
            Form::Stream(chunks) => chunks.finish(finish, Some(&usage), report, out),
        }
    }

    fn fail(&mut self, error: &ApiError, report: &Report, out: &mut String) {
        if let Form::Stream(_) = self.form {
            write_contract_comment(report, out);
            out.push_str(&error.to_event());
        }
    }

    fn take_body(&mut self) -> String {
        match &mut self.form {
            Form::Whole { body, .. } => std::mem::take(body),
            Form::Stream(_) => String::new(),
        }
    }
}
