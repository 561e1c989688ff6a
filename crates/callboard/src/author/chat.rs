//! `callboard chat CHARACTER`: a conversation at the terminal. Words come as they are said, tools are shown as they run.
//!
//! Ctrl-C interrupts the turn; at the prompt it clears the line. Ctrl-D, or `/quit`, ends the conversation.

use std::io::Write;
use std::sync::Arc;

use callboard_core::contract::{Report, SchemaLimits, ToolCache};
use callboard_core::turn::Event;
use callboard_core::wire::chat::ChatRequest;
use callboard_core::wire::{ApiError, ReplyEnd, ReplyWriter};
use serde_json::{Value, json};

use super::prompt::Prompt;
use crate::characters::LoadedCharacter;
use crate::config::Settings;
use crate::conversation::{ChatOwner, ChatSnapshots, Saving, resume_chat};
use crate::random;
use crate::session::{CharacterRequest, Session, Step, TurnContext, drive_character};
use crate::upstream::{Client, Upstreams};

/// What a conversation at the terminal needs.
pub struct Parlour<'a> {
    /// The character.
    pub role: Arc<LoadedCharacter>,
    /// The settings.
    pub settings: &'a Settings,
    /// The model servers.
    pub upstreams: &'a Upstreams,
    /// The way to them.
    pub client: Client,
}

/// Talks until the user has enough.
pub async fn chat(parlour: &Parlour<'_>, out: &mut impl Write) -> anyhow::Result<()> {
    let name = parlour.role.character.manifest().name.clone();
    writeln!(out, "You talk with {name}. Ctrl-C interrupts, Ctrl-D ends, /undo takes back the last turn.")?;
    let conversation = Conversation {
        parlour,
        snapshots: ChatSnapshots::in_memory()?,
        tools: ToolCache::new(SchemaLimits::default()),
    };
    let mut messages: Vec<Value> = Vec::new();
    let mut prompt = Prompt::start();
    while let Some(line) = prompt.line().await {
        match line.trim() {
            "" => continue,
            "/quit" => break,
            "/undo" => {
                messages.truncate(messages.len().saturating_sub(2));
                writeln!(out, "(the last turn is taken back)")?;
                continue;
            }
            words => messages.push(json!({"role": "user", "content": words})),
        }
        let said = conversation.turn(&messages, out).await?;
        messages.push(json!({"role": "assistant", "content": said}));
    }
    Ok(())
}

struct Conversation<'a> {
    parlour: &'a Parlour<'a>,
    snapshots: ChatSnapshots,
    tools: ToolCache,
}

impl Conversation<'_> {
    /// Runs one turn and returns the text that was printed.
    async fn turn(&self, messages: &[Value], out: &mut impl Write) -> anyhow::Result<String> {
        let prepared = tokio::select! {
            prepared = self.prepare(messages) => prepared,
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
            printed = print(&mut session, out) => printed?,
            _ = tokio::signal::ctrl_c() => writeln!(out, "\n(interrupted)")?,
        }
        Ok(std::mem::take(&mut session.writer().text))
    }

    async fn prepare(&self, messages: &[Value]) -> Result<Session<TerminalWriter>, ApiError> {
        let character = &self.parlour.role;
        let body = json!({"model": character.character.manifest().id, "stream": true, "messages": messages});
        let (request, _) = ChatRequest::read(body.to_string().into_bytes(), &self.tools)?;
        let chat = resume_chat(&self.snapshots, character, &request, &ChatOwner::default()).await?;
        let context = TurnContext {
            settings: self.parlour.settings,
            tools: &self.tools,
            upstreams: self.parlour.upstreams,
            client: self.parlour.client.clone(),
            authorization: None,
            request_id: format!("chat_{}", random::letters::<12>()),
        };
        let client = CharacterRequest::Chat { request: &request, system: &chat.system };
        let driver = drive_character(context, character, chat.memory, client).await?;
        let saving = Saving::ChatHistory(Box::new(chat.history));
        Ok(Session::new(Some(driver), TerminalWriter::default(), saving))
    }
}

/// Prints a turn as it happens.
async fn print(session: &mut Session<TerminalWriter>, out: &mut impl Write) -> anyhow::Result<()> {
    loop {
        match session.next().await {
            Step::Piece(text) => {
                session.mark_seen();
                write!(out, "{text}")?;
                out.flush()?;
            }
            Step::KeepAlive => {}
            Step::Failed(error, text) => return Ok(writeln!(out, "{text}\n! {}", error.message)?),
            Step::Done(text, _) => return Ok(writeln!(out, "{text}")?),
        }
    }
}

/// Shows text as it comes, and tools as they run.
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
