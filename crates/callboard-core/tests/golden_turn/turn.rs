//! One golden page: the request, the upstream streams, and a trace of the resulting turn.

use callboard_core::contract::ToolCache;
use callboard_core::model::Delta;
use callboard_core::turn::{Action, Ending, Event, Input, Turn, TurnRequest, TurnSettings};
use callboard_core::wire::chat::{ChatRequest, ReplyFault, ReplyReader};
use callboard_test_support::golden_page::{Page, StreamedTurn};

const MOST_BYTES: usize = 1 << 20;

/// Splits the bytes of a reply.
type Cut<'a> = dyn Fn(&'static [u8]) -> Vec<&'static [u8]> + 'a;

/// Splits a text into deltas.
type TextCut<'a> = dyn Fn(&str) -> Vec<String> + 'a;

/// A page that can be run.
pub(crate) struct GoldenTurn {
    request: Vec<u8>,
    /// The replies as static bytes, so that splitting copies nothing.
    pub(crate) streams: Vec<&'static [u8]>,
    tools: ToolCache,
}

impl GoldenTurn {
    /// None for pages whose request is refused, or whose replies are not all streams.
    pub(crate) fn new(page: &Page) -> Option<Self> {
        let StreamedTurn { request, streams } = page.streamed_turn()?;
        let streams = streams.into_iter().map(|stream| &*stream.leak()).collect();
        let play = Self { request, streams, tools: ToolCache::default() };
        play.turn_request().is_some().then_some(play)
    }

    /// The trace of the turn, one line per action; adjacent texts are joined.
    pub(crate) fn trace(&self, cut: &Cut<'_>) -> Vec<String> {
        self.played(&|stream| read(&cut(stream)))
    }

    /// The trace with the text of every reply split into other deltas.
    pub(crate) fn trace_in_deltas(&self, cut: &TextCut<'_>) -> Vec<String> {
        self.played(&|stream| {
            let (deltas, fed) = read(&[stream]);
            (recut(deltas, cut), fed)
        })
    }

    /// The longest text in any reply, in characters.
    pub(crate) fn longest_text(&self) -> usize {
        let texts = self.streams.iter().flat_map(|stream| joined_texts(read(&[stream]).0));
        let length = |delta: Delta| if let Delta::Text(text) = delta { text.chars().count() } else { 0 };
        texts.map(length).max().unwrap_or_default()
    }

    fn played(&self, replies: &dyn Fn(&'static [u8]) -> Replied) -> Vec<String> {
        let mut trace = Vec::new();
        let mut drawn = 0_u8;
        let random = Box::new(move || {
            drawn = drawn.wrapping_add(1);
            [drawn; 24]
        });
        let mut turn =
            Turn::new(self.turn_request().expect("a request that was read before"), TurnSettings::default(), random);
        let mut asks = step(&mut turn, Input::Start, &mut trace);
        for stream in &self.streams {
            if asks {
                asks = reply(&mut turn, replies(stream), &mut trace);
            }
        }
        trace.insert(0, format!("contract {}", turn.report()));
        trace
    }

    fn turn_request(&self) -> Option<TurnRequest> {
        ChatRequest::read(self.request.clone(), &self.tools).ok().map(|(_, turn)| turn)
    }
}

/// The deltas of one reply, and how reading ended.
type Replied = (Vec<Delta>, Result<(), ReplyFault>);

/// The deltas with each text split anew.
fn recut(deltas: Vec<Delta>, cut: &TextCut<'_>) -> Vec<Delta> {
    let parts = |delta| match delta {
        Delta::Text(text) => cut(&text).into_iter().map(Delta::Text).collect(),
        other => vec![other],
    };
    joined_texts(deltas).into_iter().flat_map(parts).collect()
}

/// The deltas with adjacent texts joined.
fn joined_texts(deltas: Vec<Delta>) -> Vec<Delta> {
    let mut joined: Vec<Delta> = Vec::new();
    for delta in deltas {
        match (joined.last_mut(), delta) {
            (Some(Delta::Text(last)), Delta::Text(more)) => last.push_str(&more),
            (_, delta) => joined.push(delta),
        }
    }
    joined
}

/// Reads the pieces of one reply; the engine sees nothing else of it.
pub(crate) fn read(pieces: &[&[u8]]) -> Replied {
    let (mut reader, mut deltas) = (ReplyReader::stream(MOST_BYTES), Vec::new());
    let mut fed = Ok(());
    for piece in pieces {
        fed = fed.and_then(|()| reader.feed(piece, &mut deltas));
    }
    fed = fed.and_then(|()| if reader.is_ended() { Ok(()) } else { reader.finish(&mut deltas) });
    (deltas, fed)
}

/// Feeds one reply; true when the engine calls the model again.
fn reply(turn: &mut Turn, (deltas, fed): Replied, trace: &mut Vec<String>) -> bool {
    for delta in deltas {
        step(turn, Input::Delta(delta), trace);
    }
    match fed {
        Ok(()) => step(turn, Input::ReplyEnded, trace),
        Err(fault) => {
            trace.push(format!("fault {fault}"));
            false
        }
    }
}

/// Feeds one input and traces the actions; true when one calls the model.
fn step(turn: &mut Turn, input: Input, trace: &mut Vec<String>) -> bool {
    let mut actions = Vec::new();
    turn.step(input, &mut actions);
    let mut asks = false;
    for action in actions {
        match action {
            Action::CallModel(ask) => {
                asks = true;
                trace.push(format!("asks {:?} {:?}", ask.choice, ask.appended));
            }
            Action::Emit(Event::Text(text)) => push_text("text ", &text, trace),
            Action::Emit(Event::Reasoning(text)) => push_text("reasoning ", &text, trace),
            Action::Finish(Ending::Complete { finish, usage }) => {
                trace.push(format!("finish {} {usage:?}", finish.as_word()));
            }
            Action::Finish(Ending::Failed(violation)) => trace.push(format!("failed {violation}")),
            other => trace.push(format!("{other:?}")),
        }
    }
    asks
}

fn push_text(kind: &str, text: &str, trace: &mut Vec<String>) {
    match trace.last_mut().filter(|line| line.starts_with(kind)) {
        Some(line) => line.push_str(text),
        None => trace.push(format!("{kind}{text}")),
    }
}
