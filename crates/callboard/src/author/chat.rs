//! `callboard chat CHARACTER`: a conversation at the terminal. Words come as they are said, tools are shown as they run.
//!
//! Ctrl-C interrupts the turn; at the prompt it clears the line. Ctrl-D, or `/quit`, ends the conversation.

use std::io::Write;
use std::sync::Arc;

use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_core::turn::Event;
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::prompt::Prompt;
use crate::config::Settings;
use crate::random;
use crate::session::Progress;
use crate::stage::{Asked, Conversations, Role, Scene, SceneParts, Whose, begin_in_history};
use crate::upstream::{Client, Upstreams};

/// What a conversation at the terminal needs.
pub struct Parlour<'a> {
    /// The character.
    pub role: Arc<Role>,
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
        conversations: Conversations::in_memory()?,
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
    conversations: Conversations,
    tools: ToolCache,
}

impl Conversation<'_> {
    /// Plays one turn and returns what was said.
    async fn turn(&self, messages: &[Value], out: &mut impl Write) -> anyhow::Result<String> {
        let id = &self.parlour.role.character.manifest().id;
        let body = json!({"model": id, "stream": true, "messages": messages}).to_string();
        let (request, _) = ChatRequest::read(body.into_bytes(), &self.tools)?;
        let mut said = String::new();
        let whose = Whose::default();
        let begun = tokio::select! {
            begun = begin_in_history(self.parts(&request), &request, &self.conversations, &whose) => begun,
            _ = tokio::signal::ctrl_c() => return Ok(said),
        };
        match begun {
            Err(error) => writeln!(out, "! {}", error.message)?,
            Ok(mut scene) => {
                tokio::select! {
                    told = tell(&mut scene, &mut said, out) => told?,
                    _ = tokio::signal::ctrl_c() => writeln!(out, "\n(interrupted)")?,
                }
            }
        }
        Ok(said)
    }

    fn parts<'b>(&'b self, request: &'b ChatRequest) -> SceneParts<'b> {
        SceneParts {
            role: Arc::clone(&self.parlour.role),
            asked: Asked::Chat(request),
            settings: self.parlour.settings,
            tools: &self.tools,
            upstreams: self.parlour.upstreams,
            client: self.parlour.client.clone(),
            authorization: None,
            request_id: format!("chat_{}", random::letters::<12>()),
            random: random::bytes,
        }
    }
}

/// Writes what happens as it happens.
async fn tell(scene: &mut Scene, said: &mut String, out: &mut impl Write) -> anyhow::Result<()> {
    loop {
        match scene.next().await {
            Progress::Events(events) => {
                scene.mark_seen();
                for event in events {
                    tell_event(event, said, out)?;
                }
                out.flush()?;
            }
            Progress::KeepAlive => {}
            Progress::Failed(error) => {
                writeln!(out, "\n! {}", error.message)?;
                return Ok(());
            }
            Progress::Complete(..) => {
                writeln!(out)?;
                return Ok(());
            }
        }
    }
}

fn tell_event(event: Event, said: &mut String, out: &mut impl Write) -> std::io::Result<()> {
    match event {
        Event::Text(text) => {
            said.push_str(&text);
            write!(out, "{text}")
        }
        Event::RunsTool(call) => writeln!(out, "\n  > {}({})", call.name, call.arguments.as_str()),
        Event::RanTool(result) => writeln!(out, "  < {}", result.text),
        _ => Ok(()),
    }
}
