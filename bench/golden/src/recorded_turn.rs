//! A golden page's turn with everything that passes between the parts of the core: so each part can run by itself.

use callboard_core::contract::{Report, ToolCache};
use callboard_core::model::{Delta, Finish, Usage};
use callboard_core::turn::{Action, Ending, Event, Input, Turn, TurnSettings};
use callboard_core::wire::chat::{ChatRequest, ReplyFault, ReplyReader};
use callboard_test_support::golden_page::{Page, StreamedTurn};

const MOST_BYTES: usize = 1 << 20;

/// The turn of one page.
pub(crate) struct RecordedTurn {
    /// The body of the request.
    pub(crate) request: Vec<u8>,
    /// The streams of the model server.
    pub(crate) streams: Vec<Vec<u8>>,
    /// What the client gets.
    pub(crate) events: Vec<Event>,
    pub(crate) report: Report,
    /// None for a turn that fails.
    pub(crate) end: Option<(Finish, Usage)>,
}

impl RecordedTurn {
    /// None for a page that the core does not read as streams.
    pub(crate) fn of(page: &Page, tools: &ToolCache) -> Option<Self> {
        let StreamedTurn { request, streams } = page.streamed_turn()?;
        let turn = engine(&request, tools)?;
        let recorded = Self { request, streams, events: Vec::new(), report: Report::default(), end: None };
        Some(recorded.played(turn))
    }

    fn played(mut self, mut turn: Turn) -> Self {
        let replies = self.replies();
        let actions = run(&mut turn, replies);
        self.report = turn.report().clone();
        for action in actions {
            match action {
                Action::Emit(event) => self.events.push(event),
                Action::Finish(Ending::Complete { finish, usage }) => {
                    self.end = Some((finish, usage.unwrap_or_default()));
                }
                _ => {}
            }
        }
        self
    }

    /// The deltas of each reply, up to one that cannot be read.
    pub(crate) fn replies(&self) -> Vec<Vec<Delta>> {
        self.streams.iter().map_while(|stream| read_reply(stream).ok()).collect()
    }
}

/// The engine of a request; none if the request is refused.
pub(crate) fn engine(request: &[u8], tools: &ToolCache) -> Option<Turn> {
    let (_, turn) = ChatRequest::read(request.to_vec(), tools).ok()?;
    let mut drawn = 0_u8;
    let random = Box::new(move || {
        drawn = drawn.wrapping_add(1);
        [drawn; 24]
    });
    Some(Turn::new(turn, TurnSettings::default(), random))
}

/// Reads a reply whose bytes arrive together.
pub(crate) fn read_reply(stream: &[u8]) -> Result<Vec<Delta>, ReplyFault> {
    let (mut reader, mut deltas) = (ReplyReader::stream(MOST_BYTES), Vec::new());
    reader.feed(stream, &mut deltas)?;
    if !reader.is_ended() {
        reader.finish(&mut deltas)?;
    }
    Ok(deltas)
}

/// Runs a turn on the replies that it asks for; returns all its actions.
pub(crate) fn run(turn: &mut Turn, replies: Vec<Vec<Delta>>) -> Vec<Action> {
    let mut actions = Vec::new();
    turn.step(Input::Start, &mut actions);
    for reply in replies {
        if !matches!(actions.last(), Some(Action::CallModel(_))) {
            break;
        }
        for delta in reply {
            turn.step(Input::Delta(delta), &mut actions);
        }
        turn.step(Input::ReplyEnded, &mut actions);
    }
    actions
}
