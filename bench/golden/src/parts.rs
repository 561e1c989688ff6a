//! The parts of the core that are counted. Each prepares its input and returns the work.

use callboard_core::contract::ToolCache;
use callboard_core::model::Delta;
use callboard_core::turn::{ModelCall, Turn};
use callboard_core::wire::chat::{CallForm, ChatRequest, ChatWriter, Stamp};
use callboard_core::wire::responses::{Framing, ResponseObject, ResponseStamp, ResponseWriter, ResponsesRequest};
use callboard_core::wire::{ReplyEnd, ReplyWriter};

use crate::recorded_turn::{RecordedTurn, engine, read_reply, run};

type Work<'a> = Box<dyn FnOnce() + 'a>;
type Prepare = for<'a> fn(&'a [RecordedTurn], &'a ToolCache) -> Work<'a>;

/// The parts by name.
pub(crate) const PARTS: [(&str, Prepare); 6] = [
    ("read-requests", read_requests),
    ("compile-tools", compile_tools),
    ("read-replies", read_replies),
    ("step-turns", step_turns),
    ("write-chat", write_chat),
    ("write-responses", write_responses),
];

/// Requests whose tools are known, and their form for the model server.
fn read_requests<'a>(turns: &'a [RecordedTurn], tools: &'a ToolCache) -> Work<'a> {
    let bodies: Vec<Vec<u8>> = turns.iter().map(|turn| turn.request.clone()).collect();
    Box::new(move || {
        for body in bodies {
            let (request, _) = ChatRequest::read(body, tools).expect("a request that was read before");
            drop(request.upstream_body(&ModelCall::default()));
        }
    })
}

/// Requests whose tools are new.
fn compile_tools<'a>(turns: &'a [RecordedTurn], _: &'a ToolCache) -> Work<'a> {
    let bodies: Vec<Vec<u8>> = turns.iter().map(|turn| turn.request.clone()).collect();
    Box::new(move || {
        for body in bodies {
            drop(ChatRequest::read(body, &ToolCache::default()));
        }
    })
}

/// The streams of the model server, each in one piece.
fn read_replies<'a>(turns: &'a [RecordedTurn], _: &'a ToolCache) -> Work<'a> {
    Box::new(move || {
        for stream in turns.iter().flat_map(|turn| &turn.streams) {
            drop(read_reply(stream));
        }
    })
}

/// The engine, on deltas.
fn step_turns<'a>(turns: &'a [RecordedTurn], tools: &'a ToolCache) -> Work<'a> {
    let begun = |turn: &RecordedTurn| (engine(&turn.request, tools).expect("a turn that ran before"), turn.replies());
    let turns: Vec<(Turn, Vec<Vec<Delta>>)> = turns.iter().map(begun).collect();
    Box::new(move || {
        for (mut turn, replies) in turns {
            drop(run(&mut turn, replies));
        }
    })
}

/// Streams of chunks.
fn write_chat<'a>(turns: &'a [RecordedTurn], _: &'a ToolCache) -> Work<'a> {
    let stamp = Stamp { id: "chatcmpl-1".to_owned(), created: 1, model: "m".to_owned(), form: CallForm::default() };
    written(turns, || ChatWriter::stream(&stamp, true))
}

/// Streams of events of the Responses API.
fn write_responses<'a>(turns: &'a [RecordedTurn], _: &'a ToolCache) -> Work<'a> {
    let body = br#"{"model": "m", "input": "Hello.", "stream": true}"#;
    let request = ResponsesRequest::read(body.to_vec()).expect("a valid request");
    written(turns, || ResponseWriter::new(ResponseObject::new(&request, stamp()), Some(Framing::ServerSent)))
}

fn stamp() -> ResponseStamp {
    let mut made = 0;
    let new_id = Box::new(move |prefix: &'static str| {
        made += 1;
        format!("{prefix}{made}")
    });
    let server_label = String::new();
    ResponseStamp { id: "resp_1".to_owned(), created_at: 1, conversation: None, server_label, new_id }
}

/// Writes the events of every turn, each by itself as in a stream that arrives slowly.
fn written<'a, W: ReplyWriter + 'a>(turns: &'a [RecordedTurn], new_writer: impl Fn() -> W) -> Work<'a> {
    let writers: Vec<W> = turns.iter().map(|_| new_writer()).collect();
    let events: Vec<_> = turns.iter().map(|turn| turn.events.clone()).collect();
    Box::new(move || {
        for ((turn, events), mut writer) in turns.iter().zip(events).zip(writers) {
            let mut out = String::new();
            writer.start(&mut out);
            for event in events {
                writer.event(event, &mut out);
                out.clear();
            }
            if let Some((finish, usage)) = &turn.end {
                writer.complete(ReplyEnd { finish: *finish, usage, completed_at: 1 }, &mut out);
                writer.finish(&turn.report, &mut out);
            }
        }
    })
}
