//! Plays the cases of one character, with a model or with the calls that the cases themselves expect.

use std::io::Write;

use callboard_core::turn::{ToolOutcome, ToolResult};
use serde_json::{Map, Value, json};

use super::case_starting_state;
use super::cases::{Case, CaseFile, ExpectedCall};
use super::expectation_check::{Offer, judge};
use super::report::{Report, failed_case};
use super::scripted_replies;
use super::verdict::{MadeCall, ModelTurn, Verdict, call_line};
use crate::author::scripted_model::ScriptedModel;
use crate::author::turn_runner::{CharacterTurns, RecordedTurn};
use crate::store::CharacterMemory;

/// Plays each case once with a model. With a script, the expected calls are made instead, once for each alternative.
pub(super) async fn play(
    turns: &CharacterTurns<'_>,
    file: &CaseFile,
    script: Option<&ScriptedModel>,
    report: &mut Report,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    for case in &file.cases {
        let alternatives = case.expect.alternatives();
        let times = if script.is_some() { alternatives.len() } else { 1 };
        for expected in alternatives.into_iter().take(times) {
            let (turn, verdict) = match case_starting_state::open(&turns.character.character, file, case).await {
                Ok(memory) => match script {
                    Some(script) => play_expected(turns, case, expected, script, memory).await,
                    None => play_case(turns, case, memory).await,
                },
                Err(error) => not_set_up(case, &error),
            };
            report.count(&case.kind, verdict);
            if !verdict.is_right() {
                report.show_failure(&failure(case, &turn, verdict), out)?;
            }
        }
    }
    Ok(())
}

/// With the expected calls, a case is right only if they lead to the expected state and finding.
async fn play_expected(
    turns: &CharacterTurns<'_>,
    case: &Case,
    expected: &[ExpectedCall],
    script: &ScriptedModel,
    memory: CharacterMemory,
) -> (ModelTurn, Verdict) {
    script.load(&scripted_replies::replies(&turns.character.character, expected, &memory.record).await);
    let (turn, verdict) = play_case(turns, case, memory).await;
    (turn, Verdict { arguments: verdict.arguments && verdict.state != Some(false), ..verdict })
}

async fn play_case(turns: &CharacterTurns<'_>, case: &Case, memory: CharacterMemory) -> (ModelTurn, Verdict) {
    let before = memory.record.state().and_then(|state| serde_json::from_str(state).ok()).unwrap_or_default();
    let turn = ModelTurn::from(RecordedTurn::run(turns.at(memory, &case.say).await).await);
    let manifest = turns.character.character.manifest();
    let verdict = judge(&case.expect, &turn, &before, Offer { tools: &manifest.tools, undo: manifest.undo });
    (turn, verdict)
}

impl From<RecordedTurn> for ModelTurn {
    fn from(turn: RecordedTurn) -> Self {
        let RecordedTurn { text, results, state, failure, .. } = turn;
        Self {
            attempts: results.len(),
            calls: results.into_iter().filter_map(made_call).collect(),
            text,
            state,
            failure,
            ..Self::default()
        }
    }
}

/// The call as the tool got it; none where it did not get that far.
fn made_call(result: ToolResult) -> Option<MadeCall> {
    let ran = result.ran?;
    let refused = result.outcome != ToolOutcome::Success || reports_failure(&result.text);
    let arguments = serde_json::from_str(&ran.arguments).unwrap_or_default();
    Some(MadeCall { tool: ran.tool, arguments, result: result.text, refused })
}

/// A result that is a JSON object may report that nothing was done.
fn reports_failure(result: &str) -> bool {
    serde_json::from_str::<Value>(result).is_ok_and(|result| result.get("success") == Some(&Value::Bool(false)))
}

fn not_set_up(case: &Case, error: &anyhow::Error) -> (ModelTurn, Verdict) {
    let failure = Some(format!("the case cannot be set up: {error:#}"));
    let turn = ModelTurn { failure, ..ModelTurn::default() };
    let verdict = Verdict::of(&turn, !case.expect.is_no_call());
    (turn, verdict)
}

/// What is shown of a case that failed.
fn failure(case: &Case, turn: &ModelTurn, verdict: Verdict) -> String {
    let expected = case.expect.alternatives().iter().map(|calls| listed(calls)).collect::<Vec<_>>().join(" or ");
    let mut page = failed_case(&format!("{} {} {:?}", case.label(), case.kind, case.say), &expected, turn);
    if verdict.state == Some(false) {
        let expected = json!({"state": case.expect.state, "validation": case.expect.validation});
        page += &format!("  state:    is not {expected}\n");
    }
    page
}

fn listed(calls: &[ExpectedCall]) -> String {
    let call = |call: &ExpectedCall| match &call.tool {
        _ if call.undo => format!("undo of {}", call.target),
        Some(tool) => call_line(tool, &call.args) + if call.optional { " (optional)" } else { "" },
        None => call_line("any tool", &Map::new()),
    };
    if calls.is_empty() { "no call".to_owned() } else { calls.iter().map(call).collect::<Vec<_>>().join(", ") }
}
