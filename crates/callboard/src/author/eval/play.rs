//! One case played: its words are said on the stage, and what happens is listened to.

use std::sync::Arc;

use callboard_core::turn::{Event, ToolOutcome, ToolResult};
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::venue::Venue;
use super::verdict::{Heard, Made};
use crate::session::Progress;
use crate::stage::{Asked, Past, Scene, SceneParts};

/// Says the words in a conversation that is at this point.
pub(super) async fn play(venue: &Venue<'_>, mut past: Past, say: &str) -> Heard {
    let id = &venue.role.character.manifest().id;
    let said = json!({"role": "user", "content": say});
    past.messages.push(said.to_string());
    let body = json!({"model": id, "messages": [said], "temperature": 0}).to_string();
    let begun = match ChatRequest::read(body.into_bytes(), venue.tools) {
        Ok((request, _)) => Scene::begin(parts(venue, &request), past).await,
        Err(refusal) => Err(refusal.into()),
    };
    match begun {
        Ok(scene) => listen(scene).await,
        Err(error) => Heard { failure: Some(error.message), ..Heard::default() },
    }
}

fn parts<'a>(venue: &Venue<'a>, request: &'a ChatRequest) -> SceneParts<'a> {
    SceneParts {
        role: Arc::clone(&venue.role),
        asked: Asked::Chat(request),
        settings: venue.settings,
        tools: venue.tools,
        upstreams: venue.upstreams,
        client: venue.client.clone(),
        authorization: None,
        request_id: "eval".to_owned(),
        random: crate::random::bytes,
    }
}

async fn listen(mut scene: Scene) -> Heard {
    let mut heard = Heard::default();
    loop {
        match scene.next().await {
            Progress::Events(events) => events.into_iter().for_each(|event| hear(&mut heard, event)),
            Progress::KeepAlive => {}
            Progress::Failed(error) => {
                heard.failure = Some(error.message);
                break;
            }
            Progress::Complete(..) => break,
        }
    }
    heard.state = scene.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
    heard
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
