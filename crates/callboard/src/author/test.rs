//! `callboard test [DIR]`: plays the scenarios beside the characters, with a scripted model and the real tools.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callboard_core::contract::{SchemaLimits, ToolCache};
use callboard_core::turn::{ToolOutcome, ToolResult};
use serde_json::{Value, json};

use super::scenario::{self, Scenario, ScenarioTurn};
use super::scripted_model::ScriptedModel;
use super::try_tool::unknown_tool;
use super::turn_runner::{CharacterTurns, EventLog, RecordedTurn};
use crate::characters::{CharacterRegistry, LoadedCharacter, OutputBuffer};
use crate::config::Settings;
use crate::conversation::ChatSnapshots;
use crate::upstream::{Client, Upstream, Upstreams};

/// What all scenarios share.
pub(super) struct Rehearsal<'a> {
    /// The characters.
    pub(super) registry: &'a CharacterRegistry,
    /// The settings.
    pub(super) settings: &'a Settings,
    /// Connections to model servers, which are not used.
    pub(super) client: Client,
    /// The output of the characters.
    pub(super) printed: OutputBuffer,
}

/// How many scenarios passed and failed.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    /// Counts one result and writes its line.
    fn add(&mut self, what: &str, faults: &[String], out: &mut impl Write) -> std::io::Result<()> {
        if faults.is_empty() {
            self.passed += 1;
            return writeln!(out, "ok    {what}");
        }
        self.failed += 1;
        writeln!(out, "FAIL  {what}\n      {}", faults.join("\n      "))
    }
}

/// Plays every scenario of the folder; false when any fails, or with `strict` when a character has none.
pub(super) async fn test(rehearsal: &Rehearsal<'_>, strict: bool, out: &mut impl Write) -> anyhow::Result<bool> {
    let registry = rehearsal.registry;
    registry.load(true).await?;
    let mut tally = Tally::default();
    let (files, problems) = (scenario_files(registry), registry.problems());
    for problem in &problems {
        tally.add(&problem.id, &["cannot be loaded; run: callboard check".to_owned()], out)?;
    }
    for (id, path) in files.iter().filter(|(id, _)| problems.iter().all(|problem| problem.id != *id)) {
        play_file(rehearsal, id, path, &mut tally, out).await?;
    }
    let characters = registry.all();
    let untested: Vec<&str> = characters.iter().map(|loaded| loaded.character.manifest().id.as_str()).collect();
    let untested: Vec<&str> = untested.into_iter().filter(|id| files.iter().all(|(tested, _)| tested != id)).collect();
    for id in &untested {
        writeln!(out, "none  {id}: no scenarios; write them in {id}.scenario.toml, beside {id}.py")?;
    }
    if characters.is_empty() && problems.is_empty() {
        writeln!(out, "no characters in {}; create one with: callboard new bard", registry.folder().display())?;
    }
    writeln!(out, "{} passed, {} failed", tally.passed, tally.failed)?;
    Ok(tally.failed == 0 && !(strict && (!untested.is_empty() || tally.passed == 0)))
}

/// Plays the scenarios of one file.
async fn play_file(
    rehearsal: &Rehearsal<'_>,
    id: &str,
    path: &Path,
    tally: &mut Tally,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let Some(character) = rehearsal.registry.get(id) else {
        return Ok(tally.add(&path.display().to_string(), &[format!("there is no character {id}")], out)?);
    };
    let file = match scenario::read(path) {
        Ok(file) if file.scenario.is_empty() => {
            Err("the file has no scenarios: begin one with [[scenario]]".to_owned())
        }
        Ok(file) => Ok(file.scenario),
        Err(error) => Err(format!("{error:#}")),
    };
    let scenarios = match file {
        Ok(scenarios) => scenarios,
        Err(fault) => return Ok(tally.add(&path.display().to_string(), &[fault], out)?),
    };
    for scenario in scenarios {
        let faults = play(rehearsal, &character, &scenario).await?;
        tally.add(&format!("{id}: {}", scenario.name), &faults, out)?;
    }
    Ok(())
}

fn scenario_files(registry: &CharacterRegistry) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(registry.folder()).into_iter().flatten().flatten();
    let named = |path: PathBuf| {
        let id = path.file_name()?.to_str()?.strip_suffix(".scenario.toml")?.to_owned();
        Some((id, path))
    };
    let mut files: Vec<_> = entries.filter_map(|entry| named(entry.path())).collect();
    files.sort();
    files
}

/// Plays one scenario as one conversation, and returns what went wrong.
async fn play(
    rehearsal: &Rehearsal<'_>,
    character: &Arc<LoadedCharacter>,
    scenario: &Scenario,
) -> anyhow::Result<Vec<String>> {
    if scenario.turn.is_empty() {
        return Ok(vec!["the scenario has no turns".to_owned()]);
    }
    let script = Arc::new(ScriptedModel::default());
    let (tools, snapshots) = (ToolCache::new(SchemaLimits::default()), ChatSnapshots::in_memory()?);
    let upstreams = Upstreams::new(vec![Upstream::local("script", Arc::clone(&script) as _)]);
    let (character, settings, client) = (Arc::clone(character), rehearsal.settings, rehearsal.client.clone());
    let turns = CharacterTurns { character, settings, tools: &tools, upstreams: &upstreams, client };
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    for (number, turn) in scenario.turn.iter().enumerate() {
        script.load(&turn.model);
        rehearsal.printed.take();
        messages.push(json!({"role": "user", "content": turn.user}));
        let played = RecordedTurn::run(turns.next(&messages, &snapshots, EventLog::default()).await).await;
        messages.push(json!({"role": "assistant", "content": played.text}));
        let mut found = compare(turn, &played, &script, &rehearsal.printed.take());
        found.extend(unexpected_failures(turn, &played, &turns.character));
        faults.extend(found.into_iter().map(|fault| format!("turn {}: {fault}", number + 1)));
    }
    Ok(faults)
}

fn compare(turn: &ScenarioTurn, played: &RecordedTurn, script: &ScriptedModel, printed: &str) -> Vec<String> {
    let mut faults: Vec<String> = played.failure.iter().map(|failure| format!("the turn failed: {failure}")).collect();
    match script.unused() {
        0 => {}
        1 => faults.push("1 reply of the model was not used".to_owned()),
        unused => faults.push(format!("{unused} replies of the model were not used")),
    }
    faults.extend(compare_texts(&turn.says, &played.text, "the reply"));
    faults.extend(compare_texts(&turn.prints, printed, "the output"));
    if let Some(expected) = &turn.results {
        faults.extend(compare_results(expected, played));
    }
    faults.extend(turn.state.iter().filter_map(|(key, value)| compare_state(key, &json!(value), &played.state)));
    if let Some(prompt) = &turn.prompt {
        let requests = script.requests();
        let system = requests.first().and_then(|request| request["messages"][0]["content"].as_str());
        let system = system.unwrap_or_default();
        if !system.contains(prompt) {
            faults.push(format!("expected {prompt:?} in the system prompt, got {system:?}"));
        }
    }
    faults
}

/// Every text must occur in what was found; an empty one expects that there is nothing.
fn compare_texts(expected: &[String], found: &str, what: &str) -> Vec<String> {
    let differs =
        |text: &&String| if text.is_empty() { !found.trim().is_empty() } else { !found.contains(text.as_str()) };
    let fault = |text: &String| match text.as_str() {
        "" => format!("expected nothing in {what}, got {found:?}"),
        text => format!("expected {text:?} in {what}, got {found:?}"),
    };
    expected.iter().filter(differs).map(fault).collect()
}

/// Calls that failed although the turn does not say so: a misspelt tool or argument is not a pass.
fn unexpected_failures(turn: &ScenarioTurn, played: &RecordedTurn, character: &LoadedCharacter) -> Vec<String> {
    let calls: Vec<&str> = turn.model.iter().flat_map(|reply| &reply.calls).map(|call| call.tool.as_str()).collect();
    let expected = |at: usize| turn.results.as_ref().and_then(|results| results.get(at));
    let is_expected = |at: usize, result: &ToolResult| {
        expected(at).is_some_and(|text| !text.is_empty() && result.text.contains(text.as_str()))
    };
    let failed = played.results.iter().enumerate();
    let failed = failed.filter(|(at, result)| result.outcome != ToolOutcome::Success && !is_expected(*at, result));
    let fault = |(at, result): (usize, &ToolResult)| match (calls.get(at), result.outcome) {
        (Some(tool), ToolOutcome::UnknownTool) => {
            unknown_tool(tool, character.character.manifest().tools.iter().map(|tool| tool.name.as_str()))
        }
        (Some(tool), _) => format!("the call of {tool} failed, and `results` does not expect it: {}", result.text),
        (None, _) => format!("a call failed, and `results` does not expect it: {}", result.text),
    };
    failed.map(fault).collect()
}

fn compare_results(expected: &[String], played: &RecordedTurn) -> Vec<String> {
    let results: Vec<&str> = played.results.iter().map(|result| result.text.as_str()).collect();
    if expected.len() != results.len() {
        return vec![format!("expected {} results, got {}: {results:?}", expected.len(), results.len())];
    }
    let pairs = expected.iter().zip(results).filter(|(expected, result)| !result.contains(expected.as_str()));
    pairs.map(|(expected, result)| format!("expected a result with {expected:?}, got {result:?}")).collect()
}

fn compare_state(key: &str, expected: &Value, state: &Value) -> Option<String> {
    let found = state.get(key).unwrap_or(&Value::Null);
    (!same(found, expected)).then(|| format!("expected state {key} to be {expected}, got {found}"))
}

/// Equality in which 1 and 1.0 are the same number, because TOML and JSON write numbers differently.
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
