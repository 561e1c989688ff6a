//! `callboard test [DIR]`: plays the scenarios beside the characters, with a scripted model and the real tools.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use callboard_core::contract::{SchemaLimits, ToolCache};
use serde_json::{Value, json};

use super::scenario::{self, Scenario, ScenarioTurn};
use super::scripted_model::ScriptedModel;
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

/// Plays every scenario of the folder; false when any fails.
pub(super) async fn test(rehearsal: &Rehearsal<'_>, out: &mut impl Write) -> anyhow::Result<bool> {
    rehearsal.registry.load(true).await?;
    let (mut passed, mut failed) = (0, 0);
    for problem in rehearsal.registry.problems() {
        failed += 1;
        writeln!(out, "FAIL  {}: cannot be loaded; run: callboard check", problem.id)?;
    }
    for (id, path) in scenario_files(rehearsal.registry) {
        let Some(character) = rehearsal.registry.get(&id) else {
            failed += 1;
            writeln!(out, "FAIL  {}: there is no character {id}", path.display())?;
            continue;
        };
        for scenario in scenario::read(&path)?.scenario {
            let faults = play(rehearsal, &character, &scenario).await?;
            if faults.is_empty() {
                passed += 1;
                writeln!(out, "ok    {id}: {}", scenario.name)?;
            } else {
                failed += 1;
                writeln!(out, "FAIL  {id}: {}\n      {}", scenario.name, faults.join("\n      "))?;
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(failed == 0 && passed > 0)
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
        let found = compare(turn, &played, &script, &rehearsal.printed.take());
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
    let missing = |texts: &[String], found: &str, what: &str| -> Vec<String> {
        let missing = texts.iter().filter(|text| !found.contains(text.as_str()));
        missing.map(|text| format!("expected {text:?} in {what}, got {found:?}")).collect()
    };
    faults.extend(missing(&turn.says, &played.text, "the reply"));
    faults.extend(missing(&turn.prints, printed, "the output"));
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
