//! `callboard test [DIR]`: plays the scenarios beside the characters, with a scripted model and the real tools.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_core::turn::Event;
use callboard_core::wire::ApiError;
use callboard_core::wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::recorded_turn::{EventLog, RecordedTurn};
use super::scenario::{self, Scenario, ScenarioTurn};
use super::script::Script;
use crate::characters::{CharacterRegistry, LoadedCharacter, OutputBuffer};
use crate::config::Settings;
use crate::conversation::{ChatOwner, ChatSnapshots, Saving, resume_chat};
use crate::session::{CharacterRequest, Session, TurnContext, drive_character};
use crate::upstream::{Client, Upstream, Upstreams};

/// What all scenarios share.
pub struct Rehearsal<'a> {
    /// The characters.
    pub cast: &'a CharacterRegistry,
    /// The settings.
    pub settings: &'a Settings,
    /// A way to model servers, which is not used.
    pub client: Client,
    /// What characters print.
    pub printed: OutputBuffer,
}

/// Plays every scenario of the folder; false when any fails.
pub async fn test(rehearsal: &Rehearsal<'_>, out: &mut impl Write) -> anyhow::Result<bool> {
    rehearsal.cast.load(true).await?;
    let (mut passed, mut failed) = (0, 0);
    for problem in rehearsal.cast.problems() {
        failed += 1;
        writeln!(out, "FAIL  {}: it does not load; see: callboard check", problem.id)?;
    }
    for (id, path) in scenario_files(rehearsal.cast) {
        let Some(role) = rehearsal.cast.get(&id) else {
            failed += 1;
            writeln!(out, "FAIL  {}: there is no character {id}", path.display())?;
            continue;
        };
        for scenario in scenario::read(&path)?.scenario {
            match play(rehearsal, &role, &scenario).await {
                Ok(()) => {
                    passed += 1;
                    writeln!(out, "ok    {id}: {}", scenario.name)?;
                }
                Err(faults) => {
                    failed += 1;
                    writeln!(out, "FAIL  {id}: {}\n      {}", scenario.name, faults.join("\n      "))?;
                }
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed == 0 && passed > 0)
}

fn scenario_files(cast: &CharacterRegistry) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(cast.folder()).into_iter().flatten().flatten();
    let named = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".scenario.toml")?.to_owned();
        Some((id, path))
    };
    let mut files: Vec<_> = entries.filter_map(|entry| named(entry.path())).collect();
    files.sort();
    files
}

/// Plays one scenario as one conversation.
async fn play(rehearsal: &Rehearsal<'_>, role: &Arc<LoadedCharacter>, scenario: &Scenario) -> Result<(), Vec<String>> {
    let script = Arc::new(Script::default());
    let model = Upstream::local("script", Arc::clone(&script) as _);
    let scene = Setting {
        rehearsal,
        role,
        snapshots: ChatSnapshots::in_memory().map_err(|error| vec![error.to_string()])?,
        tools: ToolCache::new(SchemaLimits::default()),
        upstreams: Upstreams::new(vec![model]),
    };
    let mut messages = Vec::new();
    let mut faults = Vec::new();
    for (number, turn) in scenario.turn.iter().enumerate() {
        script.arm(&turn.model);
        rehearsal.printed.take();
        messages.push(json!({"role": "user", "content": turn.user}));
        let heard = scene.turn(&messages).await;
        messages.push(json!({"role": "assistant", "content": heard.said}));
        faults.extend(
            judge(turn, &heard, &script, &rehearsal.printed.take())
                .into_iter()
                .map(|fault| format!("turn {}: {fault}", number + 1)),
        );
    }
    if scenario.turn.is_empty() {
        faults.push("it has no turns".to_owned());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

struct Setting<'a> {
    rehearsal: &'a Rehearsal<'a>,
    role: &'a Arc<LoadedCharacter>,
    snapshots: ChatSnapshots,
    tools: ToolCache,
    upstreams: Upstreams,
}

/// What came of one turn.
#[derive(Default)]
struct Heard {
    said: String,
    results: Vec<String>,
    state: Value,
    failure: Option<String>,
}

impl Setting<'_> {
    async fn turn(&self, messages: &[Value]) -> Heard {
        let turn = RecordedTurn::run(self.prepare(messages).await).await;
        let mut heard = Heard { failure: turn.failure, state: turn.state, ..Heard::default() };
        turn.events.into_iter().for_each(|event| heard.hear(event));
        heard
    }

    async fn prepare(&self, messages: &[Value]) -> Result<Session<EventLog>, ApiError> {
        let body = json!({"model": self.role.character.manifest().id, "messages": messages}).to_string();
        let (request, _) = ChatRequest::read(body.into_bytes(), &self.tools)?;
        let chat = resume_chat(&self.snapshots, self.role, &request, &ChatOwner::default()).await?;
        let context = TurnContext {
            settings: self.rehearsal.settings,
            tools: &self.tools,
            upstreams: &self.upstreams,
            client: self.rehearsal.client.clone(),
            authorization: None,
            request_id: "test".to_owned(),
        };
        let client = CharacterRequest::Chat { request: &request, system: &chat.system };
        let driver = drive_character(context, self.role, chat.memory, client).await?;
        Ok(Session::new(Some(driver), EventLog::default(), Saving::ChatHistory(Box::new(chat.history))))
    }
}

impl Heard {
    fn hear(&mut self, event: Event) {
        match event {
            Event::Text(text) => self.said.push_str(&text),
            Event::RanTool(result) => self.results.push(result.text),
            _ => {}
        }
    }
}

fn judge(turn: &ScenarioTurn, heard: &Heard, script: &Script, printed: &str) -> Vec<String> {
    let mut faults: Vec<String> = heard.failure.iter().map(|failure| format!("it failed: {failure}")).collect();
    if script.left() > 0 {
        faults.push(format!("{} replies of the model were never asked for", script.left()));
    }
    faults.extend(
        turn.says
            .iter()
            .filter(|text| !heard.said.contains(*text))
            .map(|text| format!("{text:?} was not said, but {:?}", heard.said)),
    );
    faults.extend(
        turn.prints
            .iter()
            .filter(|text| !printed.contains(*text))
            .map(|text| format!("{text:?} was not printed, but {printed:?}")),
    );
    if let Some(expected) = &turn.results {
        faults.extend(judge_results(expected, &heard.results));
    }
    faults.extend(turn.state.iter().filter_map(|(key, value)| judge_state(key, &json!(value), &heard.state)));
    if let Some(prompt) = &turn.prompt {
        let requests = script.requests();
        let system = requests
            .first()
            .and_then(|request| request["messages"][0]["content"].as_str())
            .unwrap_or_default()
            .to_owned();
        if !system.contains(prompt) {
            faults.push(format!("{prompt:?} is not in the prompt: {system:?}"));
        }
    }
    faults
}

fn judge_results(expected: &[String], results: &[String]) -> Vec<String> {
    if expected.len() != results.len() {
        return vec![format!("{} results were expected, {} came: {results:?}", expected.len(), results.len())];
    }
    let pairs = expected.iter().zip(results).filter(|(expected, result)| !result.contains(expected.as_str()));
    pairs.map(|(expected, result)| format!("a result should hold {expected:?}: {result:?}")).collect()
}

fn judge_state(key: &str, expected: &Value, state: &Value) -> Option<String> {
    let found = state.get(key).unwrap_or(&Value::Null);
    (!same(found, expected)).then(|| format!("state {key} should be {expected}, but is {found}"))
}

/// Equality in which the numbers of two formats meet.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}
