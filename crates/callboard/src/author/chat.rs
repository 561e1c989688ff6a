//! `callboard chat CHARACTER`: a conversation at the terminal. It streams text and shows tool calls as they run.
//!
//! Ctrl-C interrupts the turn; at the prompt it clears the line. Ctrl-D or `/quit` ends the conversation.

use std::io::Write;
use std::sync::Arc;

use callboard_core::contract::Report;
use callboard_core::turn::Event;
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};
use serde_json::{Value, json};

use super::line_editor::Prompt;
use super::turn_runner::CharacterTurns;
use crate::characters::LoadedCharacter;
use crate::conversation::ChatSnapshots;
use crate::services::Services;
use crate::session::{Session, Step};

/// Talks until the user ends the conversation.
pub(super) async fn chat(character: Arc<LoadedCharacter>, app: &Services, out: &mut impl Write) -> anyhow::Result<()> {
    let name = &character.character.manifest().name;
    writeln!(out, "Talking to {name}. Ctrl-C interrupts a reply, Ctrl-D ends the chat, /undo removes the last turn.")?;
    let (settings, tools, upstreams) = (&app.settings, &app.tools, &app.upstreams);
    let turns = CharacterTurns { character, settings, tools, upstreams, client: app.client() };
    let snapshots = ChatSnapshots::in_memory()?;
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
        let text = turn(&turns, &messages, &snapshots, out).await?;
        messages.push(json!({"role": "assistant", "content": text}));
    }
    Ok(())
}

/// Runs one turn and returns its text.
async fn turn(
    turns: &CharacterTurns<'_>,
    messages: &[Value],
    snapshots: &ChatSnapshots,
    out: &mut impl Write,
) -> anyhow::Result<String> {
    let prepared = tokio::select! {
        prepared = turns.next(messages, snapshots, TerminalWriter::default()) => prepared,
        _ = tokio::signal::ctrl_c() => return Ok(String::new()),
    };
    let mut session = match prepared {
        Ok(session) => session,
        Err(error) => {
            writeln!(out, "! {}", error.message)?;
            return Ok(String::new());
        }
    };
    tokio::select! {
        shown = show(&mut session, out) => shown?,
        _ = tokio::signal::ctrl_c() => writeln!(out, "\n(interrupted)")?,
    }
    Ok(std::mem::take(&mut session.writer().text))
}

/// Streams a turn to the terminal.
async fn show(session: &mut Session<TerminalWriter>, out: &mut impl Write) -> std::io::Result<()> {
    loop {
        match session.next().await {
            Step::Piece(text) => {
                session.mark_seen();
                write!(out, "{text}")?;
                out.flush()?;
            }
            Step::KeepAlive => {}
            Step::Failed(error, text) => return writeln!(out, "{text}\n! {}", error.message),
            Step::Done(text, _) => return writeln!(out, "{text}"),
        }
    }
}

/// Streams text, and shows tool calls with their results.
#[derive(Default)]
struct TerminalWriter {
    text: String,
}

impl ReplyWriter for TerminalWriter {
    fn event(&mut self, event: Event, out: &mut String) {
        match event {
            Event::Text(text) => {
                self.text.push_str(&text);
                out.push_str(&text);
            }
            Event::RunsTool(call) => out.push_str(&format!("\n  > {}({})\n", call.name, call.arguments.as_str())),
            Event::RanTool(result) => out.push_str(&format!("  < {}\n", result.text)),
            _ => {}
        }
    }

    fn complete(&mut self, _end: ReplyEnd<'_>, _out: &mut String) {}

    fn finish(&mut self, _report: &Report, _out: &mut String) {}

    fn fail(&mut self, _error: &ApiError, _report: &Report, _out: &mut String) {}

    fn take_body(&mut self) -> String {
        String::new()
    }
}
