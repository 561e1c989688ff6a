//! One case played: its words are said on the stage, and what happens is listened to.

use callboard_core::turn::{Event, ToolOutcome, ToolResult};
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::venue::Venue;
use super::verdict::{Heard, Made};
use crate::author::recorded_turn::{EventLog, RecordedTurn};
use crate::conversation::Saving;
use crate::session::{CharacterRequest, Session, TurnContext, drive_character};
use crate::store::CharacterMemory;

/// Runs the case's turn in a conversation that is at this point.
pub(super) async fn play(venue: &Venue<'_>, memory: CharacterMemory, say: &str) -> Heard {
    let turn = RecordedTurn::run(prepare(venue, memory, say).await).await;
    let mut heard = Heard { failure: turn.failure, state: turn.state, ..Heard::default() };
    turn.events.into_iter().for_each(|event| hear(&mut heard, event));
    heard
}

async fn prepare(venue: &Venue<'_>, mut memory: CharacterMemory, say: &str) -> Result<Session<EventLog>, ApiError> {
    let message = json!({"role": "user", "content": say});
    memory.messages.push(message.to_string());
    let body = json!({"model": memory.character, "messages": [message], "temperature": 0}).to_string();
    let (request, _) = ChatRequest::read(body.into_bytes(), venue.tools)?;
    let context = TurnContext {
        settings: venue.settings,
        tools: venue.tools,
        upstreams: venue.upstreams,
        client: venue.client.clone(),
        authorization: None,
        request_id: "eval".to_owned(),
    };
    let client = CharacterRequest::Chat { request: &request, system: &[] };
    let driver = drive_character(context, &venue.role, memory, client).await?;
    Ok(Session::new(Some(driver), EventLog::default(), Saving::Nothing))
}

fn hear(heard: &mut Heard, event: Event) {
    match event {
        Event::Text(text) => heard.said.push_str(&text),
        Event::RanTool(result) => {
            heard.attempts += 1;
            heard.calls.extend(made(result));
        }
        _ => {}
    }
}

/// The call as the tool got it; none where it did not get that far.
fn made(result: ToolResult) -> Option<Made> {
    let ran = result.ran?;
    let refused = result.outcome != ToolOutcome::Success || says_no(&result.text);
    let arguments = serde_json::from_str(&ran.arguments).unwrap_or_default();
    Some(Made { tool: ran.tool, arguments, result: result.text, refused })
}

/// A result that is a JSON object may tell that nothing was done.
fn says_no(result: &str) -> bool {
    serde_json::from_str::<Value>(result).is_ok_and(|result| result.get("success") == Some(&Value::Bool(false)))
}
