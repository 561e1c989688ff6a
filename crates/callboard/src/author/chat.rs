//! `callboard chat CHARACTER`: a conversation at the terminal. Text appears as it comes, tool calls as they run.
//!
//! Ctrl-C interrupts the turn; at the prompt it clears the line. Ctrl-D or `/quit` ends the conversation.

use std::io::Write;
use std::sync::Arc;

use callboard_core::turn::Event;
use serde_json::{Value, json};

use super::played_turn::TurnPlayer;
use super::prompt::Prompt;
use crate::app::App;
use crate::session::Progress;
use crate::stage::{Conversations, Role, Scene};

/// Talks until the user ends the conversation.
pub(super) async fn chat(role: Arc<Role>, app: &App, out: &mut impl Write) -> anyhow::Result<()> {
    let name = &role.character.manifest().name;
    writeln!(out, "Talking to {name}. Ctrl-C interrupts a reply, Ctrl-D ends the chat, /undo removes the last turn.")?;
    let (settings, tools, upstreams) = (&app.settings, &app.tools, &app.upstreams);
    let player = TurnPlayer { role, settings, tools, upstreams, client: app.client() };
    let conversations = Conversations::in_memory()?;
    let mut messages: Vec<Value> = Vec::new();
    let mut prompt = Prompt::start();
    while let Some(line) = prompt.line().await {
        match line.trim() {
            "" => continue,
            "/quit" => break,
            "/undo" => {
                let remark = if messages.is_empty() { "nothing to undo" } else { "last turn removed" };
                messages.truncate(messages.len().saturating_sub(2));
                writeln!(out, "({remark})")?;
                continue;
            }
            words => messages.push(json!({"role": "user", "content": words})),
        }
        let text = turn(&player, &messages, &conversations, out).await?;
        messages.push(json!({"role": "assistant", "content": text}));
    }
    Ok(())
}

/// Plays one turn and returns its text.
async fn turn(
    player: &TurnPlayer<'_>,
    messages: &[Value],
    conversations: &Conversations,
    out: &mut impl Write,
) -> anyhow::Result<String> {
    let mut text = String::new();
    let begun = tokio::select! {
        begun = player.begin(messages, conversations) => begun,
        _ = tokio::signal::ctrl_c() => return Ok(text),
    };
    match begun {
        Err(error) => writeln!(out, "! {}", error.message)?,
        Ok(mut scene) => tokio::select! {
            shown = show(&mut scene, &mut text, out) => shown?,
            _ = tokio::signal::ctrl_c() => writeln!(out, "\n(interrupted)")?,
        },
    }
    Ok(text)
}

/// Writes events as they come.
async fn show(scene: &mut Scene, text: &mut String, out: &mut impl Write) -> std::io::Result<()> {
    loop {
        match scene.next().await {
            Progress::Events(events) => {
                scene.mark_seen();
                events.into_iter().try_for_each(|event| show_event(event, text, out))?;
                out.flush()?;
            }
            Progress::KeepAlive => {}
            Progress::Failed(error) => return writeln!(out, "\n! {}", error.message),
            Progress::Complete(..) => return writeln!(out),
        }
    }
}

fn show_event(event: Event, text: &mut String, out: &mut impl Write) -> std::io::Result<()> {
    match event {
        Event::Text(piece) => {
            text.push_str(&piece);
            write!(out, "{piece}")
        }
        Event::RunsTool(call) => writeln!(out, "\n  > {}({})", call.name, call.arguments.as_str()),
        Event::RanTool(result) => writeln!(out, "  < {}", result.text),
        _ => Ok(()),
    }
}
