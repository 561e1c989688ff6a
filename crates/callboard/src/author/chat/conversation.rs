//! The conversation: it streams text, shows tool calls as they run, and obeys the commands of [`super::slash_command`].
//!
//! It lives in this process: the memory after each turn is kept, so that a turn can be taken back. Ctrl-C interrupts the turn; at the
//! prompt it clears the line.

use std::io::Write;
use std::sync::Arc;

use anyhow::anyhow;
use callboard_core::wire::ApiError;
use serde_json::{Map, Value};

use super::folded_text::whole;
use super::line_editor::Prompt;
use super::slash_command::{HELP, Input};
use super::terminal_writer::TerminalWriter;
use crate::author::scenario::{ScriptedCall, ScriptedReply};
use crate::author::scripted_model::ScriptedModel;
use crate::author::try_tool::unknown_tool;
use crate::author::turn_runner::CharacterTurns;
use crate::characters::LoadedCharacter;
use crate::conversation::MemorySlot;
use crate::services::Services;
use crate::session::{Session, Step};
use crate::store::CharacterMemory;
use crate::upstream::{Upstream, Upstreams};

/// Talks until the user ends the conversation.
pub(in crate::author) async fn chat(
    character: Arc<LoadedCharacter>,
    app: &Services,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut chat = Chat::begin(character, app).await?;
    chat.introduce(out).await?;
    let mut prompt = Prompt::start();
    while let Some(line) = prompt.line().await {
        match Input::read(&line) {
            Input::Quit => break,
            input => chat.obey(input, out).await?,
        }
    }
    Ok(())
}

/// A conversation in progress.
struct Chat<'a> {
    turns: CharacterTurns<'a>,
    start: CharacterMemory,
    /// The memory after each turn, and after each call that the user made.
    points: Vec<CharacterMemory>,
    /// The results of the last turn.
    results: Vec<String>,
}

impl<'a> Chat<'a> {
    async fn begin(character: Arc<LoadedCharacter>, app: &'a Services) -> anyhow::Result<Self> {
        let start = character.begin().await.map_err(message)?;
        let (settings, tools, upstreams) = (&app.settings, &app.tools, &app.upstreams);
        let turns = CharacterTurns { character, settings, tools, upstreams, client: app.client() };
        Ok(Self { turns, start, points: Vec::new(), results: Vec::new() })
    }

    /// Says who talks, and which model plays.
    async fn introduce(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let route = self.turns.route().await.map_err(message)?;
        let name = &self.turns.character.character.manifest().name;
        match route.upstream.local {
            Some(_) => writeln!(
                out,
                "Talking to {name}, played by the built-in {} model: rules that call tools, but cannot chat.\n\
                 For a conversation, connect a real model with --upstream URL.",
                route.model
            )?,
            None => writeln!(out, "Talking to {name}, played by {} at {}.", route.model, route.upstream.url)?,
        }
        writeln!(out, "/help lists the commands. Ctrl-C interrupts a reply, Ctrl-D ends the chat.")?;
        Ok(())
    }

    async fn obey(&mut self, input: Input<'_>, out: &mut impl Write) -> anyhow::Result<()> {
        match input {
            Input::Message(words) => self.say(words, out).await?,
            Input::Call { tool, arguments } => self.call(tool, arguments, out).await?,
            Input::Help => writeln!(out, "{HELP}")?,
            Input::State => writeln!(out, "{}", self.state())?,
            Input::Tools => self.list_tools(out).await?,
            Input::Results => self.show_results(out)?,
            Input::Undo => match self.points.pop() {
                Some(_) => writeln!(out, "(taken back)")?,
                None => writeln!(out, "(nothing to undo)")?,
            },
            Input::Reset => {
                self.start = self.turns.character.begin().await.map_err(message)?;
                self.points.clear();
                writeln!(out, "(a new conversation)")?;
            }
            Input::Mistake(remark) => writeln!(out, "({remark})")?,
            Input::Nothing | Input::Quit => {}
        }
        Ok(())
    }

    fn memory(&self) -> &CharacterMemory {
        self.points.last().unwrap_or(&self.start)
    }

    fn state(&self) -> String {
        let state = self.memory().record.state();
        match state.and_then(|state| serde_json::from_str::<Map<String, Value>>(state).ok()) {
            Some(state) if !state.is_empty() => format!("{:#}", Value::Object(state)),
            _ => "(no state)".to_owned(),
        }
    }

    /// Runs a turn.
    async fn say(&mut self, words: &str, out: &mut impl Write) -> anyhow::Result<()> {
        let slot = MemorySlot::default();
        let turn = self.turns.continued(self.memory().clone(), words, (TerminalWriter::default(), &slot));
        self.results = run(turn, out).await?;
        self.points.extend(slot.take());
        Ok(())
    }

    /// Runs a tool as a turn in which the model makes this call, and keeps what it changed. The model does not see the call.
    async fn call(&mut self, tool: &str, arguments: &str, out: &mut impl Write) -> anyhow::Result<()> {
        let before = self.memory().clone();
        let tools = self.turns.character.tools_in(before.record.state()).await.map_err(message)?;
        if !tools.iter().any(|offered| offered["function"]["name"] == tool) {
            let names = tools.iter().filter_map(|offered| offered["function"]["name"].as_str());
            return Ok(writeln!(out, "({})", unknown_tool(tool, names))?);
        }
        let (slot, script) = (MemorySlot::default(), Arc::new(ScriptedModel::default()));
        script.load(&[ScriptedReply::of_call(ScriptedCall::with_text(tool, arguments)), ScriptedReply::default()]);
        let upstreams = Upstreams::new(vec![Upstream::local("call", script)]);
        let (character, client) = (Arc::clone(&self.turns.character), self.turns.client.clone());
        let turns = CharacterTurns { character, upstreams: &upstreams, client, ..self.turns };
        let turn = turns.continued(before.clone(), "/call", (TerminalWriter::without_text(), &slot));
        self.results = run(turn, out).await?;
        if let Some(after) = slot.take().filter(|after| after.record != before.record) {
            self.points.push(CharacterMemory { record: after.record, ..before });
        }
        Ok(())
    }

    async fn list_tools(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let tools = self.turns.character.tools_in(self.memory().record.state()).await.map_err(message)?;
        if tools.is_empty() {
            writeln!(out, "(no tools)")?;
        }
        for tool in tools.iter().map(|tool| &tool["function"]) {
            let name = tool["name"].as_str().unwrap_or_default();
            writeln!(out, "  {name}({})", parameters(&tool["parameters"]))?;
            writeln!(out, "      {}", tool["description"].as_str().unwrap_or_default())?;
        }
        Ok(())
    }

    fn show_results(&self, out: &mut impl Write) -> std::io::Result<()> {
        if self.results.is_empty() {
            return writeln!(out, "(no results)");
        }
        self.results.iter().flat_map(|result| whole(result)).try_for_each(|line| writeln!(out, "  {line}"))
    }
}

/// The parameters with their types: `note: string, count?: integer`.
fn parameters(schema: &Value) -> String {
    let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|own| own == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let shown = properties.map(|(name, property)| {
        let mark = if required(name) { "" } else { "?" };
        let kind = match (&property["enum"], &property["type"]) {
            (Value::Array(values), _) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join("|"),
            (_, Value::String(kind)) => kind.clone(),
            (_, Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
            _ => "any".to_owned(),
        };
        format!("{name}{mark}: {kind}")
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Runs a turn on the terminal, until its end or Ctrl-C; returns the results of its calls.
async fn run(
    turn: impl Future<Output = Result<Session<TerminalWriter>, ApiError>>,
    out: &mut impl Write,
) -> anyhow::Result<Vec<String>> {
    let prepared = tokio::select! {
        prepared = turn => prepared,
        _ = tokio::signal::ctrl_c() => return Ok(Vec::new()),
    };
    let mut session = match prepared {
        Ok(session) => session,
        Err(error) => {
            writeln!(out, "! {}", error.message)?;
            return Ok(Vec::new());
        }
    };
    tokio::select! {
        shown = show(&mut session, out) => shown?,
        _ = tokio::signal::ctrl_c() => writeln!(out, "\n(interrupted)")?,
    }
    Ok(std::mem::take(&mut session.writer().results))
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
            Step::Failed(error, text) => return writeln!(out, "{text}! {}", error.message),
            Step::Done(text, _) => {
                write!(out, "{text}")?;
                return remark_on_silence(session, out);
            }
        }
    }
}

/// A character that acts says nothing where it does not act: the author sees what its model said.
fn remark_on_silence(session: &mut Session<TerminalWriter>, out: &mut impl Write) -> std::io::Result<()> {
    let (wrote, silent) = (session.writer().wrote, session.writer().only_results);
    match session.withheld_text().trim() {
        _ if silent => Ok(()),
        "" if wrote => Ok(()),
        "" => writeln!(out, "(no reply)"),
        text => writeln!(out, "(the model said, and REPLY does not deliver: {text})"),
    }
}

fn message(error: ApiError) -> anyhow::Error {
    anyhow!(error.message)
}
